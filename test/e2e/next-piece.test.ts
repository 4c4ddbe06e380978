/**
 * DISP-3's send with a real daemon: an agent whose work has landed is given the next piece of its goal in the same
 * conversation, with a new attempt, branch and worktree; scripted agents, and the real Claude Code before the scripted
 * model.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { ClaudeWorld } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { modelPrompt, textOf } from "../support/model-server.ts";

setDefaultTimeout(180_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "detached" });
const worlds: ClaudeWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.end();
});

const work = (name: string): Step[] => [
  { kind: "edit", file: `${name}.txt`, content: `${name}\n` },
  { kind: "commit", message: `Add ${name}` },
  { kind: "say", text: `So much for ${name}.` },
  { kind: "report", status: "done", summary: `${name} is there` },
];

/** A chain: each task waits for the one before. */
function chain(names: readonly string[], task: (name: string) => string): string {
  const node = { acceptance: ["it is there"] };
  const tasks = names.map((id, at) => ({
    ...{ ...node, id, name: `Task ${id}`, objective: task(id) },
    deps: at === 0 ? [] : [names[at - 1]],
  }));
  return JSON.stringify({ planVersion: 1, phases: [{ ...node, id: "P", name: "P", objective: "All of it", tasks }] });
}

function letContinue(repo: string): void {
  const path = join(repo, ".overseer/roles/builder.yaml");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "capability: builder\ncontinueSession: true\n");
}

async function plan(fleet: Fleet, ...names: string[]): Promise<string> {
  const path = join(fleet.repo.path, "..", `plan-${Math.floor(performance.now())}.json`);
  writeFileSync(
    path,
    chain(names, (name) => `Do ${name}. ${renderScript(work(name))}`),
  );
  const made = await fleet.ok("goal", "create", "--title", "All", "--plan", path, "--json");
  return (JSON.parse(made) as { goalId: string }).goalId;
}

test("DISP-3 DISP-2: what builds on landed work continues in its session, on a branch and in a worktree of its own", async () => {
  const fleet = await fleetOf({ more: "landing: {mode: auto}\n" });
  letContinue(fleet.repo.path);
  const goalId = await plan(fleet, "T1", "T2", "T3");
  await fleet.ok("up");
  await eventually(
    () => fleet.all("goal.completed").length === 1,
    () => `the goal: ${fleet.repo.git("log", "--oneline", "main")}`,
  );
  const slung = fleet.all("agent.slung").map(({ attempt }) => fleet.attempt(attempt ?? 0));
  expect(slung.map(({ attempt, workNodeId, agent }) => [attempt, workNodeId, agent])).toEqual([
    [1, "T1", "builder-1"],
    [2, "T2", "builder-1"],
    [3, "T3", "builder-1"],
  ]);
  const [first, second, third] = slung;
  const session = first?.session ?? "";
  expect(slung.map((one) => one.session)).toEqual([session, session, session]);
  expect(second?.follows).toEqual({ agent: "builder-1", attempt: 1, session });
  expect(third?.follows).toEqual({ agent: "builder-1", attempt: 2, session });
  expect(new Set(slung.map(({ worktree }) => worktree)).size).toBe(3);
  expect(new Set(slung.map(({ branch }) => branch)).size).toBe(3);
  // Each begins on what has landed before it, and is told that this is another task.
  expect(fleet.repo.git("show", `${second?.branch}:T1.txt`)).toBe("T1");
  expect(fleet.messages(2)[0]?.body).toContain("This is a new task, in a new worktree");
  expect(fleet.messages(2)[0]?.body).toContain(`${goalId}/T1`);
  // What was spent is each one's own.
  const turns = [1, 2, 3].map((number) => fleet.pulse(number)?.usage.turns);
  expect(turns).toEqual([1, 1, 1]);

  const modes = fleet.all("assignment.dispatched").map(({ data }) => data.mode);
  expect(modes).toEqual(["spawn", "send", "send"]);
  const [row] = fleet.rows<{ doc: string }>("select doc from assignments where node_id = 'T2'");
  const { dispatches } = JSON.parse(row?.doc ?? "{}") as { dispatches: { mode: string; target: string }[] };
  expect(dispatches).toMatchObject([{ mode: "send", target: "builder-1#1", result: "ok" }]);
  expect(await fleet.ok("why", `${goalId}/T2`, "--all")).toContain(
    "in the session of builder-1#1, whose work has landed",
  );
});

test("DISP-3: a session that is not there any more is no reason to wait: the next piece begins in a new one, and the log says why", async () => {
  const fleet = await fleetOf({ more: "landing: {mode: review}\n" });
  letContinue(fleet.repo.path);
  const goalId = await plan(fleet, "T1", "T2");
  await fleet.ok("up");
  await eventually(
    () => fleet.all("landing.waiting").length === 1,
    () => "the review of T1",
  );
  for (const path of new Bun.Glob(`**/${fleet.attempt(1).session}.jsonl`).scanSync({ cwd: fleet.state, dot: true }))
    rmSync(join(fleet.state, path));
  await fleet.ok("accept", `${goalId}/T1`);
  await eventually(
    () => fleet.all("landing.waiting").length === 2,
    () => "the review of T2",
  );
  expect(fleet.attempt(2).session).not.toBe(fleet.attempt(1).session);
  expect(fleet.attempt(2).follows).toBeUndefined();
  expect(fleet.all("assignment.dispatched").map(({ data }) => data.mode)).toEqual(["spawn", "spawn"]);
  const done = fleet.all("action.done").map(({ data }) => data.result);
  expect(done).toContainEqual(expect.stringContaining("in a new session: the session of builder-1#1 is not there"));
});

test("DISP-3: Claude Code has the conversation of the piece before it when it does the next one, elsewhere", async () => {
  const world = await ClaudeWorld.start();
  worlds.push(world);
  letContinue(world.repo.path);
  const path = join(world.repo.path, "..", "plan.json");
  writeFileSync(
    path,
    chain(["T1", "T2"], (name) => modelPrompt(`The word of ${name} is ${name}-word`, work(name))),
  );
  await world.ok("goal", "create", "--title", "All", "--plan", path);
  await world.ok("up", "--auto");
  await world.until(() => world.rows("select 1 from events where type = 'goal.completed'").length === 1, "the goal");
  const docs = world
    .rows<{ doc: string }>("select doc from attempts order by attempt")
    .map(({ doc }) => JSON.parse(doc));
  expect(docs).toMatchObject([
    { workNodeId: "T1", agent: "auto-1" },
    {
      workNodeId: "T2",
      agent: "auto-1",
      follows: { attempt: 1, session: docs[0].session },
      session: docs[0].session,
    },
  ]);
  expect(docs[1].worktree).not.toBe(docs[0].worktree);
  const asked = world.model.requests.filter(({ kind }) => kind === "conversation");
  const last = asked.at(-1);
  if (!last) throw new Error("nothing reached the model");
  for (const text of ["T1-word", "T2-word", "So much for T1.", "This is a new task, in a new worktree"])
    expect(textOf(last)).toContain(text);
  expect(asked.filter((request) => !textOf(request).includes("T2-word")).length).toBeGreaterThan(0);
  expect(world.repo.git("ls-tree", "--name-only", "main").split("\n")).toEqual(
    expect.arrayContaining(["T1.txt", "T2.txt"]),
  );
  // The CLI counts on from where the session was; each attempt is charged with its own part.
  const requests = (word: string) => asked.filter((one) => textOf(one).includes("T2-word") === (word === "T2")).length;
  const spent = [1, 2].map((attempt) => world.pulse({ ...docs[attempt - 1] })?.usage.inputTokens);
  expect(spent).toEqual([1000 * requests("T1"), 1000 * requests("T2")]);
});
