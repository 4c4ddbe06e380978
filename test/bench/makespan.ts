/**
 * How long many short tasks take beside what they would take if nothing but their work did: dispatched, checked and landed
 * by a daemon, so many at once, as wall-clock time. What is above 1 is what each task costs around its work.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { eventsMatching } from "#store/events.ts";
import { fleetUp } from "./fleet-up.ts";
import type { Measure } from "./row.ts";

const AT_ONCE = 4;
const TASK_MS = 2_000;
const CONFIG = `landing: {mode: auto}
checks: {nothing: {command: "true", on: [done], timeout: 30s}}
`;

function steps(id: string): Step[] {
  return [
    { kind: "run", command: `sleep ${TASK_MS / 1_000}` },
    { kind: "edit", file: `${id}.txt`, content: `${id}\n` },
    { kind: "commit", message: `Add ${id}` },
    { kind: "report", status: "done", summary: `${id} is there` },
  ];
}

function planOf(count: number) {
  const node = { acceptance: ["it is there"] };
  const tasks = Array.from({ length: count }, (_, index) => {
    const id = `T${index + 1}`;
    return { ...node, id, name: id, objective: `Do ${id}. ${renderScript(steps(id))}` };
  });
  const phases = Array.from({ length: Math.ceil(count / 7) }, (_, index) => ({
    ...{ ...node, id: `P${index + 1}`, name: `P${index + 1}`, objective: "All of it" },
    tasks: tasks.slice(index * 7, index * 7 + 7),
  }));
  return { planVersion: 1, phases };
}

export const makespan: Measure = async ({ quick, scratch, until, atEnd }) => {
  const count = quick ? 8 : 28;
  const repo = join(scratch, "makespan");
  const { world, end } = await fleetUp(repo, { config: CONFIG, maxConcurrent: AT_ONCE });
  atEnd(end);
  const plan = join(scratch, "plan.json");
  writeFileSync(plan, JSON.stringify(planOf(count)));
  const words = ["goal", "create", "--title", "All of it", "--plan", plan];
  const made = Bun.spawnSync([join(import.meta.dir, "../../bin/overseer"), ...words], { cwd: repo, stderr: "pipe" });
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  const store = await world.reader();
  for (;;) {
    const { decided, reached, landed } = await store.read({
      decided: eventsMatching({ type: "action.decided", limit: 1 }),
      reached: eventsMatching({ type: "goal.completed", limit: 1 }),
      landed: eventsMatching({ type: "landing.landed", limit: count }),
    });
    const [first] = decided;
    const [last] = reached;
    if (first && last) {
      const tookMs = last.at - first.at;
      const idealMs = (count / AT_ONCE) * TASK_MS;
      const aroundMs = ((tookMs - idealMs) * AT_ONCE) / count;
      return { value: tookMs / idealMs, turns: 1, note: `${aroundMs.toFixed(0)} ms around each of ${count} tasks` };
    }
    if (performance.now() > until) throw new Error(`${landed.length} of ${count} tasks have landed in time.`);
    await Bun.sleep(50);
  }
};
