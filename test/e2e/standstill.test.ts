/**
 * HOLD-1 STATUS-1: each reason for which a fleet stands still, made to happen with real processes and read back from
 * `status`, most of them at once.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Standstill, StandstillKind } from "#domain/explain/standstill.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { tail } from "../support/nine-tasks.ts";
import { hang, say } from "../support/steps.ts";

setDefaultTimeout(180_000);
beforeAll(bundled);

let fleet: Fleet;
afterEach(() => fleet.end());

type Seen = { standstills: Standstill[]; next: { text: string; nextAt: string | null } | null };
const look = async (): Promise<Seen> => JSON.parse(await fleet.ok("status", "--json"));

/** Until `status` tells all of these at once. */
async function stands(...wanted: (readonly [StandstillKind, RegExp])[]): Promise<Seen> {
  for (let tries = 0; ; tries += 1) {
    const seen = await look();
    const missing = wanted.filter(
      ([kind, text]) => !seen.standstills.some((one) => one.kind === kind && text.test(one.text)),
    );
    if (missing.length === 0) return seen;
    const texts = seen.standstills.map(({ kind, text }) => `${kind}: ${text}`).join("\n");
    if (tries > 150) throw new Error(`Waited in vain for ${missing.join("; ")} in\n${tail(fleet)}\n${texts}`);
    await Bun.sleep(50);
  }
}

interface Task {
  readonly steps: readonly Step[];
  readonly dependsOn?: readonly string[];
}

async function planned(title: string, tasks: Readonly<Record<string, Task>>): Promise<string> {
  const { goalId } = JSON.parse(await fleet.ok("goal", "create", title, "--json")) as { goalId: string };
  const node = { acceptance: ["it is there"], dependsOn: [] };
  const nodes = Object.entries(tasks).map(([id, { steps, dependsOn = [] }]) => ({
    ...{ ...node, id, name: id, dependsOn },
    objective: `Do ${id}. ${renderScript(steps)}`,
  }));
  const file = join(fleet.state, "plan.json");
  writeFileSync(
    file,
    JSON.stringify({ planVersion: 1, phases: [{ ...node, id: "P1", name: "P1", objective: "All", tasks: nodes }] }),
  );
  await fleet.ok("goal", "plan", goalId, "--file", file);
  return goalId;
}

const MORE = `
landing: {mode: review}
reconcile: {tickEvery: 1s, minimumAge: 100ms, idleAfter: 1s, backoff: {base: 30m, max: 1h}}
massDeath: {count: 3, within: 10s}
budgets: {agent: {tokens: 1000000}}
`;

test("HOLD-1 STATUS-1: every standstill has its sentence, also many at once", async () => {
  fleet = await Fleet.make({ more: MORE, terminal: "detached" });
  expect(await fleet.ok("status")).toContain("Next: nothing; no goal is open");
  const resetsAt = new Date(Date.now() + 3_600_000).toISOString();
  const question = "Which calendar?";
  const goalId = await planned("Dates", {
    T1: {
      steps: [
        { kind: "edit", file: "a.txt", content: "a\n" },
        { kind: "commit", message: "Add a" },
        { kind: "report", status: "done", summary: "a is there" },
      ],
    },
    T2: { steps: [{ kind: "ask", question, cli: ["overseer", "ask", question, "--option", "Julian"] }, say("I wait")] },
    T3: { steps: [say("let me think"), hang] },
    T4: { steps: [{ kind: "usage", inputTokens: 5_000_000 }, say("that was dear")] },
    T5: { steps: [say("never")] },
    T6: { steps: [say("never")], dependsOn: ["T5"] },
    T7: { steps: [say("a moment"), { kind: "quota", attempts: 1, retryAfterMs: 10, givesUp: true, resetsAt }] },
  });
  const { goalId: bare } = JSON.parse(await fleet.ok("goal", "create", "Without a plan", "--json"));
  await fleet.ok("work", "cancel", `${goalId}/T5`);

  // Nobody runs it: what can never begin is told although nobody could be asked about it.
  const alone = await stands(
    ["no-daemon", /not running/],
    ["never-ready", new RegExp(`${goalId}/T6 depends on ${goalId}/T5, which was cancelled`)],
    ["no-plan", new RegExp(`${bare} Without a plan`)],
  );
  expect(alone.next).toBeNull();
  expect(alone.standstills).toHaveLength(3);

  await fleet.ok("up");
  await stands(
    ["review", new RegExp(`${goalId}/T1 is done and waits for you .*overseer accept ${goalId}/T1`)],
    ["question", new RegExp(`about ${goalId}/T2 .*Which calendar\\? \\(q_\\w+: overseer answer \\d+ `)],
    ["question", new RegExp(`about ${goalId}/T6 .*it depends on T5, which was cancelled`)],
    ["stalled", new RegExp(`on ${goalId}/T3 since .*; at .*\\d{4}-\\S+ it gets a`)],
    ["budget", new RegExp(`budget of ${goalId}/T4 is spent .* the limit is budgets.agent.tokens`)],
    ["quota", new RegExp(`scripted/default is used up until ${resetsAt}`)],
  );
  expect(await fleet.ok("why", `${goalId}/T1`)).toContain(`'overseer accept ${goalId}/T1'`);
  expect(await fleet.ok("why", `${goalId}/T2`)).toMatch(
    /q_\w+ asks "Which calendar\?" \(1\. Julian\): 'overseer answer q_/,
  );
  const now = await look();
  for (const { sinceAt } of now.standstills) expect(String(sinceAt)).toMatch(/^(null|\d{4}-.*Z)$/);
  const asked = /\((q_\w+): overseer answer \d+ <choice or text>: 1\. Julian\)/.exec(
    now.standstills.map(({ text }) => text).join("\n"),
  )?.[1];
  // As `answer` does, `why` takes the beginning of an id.
  expect(await fleet.ok("why", (asked ?? "").slice(0, -2))).toContain("Which calendar?");
  const words = await fleet.ok("status");
  for (const text of ["YOUR REVIEW: ", "ASKED since ", "STALLED: ", "BUDGET: ", "QUOTA: ", "NO PLAN: "]) {
    expect(words).toContain(text);
  }
  expect(words).toMatch(/#\d+ +stalled +\d/); // in its row too
  expect(words).not.toContain("NEVER READY"); // a person was asked about it

  // Less room than there is: what becomes ready now is held back, and by what is said.
  const path = `${fleet.userDir}/config.yaml`;
  const config = readFileSync(path, "utf8");
  writeFileSync(path, config.replace("minDisk: 1B", "minDisk: 900000GB"));
  const more = await planned("More", { N1: { steps: [say("late")] } });
  await stands(
    ["dispatch", /1 ready task waits since .*the disk is nearly full: [\d.]+ GB free, 900000\.0 GB needed/],
    ["review", /T1/],
  );
  const held = await fleet.ok("why", `${more}/N1`);
  expect(held).toMatch(/It is ready, and held back: HELD BACK: 1 ready task waits since .* GB needed \(free some/);
  expect(held).not.toContain("YOUR REVIEW");

  // The ways in which a whole fleet stops, one on top of the other.
  const living = fleet
    .rows<{ attempt: number; node: string }>("select attempt, node_id as node from attempts where status <> 'ended'")
    .filter(({ node }) => node !== "T3")
    .slice(0, 3);
  const processes = await Promise.all(living.map(({ attempt }) => fleet.process(attempt)));
  for (const one of processes) fleet.processes.signal(one, "SIGKILL");
  await stands(["mass-death", /3 agents died at once/], ["quota", /scripted/]);
  await fleet.ok("goal", "pause", bare);
  await fleet.ok("freeze", "--reason", "lunch");
  const frozen = await stands(
    ["frozen", /FROZEN since .*lunch/],
    ["goal-paused", new RegExp(bare)],
    ["mass-death", /3/],
  );
  expect(frozen.next).toBeNull();
  await fleet.kill(fleet.theDaemon());
  await stands(["frozen", /lunch/], ["no-daemon", /The daemon died/]);
});

test("ESC-1, HOLD-1: agents that cannot be started for one reason are one question; with it gone all continue", async () => {
  const seldom = MORE.replace("tickEvery: 1s", "tickEvery: 10m").replace("mode: review", "mode: auto");
  fleet = await Fleet.make({ more: seldom, terminal: "detached" });
  const write = (id: string): Step[] => [
    { kind: "edit", file: `${id}.txt`, content: `${id}\n` },
    { kind: "commit", message: `Add ${id}` },
    { kind: "report", status: "done", summary: `${id} is there` },
  ];
  const ids = ["T1", "T2", "T3", "T4", "T5", "T6", "T7"];
  await planned("Many", Object.fromEntries(ids.map((id) => [id, { steps: write(id) }])));
  // The repository takes no worktree.
  const inTheWay = `${fleet.repo.path}/.git/worktrees`;
  writeFileSync(inTheWay, "");
  await fleet.ok("up");
  await stands(
    ["not-started", /NOT STARTED \(\d, tried again by itself\): /],
    ["question", /No agent can be started here: .*\d tasks wait/],
  );
  expect(fleet.all("question.asked")).toHaveLength(1);
  rmSync(inTheWay);
  const [asked] = fleet.all("question.asked");
  await fleet.ok("answer", asked?.data.questionId ?? "", "try again");
  await eventually(
    () => fleet.all("work.done").filter(({ nodeId }) => nodeId?.startsWith("T")).length === ids.length,
    () => tail(fleet),
  );
  expect(fleet.all("question.asked")).toHaveLength(1);
  expect(fleet.all("dispatch.works")).toHaveLength(1);
  expect(fleet.all("work.blocked")).toEqual([]);
  expect((await look()).standstills).toEqual([]);
});

test("HOLD-1 STATUS-1: an agent whose runner is held by a signal does not answer, and what waits for its place says so", async () => {
  const patient = MORE.replace("idleAfter: 1s", "idleAfter: 10m");
  fleet = await Fleet.make({ more: patient, terminal: "detached", maxConcurrent: 1 });
  const goalId = await planned("Places", { T1: { steps: [say("a moment"), hang] }, T2: { steps: [say("later")] } });
  await fleet.ok("up");
  await stands(["dispatch", /1 ready task waits since .*1 agents is the limit/]);
  const { attempt, runner } = await eventually(
    () => {
      const { attempt, data } = fleet.all("agent.started")[0] ?? {};
      return attempt !== undefined && data && { attempt, runner: data.runner };
    },
    () => tail(fleet),
  );
  await fleet.hang(runner);
  try {
    const held = await stands(
      ["not-answering", new RegExp(`the runner of builder-1#${attempt} on ${goalId}/T1 is held by a signal`)],
      ["dispatch", /1 agents is the limit/],
    );
    expect(held.standstills.map(({ kind }) => kind)).not.toContain("agent-waits");
    expect(await fleet.ok("agents")).toContain("not-answering");
  } finally {
    fleet.processes.signal(runner, "SIGCONT");
  }
  for (;;) {
    const { standstills } = await look();
    if (!standstills.some(({ kind }) => kind === "not-answering")) break;
    await Bun.sleep(50);
  }
});
