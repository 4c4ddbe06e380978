/** `overseer events`: the log, as it was written. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, moment } from "#cli/text.ts";
import { resolveGoal, resolveNode } from "#control/names.ts";
import { presentEvent } from "#control/present.ts";
import * as views from "#control/views.ts";
import { sentence } from "#domain/explain/why.ts";
import type { EventOf } from "#domain/model/event.ts";

/** How often a follower looks. The database tells cheaply whether anything changed. */
const LOOK_EVERY_MS = 250;

const command: Command<Parts> = {
  name: "events",
  summary: "Print the log; --follow waits for more.",
  options: [
    { name: "goal", value: "id", summary: "Only events of that goal." },
    { name: "node", value: "id", summary: "Only events of that node." },
    { name: "agent", value: "name", summary: "Only events of that agent." },
    { name: "type", value: "type", summary: "Only that type, e.g. work.done, or all of a noun: work." },
    { name: "after", value: "seq", summary: "Only events after that sequence number." },
    { name: "limit", value: "n", summary: "At most this many, the newest (default 50)." },
    { name: "follow", short: "f", summary: "Keep printing new events until interrupted." },
  ],
  details: "With --json it prints one event per line.",
  examples: [
    { line: "overseer events --goal goal_7ZK3 --type work", why: "what happened to a goal's work" },
    { line: "overseer events --follow --json", why: "feed another program" },
  ],
  async run(call, parts) {
    const world = await parts.world();
    const store = await world.reader();
    const goalWord = call.text("goal");
    const nodeWord = call.text("node");
    const node = nodeWord === undefined ? undefined : await resolveNode(store, nodeWord, goalWord);
    const goalId = node?.goalId ?? (goalWord === undefined ? undefined : await resolveGoal(store, goalWord));
    const after = call.number("after");
    const filter = {
      goalId,
      nodeId: node?.nodeId,
      agent: call.text("agent"),
      type: call.text("type"),
      limit: call.number("limit") ?? 50,
    };
    const first = await views.events(world, { ...filter, after, newest: after === undefined });
    for (const event of first) print(call, event);
    if (!call.has("follow")) return;
    let last = first.at(-1)?.seq ?? after ?? (await lastPlace(world));
    let mark = -1;
    for (;;) {
      const now = await store.changeMark();
      if (now !== mark) {
        mark = now;
        const page = await views.events(world, { ...filter, after: last, limit: 1000 });
        for (const event of page) print(call, event);
        last = page.at(-1)?.seq ?? last;
      }
      await world.clock.sleep(LOOK_EVERY_MS);
    }
  },
};

async function lastPlace(world: Awaited<ReturnType<Parts["world"]>>): Promise<number> {
  const newest = await views.events(world, { limit: 1, newest: true });
  return newest.at(-1)?.seq ?? 0;
}

function print(call: Call, event: EventOf): void {
  if (call.json) {
    call.out.json(presentEvent(event));
    return;
  }
  const about = event.nodeId ? `${event.goalId}/${event.nodeId}` : (event.goalId ?? "");
  const text = sentence(event) ?? `${event.type} (${event.because})`;
  call.out.line(
    `${String(event.seq).padStart(6)}  ${moment(event.at)}  ${event.type.padEnd(22)} ${about}  ${inert(text)}`,
  );
}

export default command;
