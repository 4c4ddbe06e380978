/** The command for Claude Code's own screen, in a real tmux pane: it takes its first message and asks nobody anything. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Attempt } from "#domain/model/attempt.ts";
import { listAgentFiles } from "#domain/permit/agent-files.ts";
import { listOwnPaths } from "#domain/permit/hook-moments.ts";
import { makeClaudeCodeRuntime } from "#runtimes/claude-code/launch.ts";
import type { LaunchRequest } from "#runtimes/runtime.ts";
import type { Step } from "#runtimes/scripted/language.ts";
import { quoteForShell } from "#runtimes/scripted/walk.ts";
import { systemExec } from "#sys/exec.ts";
import type { TerminalHandle } from "#terminals/terminal.ts";
import { CLAUDE_VERSIONS, claudeProgram, knownToTheCli, modelEnvironment } from "../support/claude.ts";
import { ClaudeWorld } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import { modelPrompt, startModelServer, textOf } from "../support/model-server.ts";
import { gitIn, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);
/** Recording hooks that record nothing, and a permit that has no objection. */
const NO_HOOKS = {
  hookCommand: "true",
  permitCommand: "true",
  userHooks: [],
  deniedPaths: [],
  wakePipe: null,
  steered: true,
};

const model = await startModelServer({ speed: 10 });
afterAll(() => model.stop());
beforeAll(bundled);
let world: ClaudeWorld | undefined;
afterEach(async () => {
  await world?.end();
  world = undefined;
});

test.each(CLAUDE_VERSIONS)(
  "RUN-1, HOOK-4: Claude Code %s starts on its own screen with its first message, greets without a warning, and by its deny rules alone writes nothing of ours",
  async (version) => {
    const repo = tempRepo();
    const configDir = tempDir("claude-");
    writeFileSync(join(configDir, ".claude.json"), knownToTheCli(repo.path));
    const worktree = join(tempDir("wt-"), "ada-1");
    repo.git("worktree", "add", "--quiet", "-b", "overseer/ada/T1", worktree);
    const directory = join(tempDir("attempt-"), "1");
    mkdirSync(directory);
    const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", TERM: "xterm-256color", LANG: "C.UTF-8" };
    const runtime = makeClaudeCodeRuntime({
      exec: systemExec(),
      command: [claudeProgram(version)],
      searchPath: env.PATH,
      home: env.HOME,
      configDir,
      keys: [],
      uid: process.getuid?.() ?? -1,
      trustedFolder: null,
    });
    const request: LaunchRequest = {
      worktree,
      directory,
      session: crypto.randomUUID(),
      resume: false,
      model: null,
      permissionMode: "bypassPermissions",
      allowTools: ["Bash"],
      denyTools: ["Agent"],
      systemPromptFile: join(directory, "system-prompt.md"),
      env: { ...env, ...modelEnvironment(model.url) },
    };
    expect(
      await runtime.probe({
        permissionMode: "bypassPermissions",
        interactive: true,
        project: repo.path,
        env: request.env,
      }),
    ).toMatchObject({ ready: true, version });
    writeFileSync(request.systemPromptFile, "You are ada, and this is your overlay.\n");
    const own = { gitCommonDir: join(repo.path, ".git"), userDir: join(repo.path, ".overseer") };
    const hooks = { ...NO_HOOKS, deniedPaths: [...listOwnPaths(own), ...listAgentFiles(worktree)] };
    for (const file of runtime.prepare({ ...request, hooks })) writeFileSync(file.path, file.text, { mode: file.mode });
    const denied = [
      join(own.gitCommonDir, "info/planted"),
      ...["roles/r.yaml", "agents/a.md", "config.yaml", "hooks.yaml", "manifest.yaml"].map((path) =>
        join(own.userDir, path),
      ),
      ...[".claude/settings.json", "deep/.mcp.json", "opencode.json"].map((path) => join(worktree, path)),
    ];
    const calls = denied.map((path) => ({ tool: "Write", input: { file_path: path, content: "planted\n" } }));
    const prompt = modelPrompt(
      "Write it",
      [
        { kind: "say", text: "I begin." },
        { kind: "edit", file: "a.txt", content: "hello\n" },
        { kind: "say", text: "Done." },
      ],
      { 0: { calls } },
    );
    const launch = runtime.screen?.launch(request, prompt);
    if (!launch) throw new Error("no interactive launch");

    const socket = join(tempDir("t-"), "s");
    const tmux = (...words: string[]) => Bun.spawnSync(["tmux", "-S", socket, "-f", "/dev/null", ...words]);
    const variables = Object.entries(launch.env).map(([name, value]) => `${name}=${value}`);
    const command = ["env", "-i", ...variables, ...launch.argv].map(quoteForShell).join(" ");
    tmux("new-session", "-d", "-x", "160", "-y", "120", "-c", launch.cwd, command);
    try {
      const deadline = performance.now() + 30_000;
      while (!existsSync(join(worktree, "a.txt"))) {
        if (performance.now() > deadline) {
          throw new Error(`It wrote nothing; its screen:\n${tmux("capture-pane", "-p").stdout.toString()}`);
        }
        await Bun.sleep(50);
      }
      const seen = model.requests.filter((one) => one.session === request.session && one.kind === "conversation");
      expect(seen.length).toBeGreaterThan(0);
      expect(seen.map(textOf).join("\n")).toContain("You are ada, and this is your overlay.");
      const screen = tmux("capture-pane", "-p", "-S", "-").stdout.toString();
      expect(screen).toContain("Claude Code");
      expect(screen).not.toContain("never matches");
      expect(screen).not.toContain("⚠");
      const refusals = textOf(seen.at(-1) ?? fail("no request")).split("denied by your permission settings").length - 1;
      expect(refusals).toBe(denied.length);
      expect(denied.filter((path) => existsSync(path))).toEqual([]);
    } finally {
      const pid = Number(tmux("display-message", "-p", "#{pane_pid}").stdout.toString());
      tmux("kill-server");
      await ended(pid);
    }
    expect(repo.git("-C", worktree, "status", "--porcelain")).toBe("?? a.txt");
  },
);

/** After its terminal is gone it lives on for a moment and still writes into its configuration. */
async function ended(pid: number): Promise<void> {
  if (!(pid > 1)) return;
  const deadline = performance.now() + 10_000;
  while (isRunning(pid)) {
    if (performance.now() > deadline) {
      process.kill(pid, "SIGKILL");
      return;
    }
    await Bun.sleep(50);
  }
}

function isRunning(pid: number): boolean {
  const state = Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)])
    .stdout.toString()
    .trim();
  return state !== "" && !state.startsWith("Z");
}

test.each(CLAUDE_VERSIONS)(
  "RUN-1: slung with --interactive, Claude Code %s works on its own screen with the permit hook, and all is counted once",
  async (version) => {
    world = await ClaudeWorld.start({ version });
    const fleet = world;
    const before = { settings: fleet.settings(), status: fleet.repo.git("status", "--porcelain") };
    const calls = [
      { tool: "Bash", input: { command: "echo one" } },
      { tool: "Bash", input: { command: "exit 3" } },
      { tool: "Write", input: { file_path: join(fleet.repo.path, "outside.txt"), content: "no\n" } },
    ];
    const steps: Step[] = [
      { kind: "say", text: "I begin." },
      { kind: "edit", file: "a.txt", content: "hello\n" },
      { kind: "commit", message: "Add a" },
      { kind: "report", status: "done", summary: "a is there", evidence: { filesTouched: ["a.txt"] } },
    ];
    const slung = await fleet.sling(
      modelPrompt("Write the file a.txt", steps, { 1: { calls } }),
      "--name",
      "ada",
      "--interactive",
    );
    const [end] = await fleet.turns(slung, 1);
    expect(end?.data).toMatchObject({ ok: true, reason: "completed" });

    const conversation = fleet.model.requests.filter((one) => one.kind === "conversation");
    expect(textOf(conversation[0] ?? fail("nothing reached the model"))).toContain(slung.branch);
    expect(conversation).toHaveLength(4);
    expect(existsSync(join(fleet.repo.path, "outside.txt"))).toBe(false);
    expect(textOf(conversation[2] ?? fail("no third request"))).toContain("outside");

    expect(fleet.signals(slung, "turn.started")).toHaveLength(1);
    expect(fleet.signals(slung, "tool.started").map(({ data }) => data.tool)).toEqual([
      "Write",
      "Bash",
      "Bash",
      "Write",
      "Bash",
    ]);
    const pulse = await fleet.until(() => {
      const now = fleet.pulse(slung);
      return now && now.usage.inputTokens >= 4000 && now.usage.costUsd > 0 ? now : undefined;
    }, "what it cost");
    expect(pulse).toMatchObject({
      inTurn: false,
      usage: { inputTokens: 4000, outputTokens: 40, toolCalls: 5, turns: 1 },
    });
    expect(pulse.contextWindow).toBeGreaterThan(0);
    expect(fleet.signals(slung, "session.started")).toMatchObject([{ data: { version } }]);
    await fleet.until(
      () => fleet.rows("select 1 from messages where status = 'seen'").length === 1,
      "the receipt of the first message",
    );
    const claimed = () => fleet.rows<{ data: string }>("select data from events where type = 'work.claimed'");
    await fleet.until(() => claimed().length === 1, "its report, taken from its last words");
    expect(JSON.parse(claimed()[0]?.data ?? "{}")).toMatchObject({ summary: "a is there" });
    expect(gitIn(slung.worktree, "show", "HEAD:a.txt")).toBe("hello");
    expect(fleet.status(slung)).toBe("");
    expect(fleet.repo.git("status", "--porcelain")).toBe(before.status);
    expect(fleet.settings()).toBe(before.settings);

    await fleet.ok("stop", slung.agent);
    const [attempt] = fleet.rows<{ status: string }>("select status from attempts where attempt = ?", slung.attempt);
    expect(attempt?.status).toBe("ended");
    expect(fleet.signals(slung, "session.closed")).toHaveLength(1);
    const told = await fleet.ok("peek", slung.agent, "-n", "100");
    expect(told).toMatch(/❯ \S+ human:\S+: Please do/);
    expect(told).toContain("\n● I begin.\n⚙ Write a.txt\n    +hello\n");
    expect(told).toContain("\n⚙ Bash exit 3\n  ✗ Exit code 3\n");
    expect(told).toMatch(/ada#1 has ended\. It was stopped/);
    // Told by hooks, and in the logs all the same; files and commits too.
    expect(fleet.signals(slung, "file.changed")).toMatchObject([{ data: { path: expect.stringContaining("a.txt") } }]);
    expect(fleet.signals(slung, "committed")).toMatchObject([{ data: { commits: [{ subject: "Add a" }] } }]);
    const log = readFileSync(join(fleet.logDir(slung), "events.ndjson"), "utf8");
    for (const kind of ["turn.started", "tool.started", "tool.ended", "file.changed", "committed"] as const) {
      expect(log.split(`"event":"${kind}"`).length - 1).toBe(fleet.signals(slung, kind).length);
    }
  },
);

test.each(CLAUDE_VERSIONS)(
  "RUN-1: on the screen of Claude Code %s a turn can be interrupted, which no hook tells",
  async (version) => {
    world = await ClaudeWorld.start({ version });
    const fleet = world;
    const steps: Step[] = [
      { kind: "run", command: "touch started; for i in $(seq 600); do [ -e go ] && exit 0; sleep 0.05; done" },
      { kind: "say", text: "Never." },
    ];
    const slung = await fleet.sling(modelPrompt("Wait", steps), "--name", "ada", "--interactive");
    await fleet.until(() => existsSync(join(slung.worktree, "started")), "the tool");
    await fleet.ok("pause", slung.agent, "--now");
    const end = await fleet.until(
      () => fleet.signals(slung, "turn.ended").find(({ data }) => data.reason === "interrupted"),
      "the interrupted turn",
    );
    expect(end.data.ok).toBe(false);
    expect(fleet.pulse(slung)?.inTurn).toBe(false);
    const conversation = fleet.model.requests.filter((one) => one.kind === "conversation");
    await fleet.until(() => (fleet.pulse(slung)?.usage.inputTokens ?? 0) >= conversation.length * 1000, "all usage");
    expect(fleet.pulse(slung)?.usage.inputTokens).toBe(conversation.length * 1000);
    expect(fleet.signals(slung, "process.exited")).toEqual([]);
  },
);

test("FAIL-9: an agent on its own screen that died with its tmux server is continued: the same session, on a new screen", async () => {
  world = await ClaudeWorld.start({});
  const fleet = world;
  const steps: Step[] = [
    { kind: "edit", file: "half.txt", content: "half\n" },
    { kind: "run", command: "touch started; for i in $(seq 1200); do [ -e go ] && exit 0; sleep 0.05; done" },
    { kind: "say", text: "It went on." },
  ];
  const slung = await fleet.sling(modelPrompt("Wait", steps), "--name", "ada", "--interactive");
  await fleet.until(() => existsSync(join(slung.worktree, "started")), "the tool");
  await fleet.ok("up");
  const attempts = () =>
    fleet
      .rows<{ doc: string }>("select doc from attempts order by attempt")
      .map(({ doc }) => JSON.parse(doc) as Attempt);
  const [before] = attempts();
  const { socket = "" } = (before?.terminal ?? {}) as Partial<TerminalHandle>;
  const tmux = (...words: string[]) =>
    Bun.spawnSync(["tmux", "-S", socket, ...words])
      .stdout.toString()
      .trim();
  const server = Number(tmux("display-message", "-p", "#{pid}"));
  expect(server).toBeGreaterThan(1);
  process.kill(server, "SIGKILL");
  const next = await fleet.until(
    () => attempts().find(({ attempt, session }) => attempt > slung.attempt && session !== null),
    "it to be continued",
  );
  expect([next.session, next.interactive, next.worktree]).toEqual([before?.session ?? "", true, slung.worktree]);
  expect(readFileSync(join(slung.worktree, "half.txt"), "utf8")).toBe("half\n");
  await fleet.until(() => tmux("list-sessions", "-F", "#{session_name}") === `ov-${next.attempt}`, "its new screen");
  expect(fleet.rows("select 1 from events where type = 'agent.terminal_regained'")).toEqual([]);
});

function fail(what: string): never {
  throw new Error(what);
}
