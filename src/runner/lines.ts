/**
 * Lines out of a stream, whatever comes: a line of ten megabytes, a last one without its newline, bytes that are not
 * UTF-8. Memory is bounded: of a longer line the beginning is kept and the rest is dropped.
 */
export const LONGEST_LINE = 32 * 1024 * 1024;

export async function lines(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let length = 0;
  const add = (text: string) => {
    if (length < LONGEST_LINE) pieces.push(text.slice(0, LONGEST_LINE - length));
    length += text.length;
  };
  const emit = () => {
    take(pieces.join(""));
    pieces = [];
    length = 0;
  };
  for await (const chunk of stream) {
    const text = decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      add(text.slice(from, at));
      emit();
      from = at + 1;
    }
    if (from < text.length) add(text.slice(from));
  }
  const rest = decoder.decode();
  if (rest) add(rest);
  if (length > 0) emit();
}
