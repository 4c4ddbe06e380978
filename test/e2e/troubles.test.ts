/**
 * HOLD-1 STATUS-1: each kind of trouble, made to happen with real processes, is read with the command that comes next from
 * `status`, from the live view at 80 × 24 and at 200 × 50, and from `why`. A login that is refused and a provider that is
 * tried again need the real CLI: claude-provider.test.ts reads those in the same way.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StandstillKind } from "#domain/explain/standstill.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { LiveScreen } from "../support/live-screen.ts";
import { tail } from "../support/nine-tasks.ts";
import { hang, say } from "../support/steps.ts";
import { expectTroubles, type Trouble } from "../support/troubles.ts";

setDefaultTimeout(180_000);
beforeAll(bundled);

let fleet: Fleet;
let screens: LiveScreen[] = [];
afterEach(async () => {
  for (const screen of screens) screen.close();
  screens = [];
  await fleet.end();
});

const SIZES = [
  [80, 24],
  [200, 50],
] as const;

async function stands(...kinds: readonly StandstillKind[]): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const { standstills } = JSON.parse(await fleet.ok("status", "--json")) as {
      standstills: { kind: StandstillKind; text: string }[];
    };
    const missing = kinds.filter((kind) => !standstills.some((one) => one.kind === kind));
    if (missing.length === 0) return;
    const texts = standstills.map(({ kind, text }) => `${kind}: ${text}`).join("\n");
    if (tries > 150) throw new Error(`Waited in vain for ${missing.join(", ")} in\n${tail(fleet)}\n${texts}`);
    await Bun.sleep(100);
  }
}

async function read(...troubles: readonly Trouble[]): Promise<void> {
  screens = SIZES.map((size) => LiveScreen.open(fleet.repo.path, size));
  await expectTroubles((...words) => fleet.ok(...words), screens, troubles);
  for (const screen of screens.splice(0)) screen.close();
}

async function planned(title: string, tasks: Readonly<Record<string, readonly Step[]>>): Promise<string> {
  const { goalId } = JSON.parse(await fleet.ok("goal", "create", title, "--json")) as { goalId: string };
  const node = { acceptance: ["it is there"], dependsOn: [] };
  const nodes = Object.entries(tasks).map(([id, steps]) => ({
    ...{ ...node, id, name: id, objective: `Do ${id}. ${renderScript(steps)}` },
  }));
  const file = join(fleet.state, "plan.json");
  const phase = { ...node, id: "P1", name: "P1", objective: "All", tasks: nodes };
  writeFileSync(file, JSON.stringify({ planVersion: 1, phases: [phase] }));
  await fleet.ok("goal", "plan", goalId, "--file", file);
  return goalId;
}

const write = (file: string): Step[] => [
  { kind: "edit", file, content: `${file}\n` },
  { kind: "commit", message: `Add ${file}` },
  { kind: "report", status: "done", summary: `${file} is there` },
];

const MORE = `
landing: {mode: review, fixRounds: 3}
checks:
  good: {command: "test ! -f bad.txt", on: [done]}
reconcile: {tickEvery: 1s, minimumAge: 100ms, idleAfter: 1s, backoff: {base: 30m, max: 1h}}
massDeath: {count: 3, within: 10s}
channels: {webhook: "http://127.0.0.1:9/hook", timeout: 1s}
`;

test("HOLD-1 STATUS-1: twelve kinds of trouble in one fleet are told everywhere, each with the command that comes next", async () => {
  fleet = await Fleet.make({ more: MORE, terminal: "detached" });
  const question = "Which calendar?";
  const resetsAt = new Date(Date.now() + 3_600_000).toISOString();
  const goalId = await planned("Dates", {
    T1: write("a.txt"),
    T2: write("b.txt"),
    T3: [{ kind: "ask", question, cli: ["overseer", "ask", question, "--option", "Julian"] }, say("I wait")],
    T4: [say("let me think"), hang],
    T5: write("bad.txt"),
    T6: [say("a moment"), { kind: "quota", attempts: 1, retryAfterMs: 10, givesUp: true, resetsAt }],
  });
  writeFileSync(`${fleet.repo.path}/b.txt`, "mine\n"); // in the way of T2
  await fleet.ok("up");
  await stands("review", "question", "returned", "quota");
  await eventually(
    () => fleet.rows("select 1 from nodes where node_id = 'T2' and doc like '%\"for\":\"review\"%'").length > 0,
    () => tail(fleet),
  );
  expect((await fleet.run("accept", `${goalId}/T2`)).stderr).toContain("not landed yet");
  await stands("landing", "stalled", "channel");
  const [asked] = fleet.all("question.asked").filter(({ data }) => data.text === question);
  const questionId = asked?.data.questionId ?? "";
  const node = (id: string) => `${goalId}/${id}`;
  await read(
    {
      ...{ says: `YOUR REVIEW: ${node("T1")}`, shown: "YOUR REVIEW: T1 " },
      ...{ command: `overseer accept ${node("T1")}`, why: node("T1"), told: "review" },
    },
    { says: question, command: "overseer answer ", why: node("T3") },
    { says: "NOT TOLD: nothing gets through by webhook", command: "overseer notify test webhook", why: questionId },
    { says: `NOT LANDED: ${node("T2")}`, shown: "NOT LANDED: T2 ", command: "overseer merge", why: node("T2") },
    { says: "round 1 of 3", command: `overseer why ${node("T5")}`, why: node("T5") },
    { says: "it gets", command: "overseer peek", why: node("T4") },
    { says: "QUOTA: scripted/default is used up until", command: "overseer agents", why: node("T6") },
  );

  // Less room than there is: what becomes ready now is held back.
  const path = `${fleet.userDir}/config.yaml`;
  writeFileSync(path, readFileSync(path, "utf8").replace("minDisk: 1B", "minDisk: 900000GB"));
  const more = await planned("More", { N1: [say("late")] });
  await stands("dispatch");
  await read({ says: "the disk is nearly full", command: "overseer doctor", why: `${more}/N1` });

  // Everything that ends a fleet, one on top of the other.
  const living = fleet
    .rows<{ attempt: number; node: string }>("select attempt, node_id as node from attempts where status <> 'ended'")
    .filter(({ node: id }) => id !== "T4")
    .slice(0, 3);
  const processes = await Promise.all(living.map(({ attempt }) => fleet.process(attempt)));
  for (const one of processes) fleet.processes.signal(one, "SIGKILL");
  await stands("mass-death");
  await fleet.ok("freeze", "--reason", "lunch");
  await fleet.kill(fleet.theDaemon());
  const [alive] = fleet.rows<{ attempt: number }>("select attempt from attempts where status <> 'ended'");
  await fleet.kill(fleet.runner(alive?.attempt ?? 0));
  await stands("frozen", "no-daemon", "agent-dead");
  const dead = fleet.attempt(alive?.attempt ?? 0);
  await read(
    { says: "3 agents died at once", command: "overseer why", why: more },
    { says: "lunch", command: "overseer thaw", why: goalId },
    { says: "The daemon died", command: "overseer up", why: goalId },
    { says: `DEAD: ${dead.agent}#${dead.attempt}`, command: "overseer up", why: node(dead.workNodeId) },
  );
});

test("HOLD-1 STATUS-1: an agent that cannot be started is told everywhere, with the command that comes next", async () => {
  fleet = await Fleet.make({ more: MORE, terminal: "detached" });
  const goalId = await planned("Many", { T1: write("a.txt") });
  writeFileSync(`${fleet.repo.path}/.git/worktrees`, ""); // the repository takes no worktree
  await fleet.ok("up");
  await stands("not-started");
  await read({ says: "NOT STARTED (1", command: "overseer doctor", why: `${goalId}/T1` });
});
