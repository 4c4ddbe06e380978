/** Where a line or a quoted string ends; what both the places and the names of secrets need to read a value. */

export function endOfLine(text: string, from: number): number {
  const stop = /\r|\n|\\{1,4}[nr]/g;
  stop.lastIndex = from;
  return stop.exec(text)?.index ?? text.length;
}

/** Where the string opened by `quote` (perhaps itself escaped, as in JSON within JSON) closes; else its line's end. */
export function endOfQuoted(text: string, from: number, quote: string): number {
  const plain = quote.length === 1;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 13) return at;
    if (plain && code === 92) at += 1;
    else if (text.startsWith(quote, at)) return at;
  }
  return text.length;
}
