/** A question at the terminal with a few answers, each called by a letter or its word; Ctrl-C and Ctrl-D leave it. */
import { createInterface } from "node:readline/promises";

export interface Choice<T extends string> {
  readonly name: T;
  /** What one types, besides the whole name. */
  readonly key: string;
}

export type Chosen<T extends string> = T | "left";

/** Asked again until it is one of them: Enter alone is none, so that nothing is begun by accident. */
export async function askChoice<T extends string>(prompt: string, choices: readonly Choice<T>[]): Promise<Chosen<T>> {
  for (;;) {
    const typed = await askLine(prompt);
    if (typed === undefined) return "left";
    const word = typed.trim().toLowerCase();
    const found = choices.find(({ name, key }) => word === key || word === name);
    if (found) return found.name;
  }
}

/** One line; undefined when the person left (Ctrl-C, Ctrl-D, or the terminal is gone). */
export async function askLine(prompt: string): Promise<string | undefined> {
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  const left = new AbortController();
  asking.once("SIGINT", () => left.abort());
  asking.once("close", () => left.abort());
  try {
    return await asking.question(prompt, { signal: left.signal });
  } catch (error) {
    if (left.signal.aborted) return undefined;
    throw error;
  } finally {
    asking.close();
  }
}
