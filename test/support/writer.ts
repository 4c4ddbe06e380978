/**
 * A process that commits: what store tests start many of, and kill. Each commit reads a shared goal's counter and writes
 * it one higher, so a lost update shows as a number that is too small; every commit is written to standard output as a
 * line, once it is called done, so a killed writer leaves behind what it was promised.
 *
 * bun test/support/writer.ts <database> <goal> <commits, 0 for ever> <name>
 */
import { updateGoal } from "#domain/model/goal.ts";
import { goalById } from "#store/goals.ts";
import { openForWriting } from "#store/open.ts";

const [path = "", goalId = "", count = "1", name = "writer"] = Bun.argv.slice(2);
const store = await openForWriting({ address: path });
for (let made = 0; count === "0" || made < Number(count); made += 1) {
  const moment = { now: Date.now(), actor: `human:${name}` as const };
  const outcome = await store.commit({
    at: moment.now,
    reads: { goal: goalById(goalId) },
    decide: ({ goal }) => updateGoal(goal, goalId, { owner: String(Number(goal?.owner || 0) + 1) }, moment),
  });
  if (!outcome.ok) throw new Error(outcome.refusal.message);
  console.log(outcome.events.at(-1)?.seq);
}
await store.close();
