/**
 * An inbox as its owner reads it (`mail check --inject`, `prime`): what waits, in the form that cannot be forged. Apart
 * from the other verbs of mail because making that form is dear, and most calls look and find nothing.
 */

import { confirmShown, takeForAttempt, takeFromBox } from "#act/messages/take-messages.ts";
import { safeModeIn } from "#act/safe-mode.ts";
import type { World } from "#control/world.ts";
import { renderInjection } from "#domain/inbox/injection.ts";
import { PERSON_ADDRESS } from "#domain/model/protocol.ts";
import { waitingCount } from "#store/messages.ts";
import { boxNamed, check } from "./inbox.ts";
import { noteInLog } from "./speaker.ts";

export interface PreparedInjection {
  /** What the agent is to read; empty when nothing waits. */
  readonly text: string;
  /** To be called once it was printed. */
  confirm(): Promise<void>;
}

/**
 * What waits, in the form an agent reads it. For the box's owner it is taken out, once; the proof that an agent saw it
 * is its transcript, that of a box without an attempt is that it was printed. Anybody else is only shown it.
 */
export async function inject(world: World, agent?: string): Promise<PreparedInjection> {
  const { name, own } = boxNamed(world, agent);
  const silent: PreparedInjection = { text: "", confirm: async () => {} };
  const box = own && own.attempt > 0 ? { attempt: own.attempt } : { agent: name };
  const { count } = await (await world.reader()).read({ count: waitingCount(box) });
  if (count.queued === 0) return silent;
  const { inbox } = await world.config();
  if (!own || own.name === PERSON_ADDRESS) {
    const { messages } = await check(world, agent);
    const queued = messages.filter((message) => message.status === "queued");
    return { ...silent, text: renderInjection(queued, { capBytes: inbox.injectionCap, total: count.queued }).text };
  }
  const now = world.clock.now();
  const store = await world.writer();
  const taking = { handedAs: `cli:${process.pid}`, because: "asked-for", capBytes: inbox.injectionCap, now };
  if (own.attempt > 0) {
    if (safeModeIn(world.root.state, world.readNow)) return silent; // what a store in doubt says waits is not delivered
    const taken = await takeForAttempt(store, own.attempt, { ...taking, midTurn: false });
    await noteInLog(
      world,
      taken.handed.map((one) => `received ${one.kind} ${one.messageId} from ${one.from}`),
    );
    return { ...silent, text: taken.text };
  }
  const taken = await takeFromBox(store, name, taking);
  return { text: taken.text, confirm: () => confirmShown(store, taken, world.clock.now()) };
}
