/** A question that a person answers with yes or no before a command goes on. */
import type { Call } from "./command.ts";

/**
 * Undefined where nobody is there to be asked: a script, a pipe, `--json`. Anything but a yes is a no, and so is silence,
 * unless `usually` says that an empty line means yes.
 */
export async function askYes(
  { out, json }: Pick<Call, "out" | "json">,
  about: readonly string[],
  question: string,
  usually: "yes" | "no" = "no",
): Promise<boolean | undefined> {
  if (json || !out.interactive || !process.stdin.isTTY) return undefined;
  for (const line of about) out.line(line);
  const { createInterface } = await import("node:readline/promises");
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const typed = (await asking.question(`${question} ${usually === "yes" ? "[Y/n]" : "[y/N]"} `)).trim();
    return typed === "" ? usually === "yes" : /^y(es)?$/i.test(typed);
  } finally {
    asking.close();
  }
}
