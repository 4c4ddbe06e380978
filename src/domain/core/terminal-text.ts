/**
 * What a terminal would act upon instead of showing it: control characters, which move the cursor and colour the screen,
 * and marks that turn the reading direction, with which a line says something else than it is. Both are made visible
 * wherever words of agents, programs or strangers are printed.
 */

/** The marks of Unicode's bidirectional algorithm: LRM, RLM, ALM, embeddings, overrides, isolates. */
const DIRECTION = "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069";
const ACTED_UPON = new RegExp(`[^\\P{Cc}\\n]|[${DIRECTION}]`, "gu");
const IN_JSON = new RegExp(`[\\u007f-\\u009f${DIRECTION}]`, "g");

/** Newlines stay; everything else that is acted upon becomes a visible sign. */
export function visible(text: string): string {
  return text.replace(ACTED_UPON, "\ufffd");
}

/** The same JSON, with what JSON itself leaves as it is written as an escape: whoever reads it gets the same value. */
export function visibleJson(json: string): string {
  return json.replace(IN_JSON, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
