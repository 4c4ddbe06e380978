/**
 * What a terminal shows, as an SVG: lines with the colours that were written with them. It knows the few signs that
 * Overseer writes (bold, dim, reverse, the sixteen colours and the 256) and leaves out all others.
 */
const LINE_HEIGHT = 18;
const CHAR_WIDTH = 7.8;
const MARGIN = 16;

const PALETTE = [
  ...["#484f58", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#c9d1d9"],
  ...["#6e7681", "#ffa198", "#7ee787", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#ffffff"],
];
const [INK, PAPER] = ["#c9d1d9", "#0d1117"];

interface Look {
  readonly ink: string;
  readonly paper: string;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly reverse: boolean;
}

const PLAIN: Look = { ink: INK, paper: PAPER, bold: false, dim: false, reverse: false };

/** `label` is what a reader hears who sees no pictures. */
export function drawTerminal(lines: readonly string[], columns: number, label: string): string {
  const width = Math.ceil(columns * CHAR_WIDTH + 2 * MARGIN);
  const height = lines.length * LINE_HEIGHT + 2 * MARGIN + 8;
  let look = PLAIN;
  const rows = lines.map((line, index) => {
    const drawn = drawLine(line, look, index);
    look = drawn.look;
    return drawn.text;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeText(label)}">
<rect width="100%" height="100%" rx="8" fill="${PAPER}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" xml:space="preserve">
${rows.filter((row) => row !== "").join("\n")}
</g>
</svg>
`;
}

function drawLine(line: string, before: Look, index: number): { readonly text: string; readonly look: Look } {
  const [first = "", ...marked] = line.split("\u001b[");
  let [look, column] = [before, 0];
  const y = MARGIN + (index + 1) * LINE_HEIGHT;
  const spans: string[] = [];
  const add = (text: string) => {
    if (text.trim() !== "" || look.reverse) spans.push(drawSpan(text, look, column, y));
    column += Bun.stringWidth(text);
  };
  add(first);
  for (const part of marked) {
    const end = part.search(/[A-Za-z]/);
    if (part[end] === "m") look = followCodes(look, part.slice(0, end));
    add(part.slice(end + 1));
  }
  return { text: spans.join(""), look };
}

function drawSpan(text: string, look: Look, column: number, y: number): string {
  const [ink, paper] = look.reverse ? [look.paper, look.ink] : [look.ink, look.paper];
  const x = (MARGIN + column * CHAR_WIDTH).toFixed(1);
  const length = (Bun.stringWidth(text) * CHAR_WIDTH).toFixed(1);
  const behind =
    paper === PAPER ? "" : `<rect x="${x}" y="${y - 13}" width="${length}" height="${LINE_HEIGHT}" fill="${paper}"/>`;
  const style = `${look.bold ? ' font-weight="bold"' : ""}${look.dim ? ' opacity="0.65"' : ""}`;
  return `${behind}<text x="${x}" y="${y}" textLength="${length}" fill="${ink}"${style}>${escapeText(text)}</text>`;
}

function followCodes(before: Look, codes: string): Look {
  const numbers = codes.split(";").map(Number);
  let look = before;
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at] ?? 0;
    if (code === 38 || code === 48) {
      const colour = PALETTE[numbers[at + 2] ?? 7] ?? INK;
      look = code === 38 ? { ...look, ink: colour } : { ...look, paper: colour };
      at += numbers[at + 1] === 2 ? 4 : 2;
    } else look = followCode(look, code);
  }
  return look;
}

function followCode(look: Look, code: number): Look {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...look, bold: true };
  if (code === 2) return { ...look, dim: true };
  if (code === 7) return { ...look, reverse: true };
  if (code === 22) return { ...look, bold: false, dim: false };
  if (code === 27) return { ...look, reverse: false };
  if (code === 39) return { ...look, ink: INK };
  if (code === 49) return { ...look, paper: PAPER };
  const bright = code >= 90;
  const colour = PALETTE[(code % 10) + (bright ? 8 : 0)];
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return { ...look, ink: colour ?? INK };
  if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) return { ...look, paper: colour ?? PAPER };
  return look;
}

function escapeText(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
