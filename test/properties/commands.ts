/**
 * Anything a person could type about goals and work, as values: valid and invalid words, plans with and without
 * faults, secrets and long texts. `run` carries one out through the same verbs that the command line uses.
 */
import fc from "fast-check";
import * as goals from "#control/goals.ts";
import * as plans from "#control/plans.ts";
import * as work from "#control/work.ts";
import { PRIORITIES } from "#domain/model/goal.ts";
import { BLOCKED_KINDS } from "#domain/model/work.ts";
import { PLANTED_SECRETS } from "../support/secrets.ts";
import type { TestWorld } from "../support/world.ts";

export type Command =
  | { readonly do: "create"; readonly title: string; readonly tags: readonly string[]; readonly problem: string }
  | { readonly do: "plan"; readonly goal: number; readonly text: string }
  | { readonly do: "update"; readonly goal: number; readonly changes: object }
  | { readonly do: "pause" | "resume" | "cancel" | "archive"; readonly goal: number; readonly reason?: string }
  | {
      readonly do: "done";
      readonly goal: number;
      readonly node: string;
      readonly summary: string;
      readonly override?: string;
    }
  | {
      readonly do: "block";
      readonly goal: number;
      readonly node: string;
      readonly kind: number;
      readonly detail: string;
    }
  | { readonly do: "unblock" | "drop"; readonly goal: number; readonly node: string; readonly reason?: string }
  | { readonly do: "wait"; readonly ms: number };

const words = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("Parse dates", "Größe 測試", "a\u0000b", "—", 'it\'s "quoted"') },
  { weight: 2, arbitrary: fc.string({ maxLength: 30 }) },
  { weight: 1, arbitrary: fc.constantFrom("", "  ", "x".repeat(20_000), "é".repeat(12_000)) },
  { weight: 1, arbitrary: fc.constantFrom(...PLANTED_SECRETS.slice(0, 8).map(({ text }) => text)) },
);
/** Mostly the first goal, so that commands meet each other's results; -1 is no goal named, 2 often one that is not. */
const goal = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, 1, -1, 2);
const NODES = ["P1", "P2", "P3", "T1", "T2", "T3", "T4", "S1", "S2"];
const node = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom("S1", "S2", "T2", "T3", "T4") },
  { weight: 3, arbitrary: fc.constantFrom("P1", "P2", "T1") },
  { weight: 1, arbitrary: fc.constantFrom("nope", "goal_X/T1", "") },
);
const reason = fc.option(words, { nil: undefined });

/** Ids lie in fixed places most of the time, so that a second plan is a revision of the first. */
const deps = fc.array(fc.constantFrom(...NODES), { maxLength: 2 });
const fields = (id: string) =>
  fc.record({
    id: fc.oneof({ weight: 60, arbitrary: fc.constant(id) }, { weight: 1, arbitrary: fc.constantFrom("T1", "a b") }),
    name: fc.constantFrom("A name", "Another name", "A third name"),
    objective: fc.oneof({ weight: 8, arbitrary: fc.constant("Reach it") }, { weight: 1, arbitrary: words }),
    acceptance: fc.oneof(
      { weight: 30, arbitrary: fc.constant(["it works"]) },
      { weight: 1, arbitrary: fc.constant([]) },
    ),
    deps: fc.oneof({ weight: 9, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: deps }),
    blocks: fc.oneof({ weight: 19, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: deps }),
    tags: fc.constantFrom([], ["ui"]),
  });
const task = (id: string, subtasks: readonly string[]) =>
  fc
    .tuple(
      fields(id),
      fc.subarray([...subtasks]).chain((ids) => fc.tuple(...ids.map(fields))),
    )
    .map(([own, below]) => ({ ...own, subtasks: below }));
const phase = (id: string, tasks: readonly ReturnType<typeof task>[]) =>
  fc
    .tuple(
      fields(id),
      fc.subarray([...tasks], { minLength: 1 }).chain((some) => fc.tuple(...some)),
    )
    .map(([own, below]) => ({ ...own, tasks: below }));
const tree = fc.tuple(
  phase("P1", [task("T1", ["S1", "S2"]), task("T2", [])]),
  phase("P2", [task("T3", []), task("T4", [])]),
);
const planText = fc.oneof(
  { weight: 10, arbitrary: tree.map((phases) => JSON.stringify({ planVersion: 1, phases })) },
  { weight: 1, arbitrary: fc.constantFrom("", "phases: [", "planVersion: 2", '{"planVersion":1,"phases":[]}') },
);

export const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("create" as const),
      title: words,
      tags: fc.constantFrom([], ["a"]),
      problem: words,
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("plan" as const), goal, text: planText }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("update" as const),
      goal,
      changes: fc.oneof(
        fc.record({ title: words }),
        fc.record({ tags: fc.constantFrom([], ["b"]), priority: fc.constantFrom(...PRIORITIES) }),
        fc.constant({}),
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom(...(["pause", "pause", "resume", "resume", "resume", "cancel", "archive"] as const)),
      goal,
      reason,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("done" as const),
      goal,
      node,
      summary: words,
      override: fc.option(words, { nil: undefined, freq: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("block" as const), goal, node, kind: fc.nat(9), detail: words }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("unblock" as const, "drop" as const), goal, node, reason }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: -1000, max: 100_000 }) }),
  },
);

/** One command, or two that belong together: an end without its beginning would be refused nearly always. */
const anyStep = fc.oneof(
  { weight: 10, arbitrary: anyCommand.map((command): Command[] => [command]) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("S1", "S2", "T2", "T3").map((id): Command[] => [
      { do: "block", goal: 0, node: id, kind: 1, detail: "no key" },
      { do: "unblock", goal: 0, node: id, reason: "it came" },
    ]),
  },
  {
    weight: 1,
    arbitrary: anyCommand.map((between): Command[] => [{ do: "pause", goal: 0 }, between, { do: "resume", goal: 0 }]),
  },
);

/** Any sequence; it begins with goals and sound plans most of the time, else few commands would find anything. */
export const anyCommands = fc
  .tuple(fc.nat(7), tree, fc.array(anyStep, { minLength: 3, maxLength: 25, size: "max" }))
  .map(([start, phases, steps]): Command[] => [
    ...(start > 0 ? BEGINNING : []),
    ...steps.flat(),
    { do: "plan", goal: 0, text: JSON.stringify({ planVersion: 1, phases }) },
  ]);

const plain = (id: string, more = {}) => ({
  id,
  name: "A name",
  objective: "Reach it",
  acceptance: ["it works"],
  ...more,
});
const SOUND = {
  planVersion: 1,
  phases: [
    plain("P1", { tasks: [plain("T1", { subtasks: [plain("S1"), plain("S2", { deps: ["S1"] })] }), plain("T2")] }),
    plain("P2", { deps: ["P1"], tasks: [plain("T3"), plain("T4", { deps: ["T3"] })] }),
  ],
};
const BEGINNING: Command[] = [
  { do: "create", title: "First", tags: ["a"], problem: "" },
  { do: "plan", goal: 0, text: JSON.stringify(SOUND) },
  { do: "create", title: "Second", tags: [], problem: "" },
  { do: "plan", goal: 1, text: JSON.stringify(SOUND) },
];

const MOVES = {
  pause: goals.pauseGoal,
  resume: goals.resumeGoal,
  cancel: goals.cancelWholeGoal,
  archive: goals.archiveGoal,
};

/** Carries it out. `made` are the goals so far; -1 and what is not made yet name nothing. */
export async function run(world: TestWorld, command: Command, made: string[]): Promise<void> {
  if (command.do === "wait") return world.clock.jump(command.ms);
  if (command.do === "create") {
    const { title, tags, problem } = command;
    made.push(await goals.create(world, { title, tags, problemStatement: problem }));
    return;
  }
  const goalWord = made[command.goal] ?? "goal_NOPE";
  switch (command.do) {
    case "plan":
      await plans.plan(world, goalWord, { name: "plan.json", text: command.text });
      return;
    case "update":
      await goals.update(world, goalWord, command.changes);
      return;
    case "pause":
    case "resume":
    case "cancel":
    case "archive":
      await MOVES[command.do](world, goalWord, command.reason);
      return;
    default:
      return runOnNode(world, command, command.goal < 0 ? undefined : goalWord);
  }
}

type NodeCommand = Extract<Command, { node: string }>;

async function runOnNode(world: TestWorld, command: NodeCommand, goalWord: string | undefined): Promise<void> {
  const named = { node: command.node, goal: goalWord };
  switch (command.do) {
    case "done":
      await work.finishWork(world, named, { summary: command.summary, override: command.override });
      return;
    case "block": {
      const kind = BLOCKED_KINDS[command.kind % BLOCKED_KINDS.length] ?? "other";
      await work.blockWork(world, named, { kind, detail: command.detail });
      return;
    }
    case "unblock":
      await work.unblockWork(world, named, command.reason);
      return;
    case "drop":
      await work.cancelWork(world, named, command.reason);
  }
}
