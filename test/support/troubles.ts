/** Reads a trouble, with the command that comes next, from everywhere a person may look: `status`, both screens, `why`. */
import { expect } from "bun:test";
import type { LiveScreen } from "./live-screen.ts";

export interface Trouble {
  /** Part of its sentence, without times. */
  readonly says: string;
  readonly command: string;
  /** What one asks about, and what of it is told there; the sentence where it does not say. */
  readonly why: string;
  readonly told?: string;
  /** Its sentence in the live view, where that calls a task by its name. */
  readonly shown?: string;
}

type Run = (...words: string[]) => Promise<string>;

export async function expectTroubles(
  ok: Run,
  screens: readonly LiveScreen[],
  troubles: readonly Trouble[],
): Promise<void> {
  const lines = (await ok("status")).split("\n");
  for (const { says, command } of troubles) {
    const line = lines.find((one) => one.includes(says));
    if (line === undefined) throw new Error(`status does not say "${says}", but\n${lines.join("\n")}`);
    expect(line).toContain(command);
  }
  for (const { says, command, why, told = says } of troubles) {
    const answer = await ok("why", why);
    expect(answer).toContain(told);
    expect(answer).toContain(command);
  }
  for (const screen of screens) {
    for (const { says, command, shown = says } of troubles) await screen.shows(shown, command);
  }
}
