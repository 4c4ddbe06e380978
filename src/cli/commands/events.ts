/** `overseer events`: the log in sentences; with --json as it was written. */

import type { Call, Command } from "#cli/command.ts";
import { eventText } from "#cli/event-text.ts";
import type { Parts } from "#cli/parts.ts";

import { fitLine } from "#cli/text.ts";
import { resolveAgent, resolveEventType, resolveGoal, resolveNode } from "#control/names.ts";

import { presentEvent } from "#control/present.ts";
import * as views from "#control/views.ts";
import type { World } from "#control/world.ts";
import { isRoutineEvent } from "#domain/explain/event-line.ts";
import type { EventOf } from "#domain/model/event.ts";

/** How often a follower looks. The database tells cheaply whether anything changed. */
const LOOK_EVERY_MS = 250;

const command: Command<Parts> = {
  name: "events",
  summary: "Tell what happened; --follow waits for more.",
  options: [
    { name: "goal", value: "id", summary: "Only events of that goal." },
    { name: "node", value: "id", summary: "Only events of that node." },
    { name: "agent", value: "name", summary: "Only events of that agent." },
    { name: "type", value: "type", summary: "Only that type, e.g. work.done, or all of a noun: work." },
    { name: "after", value: "seq", summary: "Only events after that sequence number." },
    { name: "limit", value: "n", summary: "At most this many, the newest (default 50)." },
    { name: "all", summary: "Also ticks, steps, actions and receipts: how Overseer works inside." },
    { name: "follow", short: "f", summary: "Keep printing new events until interrupted." },
  ],
  details:
    "One line each, by your own clock. Whoever names a type, or asks for --json, gets everything; --json prints one event per line as it was written.",
  examples: [
    { line: "overseer events --goal goal_7ZK3 --type work", why: "what happened to a goal's work" },
    { line: "overseer events --follow --json", why: "feed another program" },
  ],
  async run(call, parts) {
    const world = await parts.world();
    const store = await world.reader();
    const goalWord = call.text("goal");
    const nodeWord = call.text("node");
    const agentWord = call.text("agent");
    const typeWord = call.text("type");
    const node = nodeWord === undefined ? undefined : await resolveNode(store, nodeWord, goalWord);
    const goalId = node?.goalId ?? (goalWord === undefined ? undefined : await resolveGoal(store, goalWord));
    const after = call.number("after");
    const filter = {
      goalId,
      nodeId: node?.nodeId,
      agent: agentWord === undefined ? undefined : (await resolveAgent(store, agentWord)).agent,
      type: typeWord === undefined ? undefined : resolveEventType(typeWord),
      limit: call.number("limit") ?? 50,
    };
    const isWanted = choose(call);
    const first =
      after === undefined ? await readNewest(world, filter, isWanted) : await readAfter(world, filter, after, isWanted);
    for (const event of first.shown) print(call, world, event);
    if (!call.has("follow")) return;
    let { last } = first;
    let mark = -1;
    for (;;) {
      const now = await store.changeMark();
      if (now !== mark) {
        mark = now;
        const page = await views.events(world, { ...filter, after: last, limit: 1000 });
        for (const event of page.filter(isWanted)) print(call, world, event);
        last = page.at(-1)?.seq ?? last;
      }
      await world.clock.sleep(LOOK_EVERY_MS);
    }
  },
};

type EventFilter = Parameters<typeof views.events>[1];
type IsWanted = (event: EventOf) => boolean;

function choose(call: Call): IsWanted {
  if (call.json || call.has("all") || call.text("type") !== undefined) return () => true;
  return (event) => !isRoutineEvent(event);
}

interface Page {
  readonly shown: readonly EventOf[];
  /** Up to where the log was looked at. */
  readonly last: number;
}

/** Of a log in which much is routine the newest that are wanted: further back is looked only while they are too few. */
async function readNewest(world: World, filter: EventFilter, isWanted: IsWanted): Promise<Page> {
  const { limit } = filter;
  for (let size = limit; ; size *= 8) {
    const page = await views.events(world, { ...filter, newest: true, limit: size });
    const wanted = page.filter(isWanted);
    if (wanted.length < limit && page.length === size && size < FURTHEST_BACK) continue;
    const last = page.at(-1)?.seq ?? (await views.events(world, { limit: 1, newest: true })).at(-1)?.seq ?? 0;
    return { shown: limit === 0 ? [] : wanted.slice(-limit), last };
  }
}

const FURTHEST_BACK = 100_000;

async function readAfter(world: World, filter: EventFilter, after: number, isWanted: IsWanted): Promise<Page> {
  const shown: EventOf[] = [];
  for (let last = after; ; ) {
    const page = await views.events(world, { ...filter, after: last });
    for (const event of page) {
      if (shown.length === filter.limit) return { shown, last };
      if (isWanted(event)) shown.push(event);
      last = event.seq;
    }
    if (page.length < filter.limit || shown.length === filter.limit) return { shown, last };
  }
}

function print(call: Call, world: World, event: EventOf): void {
  if (call.json) call.out.json(presentEvent(event));
  else call.out.line(fitLine(call.out, eventText(event, world.clock.now())));
}

export default command;
