/**
 * HOLD-1 STATUS-1: each reason for which a fleet stands still, made to happen with real processes and read back from
 * `status`, most of them at once.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Standstill, StandstillKind } from "#domain/explain/standstill.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { Fleet } from "../support/fleet.ts";
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
    ["question", new RegExp(`about ${goalId}/T2 .*Which calendar\\? \\(overseer answer q_`)],
    ["question", new RegExp(`about ${goalId}/T6 .*it depends on T5, which was cancelled`)],
    ["stalled", new RegExp(`on ${goalId}/T3 since .*; at \\d{4}-\\S+ it gets a`)],
    ["budget", /budget of agent:\d+ is spent/],
    ["quota", new RegExp(`scripted/default is used up until ${resetsAt}`)],
  );
  expect(await fleet.ok("why", `${goalId}/T1`)).toContain(`'overseer accept ${goalId}/T1'`);
  expect(await fleet.ok("why", `${goalId}/T2`)).toMatch(
    /q_\w+ asks "Which calendar\?" \(1\. Julian\): 'overseer answer q_/,
  );
  const words = await fleet.ok("status");
  for (const text of ["YOUR REVIEW: ", "ASKED since ", "STALLED: ", "BUDGET: ", "QUOTA: ", "NO PLAN: "]) {
    expect(words).toContain(text);
  }
  expect(words).not.toContain("NEVER READY"); // a person was asked about it

  // Less room than there is: what becomes ready now is held back, and by what is said.
  const path = `${fleet.userDir}/config.yaml`;
  const config = readFileSync(path, "utf8");
  writeFileSync(path, config.replace("minDisk: 1B", "minDisk: 900000GB"));
  await planned("More", { N1: { steps: [say("late")] } });
  await stands(["dispatch", /1 ready task waits since .*the disk is nearly full/], ["review", /T1/]);

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
