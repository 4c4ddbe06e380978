/** A person beside an agent at work: what they say goes through its inbox, and whether it was seen is asked there. */
import { isLiving } from "#domain/model/attempt.ts";
import type { Message } from "#domain/model/message.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { messagesByIds } from "#store/messages.ts";
import { nodeById } from "#store/work.ts";
import { nudge } from "./mail/send.ts";
import type { World } from "./world.ts";

/** Says something to it; returns the message's id. */
export async function tellAgent(world: World, label: string, text: string): Promise<string> {
  return (await nudge(world, label, { text, severity: "warning" })).messageId;
}

export async function readReceipts(world: World, ids: readonly string[]): Promise<readonly Message[]> {
  return ids.length === 0 ? [] : (await (await world.reader()).read({ some: messagesByIds(ids) })).some;
}

/** Why nobody is there to talk to any more; null while somebody is. */
export async function explainEnd(world: World, number: number): Promise<string | null> {
  const store = await world.reader();
  const { one } = await store.read({ one: attemptByNumber(number) });
  if (!one || isLiving(one)) return null;
  const { node } = await store.read({ node: nodeById(one.goalId, one.workNodeId) });
  const task = `${one.goalId}/${one.workNodeId}`;
  const became =
    node?.status === "done"
      ? `its task ${task} is done`
      : `its task ${task} is ${(node?.status ?? "gone").replace("_", " ")}`;
  return `${one.agent}#${one.attempt} has ended: ${one.end?.detail ?? "nothing is known about it"} (${became}; overseer why ${task})`;
}
