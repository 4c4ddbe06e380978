/** Patterns of `on message`: what a person would type to look for something. Nothing here throws. */

/** True when the text fits: /…/flags is a regular expression, anything else is looked for as it stands, in any case. */
export function matchesPattern(pattern: string, text: string): boolean {
  const expression = patternExpression(pattern);
  if (expression === undefined) return text.toLowerCase().includes(pattern.toLowerCase());
  return expression instanceof RegExp && expression.test(text);
}

/** The expression, why it is none, or undefined for plain text. */
export function patternExpression(pattern: string): RegExp | string | undefined {
  const parts = /^\/(.+)\/([a-z]*)$/s.exec(pattern);
  if (parts === null) return undefined;
  try {
    return new RegExp(parts[1] ?? "", (parts[2] ?? "").replace(/[gy]/g, ""));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
