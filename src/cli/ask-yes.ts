/** A question that a person answers with yes or no before a command goes on. */
import type { Call } from "./command.ts";

/** Undefined where nobody is there to be asked: a script, a pipe, `--json`. Anything but a yes is a no. */
export async function askYes(
  { out, json }: Pick<Call, "out" | "json">,
  about: readonly string[],
  question: string,
): Promise<boolean | undefined> {
  if (json || !out.interactive || !process.stdin.isTTY) return undefined;
  for (const line of about) out.line(line);
  const { createInterface } = await import("node:readline/promises");
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await asking.question(`${question} [y/N] `)).trim());
  } finally {
    asking.close();
  }
}
