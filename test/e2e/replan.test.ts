/**
 * PLAN-3, PLAN-4, SAFE-1: a real daemon with scripted agents and a command for a model. A task whose agent hangs is split
 * and its parts land; an agent that stopped is given a model's advice; with the model down a fresh agent takes over.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkNode } from "#domain/model/work.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { hang, wait } from "../support/steps.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(60_000);
beforeAll(bundled);

let fleet: Fleet | undefined;
afterEach(async () => {
  await fleet?.end();
  fleet = undefined;
});

const QUICK = (command: string) => `
landing: {mode: auto}
model: {command: ${JSON.stringify(command)}}
planner: {diagnoseStalls: true, repairs: 0}
reconcile: {tickEvery: 500ms}
recovery:
  silentAfter: 1s
  nextStepAfter: 200ms
  steps: {hints: 0, warnings: 0, lastWarnings: 0, interrupts: 0, splits: 1, freshAgents: 2}
  backoff: {base: 100ms, max: 500ms}
  judgedFromAge: 100ms
`;

const write = (file: string): Step[] => [
  { kind: "edit", file, content: `${file}\n` },
  { kind: "commit", message: `Write ${file}` },
  { kind: "report", status: "done", summary: `${file} is there` },
];

const PARTS = {
  why: "It is two things.",
  parts: ["one", "two"].map((name, index) => ({
    name: `Write ${name}`,
    objective: `Write ${name}.txt ${renderScript(write(`${name}.txt`))}`,
    acceptance: [`${name}.txt holds its name`],
    after: index === 0 ? [] : [1],
  })),
};
const ADVICE = {
  diagnosis: "It stopped after reading.",
  actions: [{ do: "nudge", message: "write the file" }, { do: "reassign" }, { do: "replan" }],
};

/** Splits what it is asked to split, and advises about whoever stopped; about the other it knows nothing. */
function model(): string {
  const dir = tempDir("model-");
  const script = join(dir, "model.sh");
  const say = (name: string, answer: object) => {
    writeFileSync(join(dir, name), JSON.stringify(answer));
    return `cat ${join(dir, name)}`;
  };
  writeFileSync(
    script,
    `#!/bin/sh
asked="$(cat)"
case "$asked" in
  *"done in smaller pieces"*) ${say("split", PARTS)} ;;
  *"T9: "*) ${say("advice", ADVICE)} ;;
  *) ${say("nothing", { diagnosis: "It cannot be seen.", actions: [] })} ;;
esac
`,
  );
  chmodSync(script, 0o755);
  return script;
}

function plan(tasks: readonly { id: string; deps?: string[]; steps: readonly Step[] }[]): string {
  const path = join(tempDir("plan-"), "plan.json");
  const written = tasks.map(({ id, deps = [], steps }) => ({
    ...{ id, deps, name: `Task ${id}`, acceptance: [`${id} is there`], tags: ["kept"] },
    objective: `Do it ${renderScript([...steps])}`,
  }));
  const phase = { id: "P", name: "All", objective: "All of it", acceptance: ["it is there"], tasks: written };
  writeFileSync(path, JSON.stringify({ planVersion: 1, phases: [phase] }));
  return path;
}

const HANGS: Step[] = [
  { kind: "edit", file: "half.txt", content: "half\n" },
  { kind: "commit", message: "Half of it" },
  { kind: "edit", file: "loose.txt", content: "loose\n" },
  { ...hang, once: "anywhere" },
  ...write("whole.txt"),
];

function nodes(world: Fleet): Map<string, WorkNode> {
  const docs = world.rows<{ doc: string }>("select doc from nodes").map(({ doc }) => JSON.parse(doc) as WorkNode);
  return new Map(docs.map((node) => [node.workNodeId, node]));
}

const isReached = (world: Fleet) => world.all("goal.completed").length === 1;
const told = (world: Fleet) =>
  world
    .happened()
    .slice(-40)
    .map(({ type, nodeId, because, data }) => `${type} ${nodeId} ${because} ${JSON.stringify(data).slice(0, 200)}`)
    .join("\n");

test("PLAN-3 PLAN-4 WATCH-2: a stuck task is split and its parts land, and a stopped agent is given a model's advice", async () => {
  fleet = await Fleet.make({ more: QUICK(model()), terminal: "detached" });
  const world = fleet;
  const file = plan([
    { id: "T1", steps: HANGS },
    { id: "T2", deps: ["T1"], steps: write("after.txt") },
    {
      id: "T9",
      steps: [
        { kind: "read", file: "README.md" },
        wait,
        { kind: "on", message: "write the file", do: write("nine.txt") },
      ],
    },
  ]);
  await world.ok("goal", "create", "Two files", "--plan", file);
  await world.ok("up");
  await eventually(
    () => isReached(world),
    () => `the goal\n${told(world)}`,
  );
  const all = nodes(world);
  expect(Object.fromEntries([...all].map(([id, { status }]) => [id, status]))).toEqual({
    ...{ P: "done", T1: "cancelled", "T1.a": "done", "T1.b": "done", T2: "done", T9: "done" },
  });
  expect(all.get("T1")?.statusReason).toBe("split into T1.a, T1.b");
  expect(all.get("T1.a")).toMatchObject({ splitFrom: ["T1"], tags: ["kept"], revision: 2 });
  expect(all.get("T2")?.dependsOn).toEqual(["T1.a", "T1.b"]);
  expect(world.repo.git("ls-tree", "--name-only", "main").split("\n")).toEqual(
    expect.arrayContaining(["one.txt", "two.txt", "after.txt", "nine.txt"]),
  );
  // The plan says how it came to that, and the parts know what was made before.
  const revision = world.all("plan.accepted").at(-1)?.data;
  expect(revision).toMatchObject({ source: "model", promptId: "split-node", revision: 2 });
  expect(revision?.change).toBe("T1 was stuck (no activity); split into T1.a, T1.b");
  expect(JSON.parse(revision?.raw ?? "")).toEqual(PARTS);
  const [first] = world.all("agent.slung");
  const stuck = world.all("agent.slung").find(({ nodeId }) => nodeId === "T1") ?? first;
  const part = world.all("agent.slung").find(({ nodeId }) => nodeId === "T1.a");
  expect(part?.data.base).not.toBe(world.repo.git("rev-parse", stuck?.data.branch ?? ""));
  expect(world.repo.git("show", `${stuck?.data.branch}:half.txt`)).toBe("half");
  const { end } = world.attempt(stuck?.attempt ?? 0);
  expect(world.repo.git("show", `${end?.wip}:loose.txt`)).toBe("loose");
  const page = readFileSync(`${world.state}/run/attempts/${part?.attempt}/system-prompt.md`, "utf8");
  expect(page).toContain(end?.wip ?? "no wip");
  expect(page).toContain(`its branch: ${stuck?.data.branch}`);
  expect(page).toContain("This task is a part of T1 (Task T1)");
  // The advice that was taken, and what was not.
  const diagnosed = world.all("assignment.diagnosed").find(({ nodeId }) => nodeId === "T9");
  expect(diagnosed?.data).toMatchObject({
    diagnosis: "It stopped after reading.",
    refused: [{ reason: "nothing follows after a fresh agent" }],
  });
  const words = world.all("message.queued").filter(({ nodeId }) => nodeId === "T9");
  expect(words.map(({ data }) => data.body).join()).toContain("its advice stands below between fences");
  const why = await world.ok("why", "T9", "--all");
  expect(why).toContain('A model was shown the stall and says: "It stopped after reading."');
  expect(why).toContain("Overseer takes the model's advice: a word to the agent");
  const split = await world.ok("why", "T1", "--all");
  expect(split).toContain("Its work is done as T1.a, T1.b");
  expect(split).toContain("Overseer asks a model how the work can be split");
  expect(split).toContain("Overseer split it into T1.a, T1.b.");
});

test("PLAN-3 SAFE-1: with the model down the same task is reassigned as before, and why says so", async () => {
  fleet = await Fleet.make({ more: QUICK("echo down >&2; exit 1"), terminal: "detached" });
  const world = fleet;
  await world.ok("goal", "create", "One file", "--plan", plan([{ id: "T1", steps: HANGS }]));
  await world.ok("up");
  await eventually(
    () => isReached(world),
    () => `the goal\n${told(world)}`,
  );
  expect(Object.fromEntries([...nodes(world)].map(([id, { status }]) => [id, status]))).toEqual({
    P: "done",
    T1: "done",
  });
  expect(world.all("assignment.replan_skipped").map(({ data }) => data.reason)).toEqual([
    "The model could not be asked: down",
  ]);
  expect(world.all("assignment.diagnosis_failed")).toHaveLength(1);
  expect(world.all("plan.accepted")).toHaveLength(1);
  expect(await world.ok("why", "T1", "--all")).toContain(
    "did not split the work into smaller pieces: The model could not",
  );
});

test("WATCH-2: an agent that keeps failing is shown to a model once, which says whose failure it is; a person is asked as it recommends", async () => {
  const dir = tempDir("model-");
  const answer = { diagnosis: "Its login shell is missing.", failure: "environment", recommend: "person" };
  writeFileSync(join(dir, "answer"), JSON.stringify(answer));
  const command = `cat >> ${join(dir, "asked")}; cat ${join(dir, "answer")}`;
  const more = `model: {command: ${JSON.stringify(command)}}
watch: {triage: {enabled: true}}
reconcile: {tickEvery: 300ms}
recovery: {restarts: 1, judgedFromAge: 100ms, backoff: {base: 100ms, max: 200ms}}
`;
  fleet = await Fleet.make({ more, terminal: "detached" });
  const world = fleet;
  await world.ok(
    "goal",
    "create",
    "One file",
    "--plan",
    plan([
      {
        id: "T1",
        steps: [
          { kind: "say", text: "/bin/zsh: not found" },
          { kind: "fail", message: "/bin/zsh: not found", exitCode: 3 },
        ],
      },
    ]),
  );
  await world.ok("up");
  const asked = await eventually(
    () => world.all("question.asked")[0],
    () => `the question\n${told(world)}`,
  );
  expect(asked.data.text).toContain("Its login shell is missing.");
  // It was shown the first failure, before the only restart; nothing was tried that it thought useless.
  expect(world.all("agent.slung")).toHaveLength(1);
  expect(world.all("assignment.diagnosed").map(({ data }) => data.triage)).toEqual([
    { failure: "environment", recommend: "person" },
  ]);
  const shown = readFileSync(join(dir, "asked"), "utf8");
  expect(shown.split("whose failure that is")).toHaveLength(2);
  expect(shown).toContain("/bin/zsh: not found");
  expect(await world.ok("why", "T1", "--all")).toContain(
    'A model was shown the end of its agent and says: "Its login shell is missing."',
  );
  expect(await world.ok("diagnoses")).toContain(
    "it is a failure of the environment, and asking a person is recommended",
  );
});
