/**
 * The real Claude Code in a project that tries to be rid of the permit: settings of the project, committed or written by
 * the agent itself, a folder nobody told the CLI to trust, and a CLI that calls no hooks at all.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Status } from "#control/status.ts";
import type { Finding } from "#domain/health/checkup.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { systemCode } from "#errors.ts";
import { HTTP_SETTINGS_FILE } from "#runtimes/hook-dialect.ts";
import { renderScript } from "#runtimes/scripted/language.ts";
import { hashOfToken } from "#sys/attempt-token.ts";
import { CLAUDE_VERSIONS } from "../support/claude.ts";
import { ClaudeWorld, type Slung } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import { modelPrompt } from "../support/model-server.ts";
import { run, say, wait } from "../support/steps.ts";
import { tempDir } from "../support/temp.ts";

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

/** What doctor says about each thing. */
async function findings(fleet: ClaudeWorld): Promise<ReadonlyMap<string, Finding>> {
  const said = JSON.parse((await fleet.run("doctor", "--json")).stdout) as { findings: Finding[] };
  return new Map(said.findings.map((finding) => [finding.check, finding]));
}

const DID_NOT_ASK = "Claude Code ran a command in this project and did not ask it";
const OFF = JSON.stringify({
  disableAllHooks: true,
  env: { CLAUDE_CODE_SIMPLE: "1" },
  permissions: { allow: ["Bash"] },
});

test.each(CLAUDE_VERSIONS)(
  "HOOK-3, SCOPE-1: in Claude Code %s no settings of the project switch the permit off, and no agent writes any",
  async (version) => {
    const fleet = await begin({
      version,
      files: { ".claude/settings.json": OFF, ".claude/settings.local.json": OFF },
    });
    const found = await findings(fleet);
    expect(found.get("permit")).toMatchObject({ ok: true, detail: expect.stringContaining("asks it in this project") });
    expect(found.get("project settings")?.detail).toContain("disableAllHooks, which is outweighed");
    expect(fleet.model.requests).toHaveLength(0);
    // FENCE-1: another's word, by every variable that says who speaks.
    await fleet.sling(`Work ${renderScript([say("Here."), wait])}`, "--name", "bob", "--runtime", "scripted");
    const asBob = "OVERSEER_ATTEMPT=1 OVERSEER_AGENT=bob overseer";
    const steps = [
      { kind: "edit", file: ".claude/settings.json", content: OFF } as const,
      run(`echo '${OFF}' > .mcp.json`),
      run("git stash --include-untracked"),
      run("echo through > allowed.txt"),
      run("exit 3"),
      run("overseer work report --status in_progress --summary 'of its own'"),
      run(`${asBob} work report --status in_progress --summary stolen`),
      run(`OVERSEER_SOCKET=\${OVERSEER_SOCKET%a2}a1 ${asBob} ask stolen`),
      run(`env -u OVERSEER_SOCKET ${asBob} mail send --to human --subject s --body stolen`),
      say("Done."),
    ];
    const slung = await fleet.sling(modelPrompt("Try it", steps));
    await fleet.turns(slung, 1);
    const ended = fleet.signals(slung, "tool.ended").map(({ data }) => data);
    expect(ended.map(({ ok }) => ok)).toEqual([false, false, false, true, false, true, false, false, false]);
    for (const { result } of ended.slice(-3)) expect(result).toContain("This is not attempt #1 speaking");
    expect(fleet.events(slung, "update.taken")).toHaveLength(1);
    expect(
      fleet.rows("select seq from events where attempt = 1 and type in ('update.taken', 'question.asked')"),
    ).toEqual([]);
    expect(fleet.rows("select id from messages where kind = 'mail'")).toEqual([]);
    // The CLI's own rules speak first, and would also without a hook.
    expect(ended[0]?.result).toContain("denied by your permission settings");
    expect(ended[1]?.result).toContain("sets up the agents themselves");
    expect(ended[2]?.result).toContain("The stash is shared");
    expect(existsSync(join(slung.worktree, ".mcp.json"))).toBe(false);
    expect(fleet.status(slung)).toBe("?? allowed.txt");
    // The permit was heard at every call that was made, and its marks were taken away.
    expect(readdirSync(join(fleet.state, "run/attempts", String(slung.attempt), "heard"))).toEqual([]);
    expect(fleet.events(slung, "agent.unguarded")).toEqual([]);
  },
);

test("HOOK-3, SCOPE-1, FENCE-1: with its runner killed or frozen in mid-call an agent writes nothing, whoever has the port next", async () => {
  const fleet = await begin({ hookSeconds: 1, terminal: "detached" });
  const outside = join(tempDir("outside-"), "file.txt");
  const steps = [
    run("touch began; for i in $(seq 600); do [ -e go ] && exit 0; sleep 0.05; done"),
    { kind: "edit", file: outside, content: "out of its scope\n" } as const,
    { kind: "edit", file: "inside.txt", content: "in its worktree\n" } as const,
    run("echo by a shell > shell.txt"),
    say("Done."),
  ];
  const killed = await fleet.sling(modelPrompt("killed", steps), "--name", "killed");
  const frozen = await fleet.sling(modelPrompt("frozen", steps), "--name", "frozen");
  const both = [killed, frozen];
  for (const { worktree } of both) await fleet.until(() => existsSync(join(worktree, "began")), "its first call");
  const pathOf = ({ attempt }: Slung, name: string) => join(fleet.state, `run/attempts/${attempt}/${name}`);
  const settingsOf = (slung: Slung) => readFileSync(pathOf(slung, HTTP_SETTINGS_FILE), "utf8");
  const permitOf = (slung: Slung) => /http:[^"]*\/permit\/\d+/.exec(settingsOf(slung))?.[0] ?? "";
  const [authorization = ""] = /Bearer \w+/.exec(settingsOf(killed)) ?? [];
  const docOf = ({ attempt }: Slung) => {
    const [row] = fleet.rows<{ doc: string }>("select doc from attempts where attempt = ?", attempt);
    return JSON.parse(row?.doc ?? "{}") as Attempt;
  };
  const runnerOf = (slung: Slung) => docOf(slung).runner?.pid ?? 0;
  const [free, other] = [Number(new URL(permitOf(killed)).port), permitOf(frozen)];
  const stopped = runnerOf(frozen);
  const cli = docOf(killed).process?.pid ?? 0;
  expect(isUp(cli)).toBe(true);
  process.kill(stopped, "SIGSTOP");
  process.kill(runnerOf(killed), "SIGKILL");
  const heard: string[] = [];
  const squatter = await fleet.until(() => squat(free, heard), "the port to be free");
  try {
    await fleet.until(() => !isUp(cli), "the end of the agent without a runner");
    for (const { worktree } of both) writeFileSync(join(worktree, "go"), "");
    const refusals = () =>
      fleet.model.requests.flatMap(({ body }) => JSON.stringify(body).match(/blocking because onFailure/g) ?? []);
    // It is refused three times, and tells of each with every request that follows.
    await fleet.until(() => refusals().length >= 6, "three refusals");
    for (const slung of both) expect(fleet.status(slung)).toBe("?? began\n?? go");
    expect(existsSync(outside)).toBe(false);
    expect(heard).toEqual([]);
    expect(fleet.model.requests.some(({ body }) => JSON.stringify(body).includes("ovtk_"))).toBe(false);
  } finally {
    process.kill(stopped, "SIGCONT");
    await squatter.stop(true);
  }
  const { tokenHash } = JSON.parse(readFileSync(pathOf(frozen, "policy.json"), "utf8")) as { tokenHash: string };
  expect(hashOfToken(authorization.replace("Bearer ", ""))).not.toBe(tokenHash);
  const answer = await fetch(other, { method: "POST", body: "{}", headers: { authorization } });
  expect(await answer.text()).toContain("did not show the secret");
  await fleet.run("stop", "killed");
  const { end } = docOf(killed);
  expect(end).toMatchObject({ cause: "died", wip: expect.stringContaining("refs/overseer/wip/") });
  expect(existsSync(pathOf(killed, HTTP_SETTINGS_FILE))).toBe(false);
});

function isUp(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (systemCode(error) === "ESRCH") return false;
    throw error;
  }
}

/** Somebody else's server at that port, which lets everything pass; undefined while it is taken. */
function squat(port: number, heard: string[]) {
  try {
    return Bun.serve({
      hostname: "127.0.0.1",
      port,
      fetch(request) {
        heard.push(new URL(request.url).pathname);
        return new Response("");
      },
    });
  } catch (error) {
    if (systemCode(error) === "EADDRINUSE") return undefined;
    throw error;
  }
}

/** One task, as a plan in a file. */
function planOf(objective: string): string {
  const path = join(tempDir("plan-"), "plan.json");
  const due = { objective, acceptance: ["It is done."] };
  const phase = { id: "P1", name: "All", ...due, tasks: [{ id: "T1", name: "Begin", ...due }] };
  writeFileSync(path, JSON.stringify({ planVersion: 1, phases: [phase] }));
  return path;
}

test("ADOPT-1: in a folder that Claude Code was never told to trust nothing is started; doctor, sling and status say how to trust it", async () => {
  const hook = (mark: string) => [{ hooks: [{ type: "command", command: `touch ${join(places, mark)}` }] }];
  const places = tempDir("marks-");
  const settings = { hooks: { SessionStart: hook("hook") }, apiKeyHelper: `touch ${join(places, "helper")}; echo k` };
  const server = { command: "sh", args: ["-c", `touch ${join(places, "server")}; cat`] };
  const fleet = await begin({
    trusted: false,
    files: {
      ".claude/settings.json": JSON.stringify(settings),
      ".mcp.json": JSON.stringify({ mcpServers: { evil: server } }),
    },
  });
  const way = `was never told to trust ${fleet.repo.path}; run 'claude' once there and accept`;
  const found = await findings(fleet);
  expect(found.has("permit")).toBe(false);
  expect(found.get("runtime claude-code")).toMatchObject({
    ok: false,
    detail: expect.stringContaining(way),
  });
  expect(found.get("project settings")).toMatchObject({
    ok: true,
    detail: expect.stringMatching(/hooks \(SessionStart\), apiKeyHelper; .mcp.json: MCP servers \(evil\)/),
  });
  // What leads the CLI elsewhere reaches the agents only where it is listed.
  expect(found.get("environment")?.detail).toMatch(/agents get .*ANTHROPIC_BASE_URL/);
  const prompt = modelPrompt("Begin", [say("Never.")]);
  for (const flags of [[], ["--interactive"], ["--dry-run"]]) {
    const refused = await fleet.run("sling", "--prompt", prompt, ...flags);
    expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining(way)]);
  }
  expect(JSON.parse(await fleet.ok("goal", "list", "--json"))).toEqual([]);

  // What was to be dispatched waits in the open, and the waiting costs it nothing.
  await fleet.ok("goal", "create", "Try", "--plan", planOf(prompt));
  for (const _look of [1, 2]) await fleet.ok("tick", "--now");
  const { notStarted } = JSON.parse(await fleet.ok("status", "--json")) as Pick<Status, "notStarted">;
  expect(notStarted).toMatchObject([{ problem: expect.stringContaining(way), nodes: [expect.stringMatching(/T1$/)] }]);
  expect(await fleet.ok("status")).toContain("NOT STARTED (1): Claude Code was never");
  const [action] = fleet.rows<{ doc: string }>("select doc from actions where id like 'spawn:%'");
  expect(JSON.parse(action?.doc ?? "")).toMatchObject({ status: "failed", cause: "FOLDER_NOT_TRUSTED" });
  const up = await fleet.run("up");
  expect([up.code, up.stdout + up.stderr]).toEqual([0, expect.stringContaining(way)]);
  await fleet.ok("down");
  expect(fleet.model.requests).toHaveLength(0);
  expect(readdirSync(places)).toEqual([]);

  fleet.trust();
  const slung = await fleet.sling(modelPrompt("Begin", [say("Now I may.")]));
  await fleet.turns(slung, 1);
  // Trusted, the repository has its way: that is what trusting means.
  expect(readdirSync(places)).toContain("hook");
});

test.each([
  ["driven", []],
  ["on its own screen", ["--interactive"]],
] as const)(
  "HOOK-3: a CLI that calls no hooks is stopped at its first call, %s: its work is kept, a person is asked, nobody else is tried",
  async (_how, flags) => {
    // It is told to be without hooks as a person's own settings could tell it.
    const fleet = await begin({ args: ["--bare"] });
    if (flags.length === 0) {
      expect((await findings(fleet)).get("permit")).toMatchObject({ ok: false, detail: DID_NOT_ASK });
    }
    await fleet.ok("up");
    const prompt = modelPrompt("Begin", [
      run("echo half > half.txt"),
      run("timeout 60 tail -f /dev/null"),
      run("echo more > more.txt"),
      say("Done."),
    ]);
    const slung = await fleet.sling(prompt, ...flags);
    const ended = await fleet.until(() => fleet.events(slung, "agent.ended")[0], "its end");
    expect(ended.data).toMatchObject({
      cause: "stopped",
      detail: expect.stringContaining("the permit hook was not asked"),
    });
    expect(fleet.events(slung, "agent.unguarded")).toMatchObject([{ data: { tool: "Bash" } }]);
    expect(existsSync(join(slung.worktree, "more.txt"))).toBe(false);
    const wip = (ended.data as { wip: string }).wip;
    expect(fleet.repo.git("show", `${wip}:half.txt`)).toBe("half");
    const { questions, goals } = JSON.parse(await fleet.ok("status", "--json")) as Status;
    expect(questions).toMatchObject([
      { text: expect.stringContaining("the permit hook was not asked"), askedBy: "overseer" },
    ]);
    expect(goals).toMatchObject([{ blocked: 1 }]);
    // The daemon has had its say, and has given it to nobody.
    await fleet.ok("tick", "--now");
    expect(fleet.rows("select attempt from attempts")).toHaveLength(1);
  },
);
