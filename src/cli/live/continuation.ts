/** How what stands still is continued by one key: the command that its sentence names, where the view can do it. Pure. */
import type { About, Item } from "./item.ts";

const CONTINUING = {
  unblock: "work unblock",
  restart: "restart",
  resume: "resume",
  "resume-goal": "goal resume",
} as const;

/** `what`: the task, agent or goal, as the command names it. */
export interface WorkContinuation {
  readonly how: keyof typeof CONTINUING;
  readonly what: string;
}

/** Undefined for a command that asks for more than a yes. */
export function readContinuation(command: string): WorkContinuation | undefined {
  for (const [how, words] of Object.entries(CONTINUING)) {
    const [, what] = new RegExp(`^overseer ${words} ([^\\s<>]+)$`).exec(command) ?? [];
    if (what !== undefined) return { how: how as WorkContinuation["how"], what };
  }
  return undefined;
}

/** What can be continued here, else the first that waits for it. */
export function findContinuation(items: readonly Item[], about: About): WorkContinuation | undefined {
  const able = items.flatMap((item) =>
    item.kind === "standstill" && item.continuation ? [{ continuation: item.continuation, about: item.about }] : [],
  );
  const here = able.find(
    (one) =>
      (about.node !== undefined && one.about.node === about.node) ||
      (about.agent !== undefined && one.about.agent === about.agent) ||
      (about.goal !== undefined && one.about.goal === about.goal),
  );
  return (here ?? able[0])?.continuation;
}

/** What it does, as a question and as what is under way. */
export function tellContinuation({ how, what }: WorkContinuation): { readonly asked: string; readonly doing: string } {
  switch (how) {
    case "unblock":
      return { asked: `Unblock ${what}? It is dispatched again.`, doing: `unblocking ${what} …` };
    case "restart":
      return { asked: `Restart ${what}? It continues where it was, with its work.`, doing: `restarting ${what} …` };
    default:
      return { asked: `Resume ${what}? It goes on from here.`, doing: `resuming ${what} …` };
  }
}
