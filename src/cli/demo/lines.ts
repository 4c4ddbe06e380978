/** Text that fits: broken between words, measured as a terminal shows it; all but the first line begin with `rest`. */
export function paragraph(first: string, text: string, width: number, rest: string): string[] {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(" ")) {
    const longer = isEmpty ? `${line}${word}` : `${line} ${word}`;
    if (isEmpty || Bun.stringWidth(longer) <= width) {
      line = longer;
      isEmpty = false;
      continue;
    }
    lines.push(line);
    line = `${rest}${word}`;
  }
  return [...lines, line];
}
