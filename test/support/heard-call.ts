/** A call of a command as the command line would make it, which keeps what was printed. */
import type { Call } from "#cli/command.ts";

/** Options and arguments by name; `key` is what an argument is taken from. */
export type Given = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

export function heardCall(given: Given): { call: Call; lines: string[]; values: unknown[]; remarks: string[] } {
  const lines: string[] = [];
  const values: unknown[] = [];
  const remarks: string[] = [];
  const wordOf = (name: string) => (typeof given[name] === "string" ? given[name] : undefined);
  const call: Call = {
    arg: () => wordOf("key") ?? "",
    optionalArg: () => wordOf("key"),
    restArgs: () => [],
    text: wordOf,
    list: (name) => [given[name] ?? []].flat().filter((one) => typeof one === "string"),
    has: (name) => given[name] === true,
    number: () => undefined,
    json: given.json === true,
    out: {
      line: (line = "") => lines.push(line),
      json: (value) => values.push(value),
      remark: (remark) => remarks.push(remark),
      problem: (text) => remarks.push(text),
      colour: false,
      width: 80,
      interactive: false,
    },
  };
  return { call, lines, values, remarks };
}
