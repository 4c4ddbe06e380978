/**
 * A plan of three phases and nine tasks with everything going wrong that goes wrong: one agent stops half-way and needs a
 * word, one hangs, one lies, one dies, one asks, one runs out of quota, one waits long for a person. `liveThroughNine` starts a daemon, answers as a person
 * would and looks at what became of it; which CLIs do the work is for the test to say.
 */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EventOf, EventType } from "#domain/model/event.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { eventually, type Fleet } from "./fleet.ts";

/** Everything that waits for minutes in a real fleet waits for a moment here, but longer than a busy machine needs. */
export const QUICK = `
runtime: scripted
landing: {mode: auto}
reconcile:
  tickEvery: 1s
recovery:
  silentAfter: 4s
  nextStepAfter: 1s
  steps: {hints: 1, warnings: 1, lastWarnings: 1, interrupts: 1}
  backoff: {base: 100ms, max: 1s}
  sameWordsAfter: 100ms
  judgedFromAge: 100ms
quota: {backoff: {base: 1s, max: 2s}}
checks:
  no-lies: {command: "test ! -e promised || test -e kept", on: [done, land], timeout: 30s}
`;

/** Longer than what would be tried on a stalled agent, hint and warning included. */
const A_PERSONS_TIME_MS = 7_000;

interface Task {
  readonly id: string;
  readonly dependsOn?: readonly string[];
  readonly steps: readonly Step[];
}

type RoleOf = (task: string) => string | undefined;

function plan(
  phases: readonly { readonly id: string; readonly dependsOn?: readonly string[]; readonly tasks: readonly Task[] }[],
  roleOf: RoleOf,
) {
  const node = { objective: "", acceptance: ["it is there"] };
  return {
    planVersion: 1,
    phases: phases.map(({ id, dependsOn = [], tasks }) => ({
      ...node,
      id,
      name: id,
      objective: `All of ${id}`,
      dependsOn,
      tasks: tasks.map((task) => ({
        ...node,
        ...(roleOf(task.id) === undefined ? {} : { hints: { suggestedAgentType: roleOf(task.id) } }),
        id: task.id,
        name: `Task ${task.id}`,
        dependsOn: task.dependsOn ?? [],
        objective: `Do ${task.id}. ${renderScript(task.steps)}`,
      })),
    })),
  };
}

const write = (name: string): Step => ({ kind: "edit", file: `${name}.txt`, content: `${name}\n` });
const commit = (name: string): Step => ({ kind: "commit", message: `Add ${name}` });
const done = (name: string): Step => ({ kind: "report", status: "done", summary: `${name} is there` });
const diligent = (name: string): Step[] => [write(name), commit(name), done(name)];

const ask = (question: string): Step => ({ kind: "ask", question, cli: ["overseer", "ask", question] });
const PHASES = [
  {
    id: "P1",
    tasks: [
      {
        id: "T1",
        steps: [
          { kind: "on", message: "no sign of progress", do: [commit("T1"), done("T1")] },
          write("T1"),
          { kind: "wait" },
        ] as Step[],
      },
      {
        id: "T2",
        steps: [
          write("T2"),
          commit("T2"),
          { kind: "report", status: "in_progress", summary: "T2 is half done", next: "the other half" },
          { kind: "ignore", messages: "content" },
          { kind: "hang", in: "thought", once: "anywhere" },
          done("T2"),
        ] as Step[],
      },
      {
        id: "T3",
        steps: [
          { kind: "edit", file: "promised", content: "yes\n" },
          commit("T3"),
          {
            kind: "on",
            message: "no-lies",
            do: [{ kind: "edit", file: "kept", content: "yes\n" }, commit("T3 truly"), done("T3")],
          },
          { kind: "report", status: "done", summary: "all of it" },
        ] as Step[],
      },
    ],
  },
  {
    id: "P2",
    dependsOn: ["P1"],
    tasks: [
      {
        id: "T4",
        steps: [
          write("T4"),
          { kind: "die", at: "now", signal: "SIGKILL", once: true },
          commit("T4"),
          done("T4"),
        ] as Step[],
      },
      { id: "T5", steps: [ask("Red or blue?"), write("T5"), commit("T5"), done("T5")] as Step[] },
      {
        id: "T6",
        steps: [
          write("T6"),
          { kind: "quota", attempts: 1, retryAfterMs: 10, givesUp: true, once: true },
          commit("T6"),
          done("T6"),
        ] as Step[],
      },
    ],
  },
  {
    id: "P3",
    dependsOn: ["P2"],
    tasks: [
      { id: "T7", steps: [ask("May I?"), ...diligent("T7")] },
      { id: "T8", steps: diligent("T8") },
      { id: "T9", dependsOn: ["T8"], steps: diligent("T9") },
    ],
  },
];

/** What becomes of a task whose agent makes no progress, hears a word, and continues. */
const ROUTE: EventType[] = ["assignment.dispatched", "assignment.nudged", "work.claimed", "landing.landed"];

/** From an empty goal to the last landing. Returns the goal's id. */
export async function liveThroughNine(world: Fleet, roleOf: RoleOf = () => undefined): Promise<string> {
  const { goalId } = JSON.parse(await world.ok("goal", "create", "Nine tasks", "--json")) as { goalId: string };
  const file = join(world.repo.path, ".overseer/plan.json");
  writeFileSync(file, JSON.stringify(plan(PHASES, roleOf)));
  await world.ok("goal", "plan", goalId, "--file", file);
  await world.ok("up");

  await answered(world, "Red or blue?", "red");
  // A person takes their time: longer than everything that would be tried on a stalled agent.
  await eventually(
    () => world.all("work.done").some(({ nodeId }) => nodeId === "T9"),
    () => tail(world),
  );
  await Bun.sleep(A_PERSONS_TIME_MS);
  await answered(world, "May I?", "yes");
  await eventually(
    () => world.all("goal.completed").length === 1,
    () => tail(world),
  );

  const ended = world.all("work.done").flatMap(({ nodeId }) => (nodeId?.startsWith("T") ? [nodeId] : []));
  expect(ended.toSorted()).toEqual(["T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8", "T9"]);
  for (const [first, later] of [
    ["T1", "T4"],
    ["T2", "T5"],
    ["T3", "T6"],
    ["T4", "T7"],
    ["T5", "T8"],
    ["T8", "T9"],
  ]) {
    expect(ended.indexOf(first ?? "")).toBeLessThan(ended.indexOf(later ?? ""));
  }
  expect(world.all("landing.landed")).toHaveLength(9);
  expect(world.repo.git("status", "--porcelain", "--untracked-files=no")).toBe("");
  for (const name of ["T1", "T2", "T4", "T5", "T6", "T7", "T8", "T9"]) {
    expect(world.repo.git("show", `HEAD:${name}.txt`)).toBe(name);
  }
  expect(world.repo.git("show", "HEAD:kept")).toBe("yes");

  const about = (id: string) =>
    world
      .happened()
      .filter(({ nodeId }) => nodeId === id)
      .map(({ type }) => type);
  const severities = world
    .all("assignment.nudged")
    .flatMap(({ nodeId, data }) => (nodeId === "T2" ? [data.severity] : []));
  expect(severities).toEqual(expect.arrayContaining(["hint", "warning", "critical"]));
  expect(
    about("T1").filter((type) => ROUTE.includes(type)),
    ofNode(world, "T1"),
  ).toEqual(ROUTE);
  expect(about("T2")).toContain("assignment.resent");
  expect(about("T2")).toContain("assignment.reassigning");
  expect(about("T3")).toContain("work.returned");
  expect(about("T4")).toContain("assignment.restarting");
  expect(about("T4").filter((type) => type === "agent.slung")).toHaveLength(2);
  expect(about("T5")).toContain("question.answered");
  expect(world.all("quota.tripped").length).toBeGreaterThan(0);
  for (const waiting of ["T5", "T7"]) {
    const from = about(waiting).indexOf("question.asked");
    expect(about(waiting).slice(from, about(waiting).indexOf("question.answered"))).not.toContain("assignment.nudged");
  }
  expect(about("T6").slice(0, about("T6").indexOf("quota.tripped") + 1)).not.toContain("assignment.nudged");
  expect(world.all("agent.slung").filter(({ nodeId }) => nodeId === "T1")).toHaveLength(1);

  return goalId;
}

/** Everything that was written down about one task. */
function ofNode(world: Fleet, id: string): string {
  return world
    .happened()
    .filter(({ nodeId, type }) => nodeId === id || type.startsWith("dispatch."))
    .map(({ seq, at, type, because, data }) => `${seq} ${at} ${type} ${because} ${JSON.stringify(data).slice(0, 300)}`)
    .join("\n");
}

async function answered(world: Fleet, text: string, answer: string): Promise<void> {
  const asked = await eventually(
    () =>
      world.all("question.asked").find(({ data }) => data.text.includes(text)) as EventOf<"question.asked"> | undefined,
    () => `the question "${text}"\n${tail(world)}`,
  );
  await world.ok("answer", asked.data.questionId, answer);
}

export function tail(world: Fleet): string {
  return world
    .happened()
    .filter(({ type }) => type !== "overseer.tick")
    .slice(-60)
    .map(
      ({ seq, type, nodeId, because, data }) =>
        `${seq} ${nodeId ?? ""} ${type} ${because} ${JSON.stringify(data).slice(0, 200)}`,
    )
    .join("\n");
}
