/** Steps of scripted agents that nearly every test writes, by short names. */
import type { Step } from "#runtimes/scripted/language.ts";

export const say = (text: string): Step => ({ kind: "say", text });
export const run = (command: string): Step => ({ kind: "run", command });
/** Until it is spoken to. */
export const wait: Step = { kind: "wait" };
/** In the middle of a thought, for ever. */
export const hang = { kind: "hang", in: "thought" } as const satisfies Step;
