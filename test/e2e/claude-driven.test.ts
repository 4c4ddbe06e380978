/**
 * The real Claude Code, put to work by `overseer sling` and driven by its runner, with a scripted model behind it: what
 * reaches the model, what we count, and what is left of it in the repository and in the person's configuration.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Step } from "#runtimes/scripted/language.ts";
import { CLAUDE_VERSIONS, OLDER } from "../support/claude.ts";
import { ClaudeWorld, type Slung } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import { type AnswerOptions, modelPrompt, textOf } from "../support/model-server.ts";
import { run, say } from "../support/steps.ts";
import { gitIn } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let world: ClaudeWorld | undefined;
afterEach(async () => {
  await world?.end();
  world = undefined;
});
async function begin(options: Parameters<typeof ClaudeWorld.start>[0] = {}): Promise<ClaudeWorld> {
  world = await ClaudeWorld.start(options);
  return world;
}

const write = (file: string, content: string): Step => ({ kind: "edit", file, content });
/** Runs until the file `go` is there, but not for ever. */
const untilLetGo = run("touch started; for i in $(seq 600); do [ -e go ] && exit 0; sleep 0.05; done");

test.each(CLAUDE_VERSIONS)(
  "RUN-1: Claude Code %s reads its overlay, edits, commits, and all is counted once",
  async (version) => {
    const fleet = await begin({ version });
    // The agent has a configuration directory of its own here; other tests of this worker may have used HOME before.
    const atHome = () => filesBelow(join(process.env.HOME ?? "", ".claude"));
    const before = { settings: fleet.settings(), status: fleet.repo.git("status", "--porcelain"), home: atHome() };
    const calls = [
      { tool: "Bash", input: { command: "echo one" } },
      { tool: "Bash", input: { command: "echo two" } },
      { tool: "Read", input: { file_path: "README.md" } },
    ];
    const steps = [
      say("I begin."),
      write("a.txt", "hello\n"),
      { kind: "commit", message: "Add a" } as const,
      say("Done."),
    ];
    const slung = await fleet.sling(modelPrompt("Write the file a.txt", steps, { 1: { calls } }), "--name", "ada");
    const [end] = await fleet.turns(slung, 1);
    expect(end?.data).toMatchObject({ ok: true, reason: "completed", text: "Done." });

    const [first] = fleet.model.requests;
    if (!first) throw new Error("nothing reached the model");
    expect(textOf(first)).toContain("Write the file a.txt");
    expect(textOf(first)).toContain("Do not use `git stash`");
    expect(textOf(first)).toContain(slung.branch);
    const offered = (first.body.tools ?? []).map((tool) => tool.name);
    expect(offered).toContain("Bash");
    for (const denied of ["Agent", "AskUserQuestion", "EnterWorktree"]) expect(offered).not.toContain(denied);

    expect(fleet.model.requests).toHaveLength(4);
    expect(fleet.pulse(slung)).toMatchObject({
      inTurn: false,
      contextTokens: 1001,
      usage: { inputTokens: 4000, outputTokens: 40, toolCalls: 5, turns: 1 },
    });
    expect(fleet.pulse(slung)?.usage.costUsd).toBe(end?.data.costUsd ?? 0);
    expect(end?.data.costUsd).toBeGreaterThan(0);
    expect(fleet.signals(slung, "session.started")).toMatchObject([{ data: { version } }]);
    expect(fleet.signals(slung, "turn.started")).toHaveLength(1);
    expect(fleet.signals(slung, "tool.started").map(({ data }) => data.tool)).toEqual([
      "Write",
      "Bash",
      "Bash",
      "Read",
      "Bash",
    ]);
    const ended = fleet.signals(slung, "tool.ended");
    expect(ended.map(({ data }) => data.ok)).toEqual([true, true, true, true, true]);
    expect(new Set(ended.map(({ source }) => source)).size).toBe(5);

    expect(fleet.status(slung)).toBe("");
    expect(gitIn(slung.worktree, "show", "HEAD:a.txt")).toBe("hello");
    expect(fleet.repo.git("status", "--porcelain")).toBe(before.status);
    expect(fleet.settings()).toBe(before.settings);
    expect(atHome()).toEqual(before.home);

    const told = await fleet.ok("peek", "ada");
    expect(told).toMatch(/❯ \S+ human:\S+: Please do/);
    expect(told).toContain("\n● I begin.\n⚙ Write a.txt\n    +hello\n");
    expect(told).toContain("⚙ Bash echo one\n");
    expect(told).toContain("\n  ✓ two\n");
    expect(told).toContain("\n● Done.\n");
  },
);

test("RUN-1: a message is taken at the tool boundary of a running turn; to an idle agent it is a turn; an interrupt ends only the turn", async () => {
  const fleet = await begin();
  const slung = await fleet.sling(modelPrompt("Wait for me", [untilLetGo, run("echo after"), say("Done.")]));
  await fleet.until(() => existsSync(join(slung.worktree, "started")), "the tool");
  await fleet.send(slung, "By the way: hurry up.");
  await fleet.until(() => fleet.rows("select 1 from messages where status = 'handed'").length > 0, "the handing");
  gitIn(slung.worktree, "rev-parse", "HEAD");
  await Bun.write(join(slung.worktree, "go"), "");
  await fleet.turns(slung, 1);
  const second = fleet.model.requests[1];
  if (!second) throw new Error("no second request");
  expect(textOf(second)).toContain("By the way: hurry up.");
  expect(fleet.signals(slung, "turn.started")).toHaveLength(1);
  expect(fleet.signals(slung, "message.taken")).toHaveLength(2);

  await fleet.send(
    slung,
    modelPrompt("More", [run("rm -f go started; echo more > more.txt"), untilLetGo, say("Never.")]),
  );
  await fleet.until(
    () => existsSync(join(slung.worktree, "more.txt")) && existsSync(join(slung.worktree, "started")),
    "the second turn",
  );
  await fleet.ok("pause", slung.agent, "--now");
  const [, interrupted] = await fleet.turns(slung, 2);
  expect(interrupted?.data).toMatchObject({ ok: false, reason: "aborted_tools" });
  expect(fleet.signals(slung, "tool.ended").at(-1)?.data).toMatchObject({ ok: false, errorClass: "interrupted" });

  await fleet.ok("resume", slung.agent);
  await fleet.send(slung, modelPrompt("Again", [say("Here I am.")]));
  const after = await fleet.until(
    () => fleet.signals(slung, "turn.ended").find(({ data }) => data.text === "Here I am."),
    "the turn after the interrupt",
  );
  expect(after.data.ok).toBe(true);
  expect(fleet.signals(slung, "session.started")).toHaveLength(1);
});

test("RUN-1: long idle, its process is ended; with news the session continues, and nothing is counted twice", async () => {
  const fleet = await begin({ idleEnd: "1s" });
  const slung = await fleet.sling(modelPrompt("One", [run("echo one"), say("One.")]));
  await fleet.turns(slung, 1);
  const spent = fleet.pulse(slung)?.usage;
  await fleet.until(() => fleet.signals(slung, "process.exited").length === 1, "the end of the process");
  expect(fleet.signals(slung, "process.exited")).toMatchObject([{ data: { code: 0, asked: true } }]);
  await fleet.send(slung, modelPrompt("Two", [run("echo two"), say("Two.")]));
  const [, second] = await fleet.turns(slung, 2);
  expect(second?.data.text).toBe("Two.");
  const last = fleet.model.requests.at(-1);
  if (!last) throw new Error("no request");
  expect(textOf(last)).toContain("One.");
  const total = fleet.pulse(slung)?.usage;
  expect(spent).toMatchObject({ inputTokens: 2000, outputTokens: 20, turns: 1 });
  expect(total).toMatchObject({ inputTokens: 4000, outputTokens: 40, turns: 2 });
  expect(total?.costUsd).toBeCloseTo(2 * (spent?.costUsd ?? 0), 6);
  expect(fleet.signals(slung, "session.started").map(({ data }) => data.session)).toEqual(
    Array(2).fill(fleet.signals(slung, "session.started")[0]?.data.session),
  );
});

const failures: [cause: string, answer: AnswerOptions][] = [
  [
    "quota",
    { error: { status: 429, type: "rate_limit_error", message: "Slow down", headers: { "retry-after": "1" } } },
  ],
  ["overloaded", { error: { status: 529, type: "overloaded_error", message: "Overloaded" } }],
  ["overloaded", { error: { status: 500, type: "api_error", message: "Boom" } }],
  ["auth", { error: { status: 401, type: "authentication_error", message: "invalid x-api-key" } }],
  ["billing", { error: { status: 400, type: "invalid_request_error", message: "Your credit balance is too low." } }],
  ["unknown", { error: { status: 400, type: "invalid_request_error", message: "Something odd" } }],
  ["network", { hangUp: true }],
  ["network", { cut: true }],
  [
    "too_long",
    {
      error: {
        status: 400,
        type: "invalid_request_error",
        message: "prompt is too long: 300000 tokens > 200000 maximum",
      },
    },
  ],
];

test("QUOTA-1: each failure of the API ends as a signal with its cause, and the agent stays", async () => {
  const fleet = await begin();
  const slung = await failing(fleet, failures);
  const retried = fleet.signals(slung, "api.retry").map(({ data }) => data.cause);
  expect(retried.slice(0, 4)).toEqual(["rate_limit", "overloaded", "server_error", "authentication_failed"]);
  expect(fleet.signals(slung, "api.retry")[0]?.data.delayMs).toBe(1_000); // as the provider asked
  expect(fleet.signals(slung, "compacted").length).toBeGreaterThan(0);
  await fleet.send(slung, modelPrompt("Better now", [say("Back.")]));
  const back = await fleet.until(
    () => fleet.signals(slung, "turn.ended").find(({ data }) => data.ok && data.text === "Back."),
    "recovery",
  );
  expect(back.data.reason).toBe("completed");

  await fleet.model.stop(); // nobody listens any more
  await fleet.send(slung, "Is anybody there?");
  await fleet.turns(slung, failures.length + 3);
  expect(fleet.signals(slung, "api.failed").at(-1)?.data.cause).toBe("network");
});

test.each(OLDER)("QUOTA-1: %s calls a failed turn completed; its causes are known all the same", async (version) => {
  const fleet = await begin({ version });
  const some = failures.filter(([cause]) => cause === "quota" || cause === "billing" || cause === "auth");
  await failing(fleet, some);
});

/** An agent that meets each of these in a turn of its own. */
async function failing(fleet: ClaudeWorld, met: typeof failures): Promise<Slung> {
  const slung = await fleet.sling(modelPrompt("Begin", [run("echo ready"), say("Ready.")]));
  await fleet.turns(slung, 1);
  for (const [index, [, answer]] of met.entries()) {
    const always = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [at, answer]));
    await fleet.send(slung, modelPrompt(`Failure ${index}`, [say("Never.")], always));
    await fleet.turns(slung, index + 2);
  }
  const causes: string[] = fleet.signals(slung, "api.failed").map(({ data }) => data.cause);
  expect(causes).toEqual(met.map(([cause]) => cause));
  expect(fleet.signals(slung, "turn.ended").map(({ data }) => data.ok)).toEqual([true, ...met.map(() => false)]);
  return slung;
}

/** Every file below a directory with its size and time; empty when there is none. */
function filesBelow(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => `${path} ${statSync(path).size} ${statSync(path).mtimeMs}`)
    .sort();
}
