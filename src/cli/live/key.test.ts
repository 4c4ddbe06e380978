/** CTL-1: what terminals send is read as the keys that were pressed. */
import { expect, test } from "bun:test";
import { readKeys } from "./key.ts";

const ROWS: [what: string, sent: string, keys: string[]][] = [
  ["letters that arrive together", "jk", ["text j", "text k"]],
  ["arrows, in both dialects", "\u001b[A\u001bOB", ["up ", "down "]],
  ["pages and ends", "\u001b[5~\u001b[6~\u001b[H\u001b[4~", ["pgup ", "pgdn ", "home ", "end "]],
  ["Esc alone", "\u001b", ["esc "]],
  ["Esc and a letter that came at once", "\u001bq", ["esc ", "text q"]],
  ["Tab, back, Enter", "\t\u001b[Z\r", ["tab ", "backtab ", "enter "]],
  ["Ctrl-C", "\u0003", ["ctrl-c "]],
  ["a sign of two code units", "🙂", ["text 🙂"]],
  ["a paste", "\u001b[200~a\rb\u001b[201~\r", ["text a b", "enter "]],
  ["an unknown sequence is one key", "\u001b[1;5Cx", ["other ", "text x"]],
];
test.each(ROWS)("CTL-1: keys: %s", (_what, sent, keys) => {
  expect(readKeys(sent).map(({ name, text }) => `${name} ${text}`)).toEqual(keys);
});
