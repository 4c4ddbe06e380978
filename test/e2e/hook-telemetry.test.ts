/**
 * What is known of an agent after it worked, whichever way it was told: files and commits (HOOK-2), the session's logs,
 * the marks on its own telemetry; and the same hooks when Overseer is the single binary.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Signal, SignalKind } from "#domain/signals/signal.ts";
import type { Step } from "#runtimes/scripted/language.ts";
import { renderScript } from "#runtimes/scripted/language.ts";
import { AgentHooks } from "../support/agent-hooks.ts";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { run, say } from "../support/steps.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "detached" });

const edit = (file: string): Step => ({ kind: "edit", file, content: "changed\n" });

function all<K extends SignalKind>(fleet: Fleet, attempt: number, kind: K): Signal<K>[] {
  return fleet.signals(attempt).filter((one) => one.kind === kind) as unknown as Signal<K>[];
}

/** How often each kind of signal stands in the log of the session. */
function logged(fleet: Fleet, attempt: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of fleet.log(attempt, "events.ndjson").split("\n")) {
    const kind = line === "" ? undefined : (JSON.parse(line) as { event: string }).event;
    if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

test("VALID-9, HOOK-2: hooks capture lifecycle, tool use and edits: sessions, turns, calls, files, git commands and commits are told, each once", async () => {
  const fleet = await fleetOf();
  const script = [
    edit("src/b.ts"),
    run("git add -A && git commit -qm 'say b'"),
    run("git commit -qm 'say more' --allow-empty; false"),
    say("done"),
  ];
  const { attempt } = await fleet.sling("a", script);
  await fleet.turns(attempt, 1);
  const [committed, ...more] = await eventually(
    () => all(fleet, attempt, "committed").length > 0 && all(fleet, attempt, "committed"),
    () => "commits",
  );
  expect(more).toEqual([]);
  expect(committed?.data.count).toBe(2);
  expect(committed?.data.commits.map(({ subject }) => subject)).toEqual(["say more", "say b"]);
  expect(all(fleet, attempt, "file.changed").map(({ data }) => data.path)).toEqual([
    expect.stringMatching(/src\/b\.ts$/),
  ]);
  // The second command failed as a whole; its commit is known all the same.
  expect(all(fleet, attempt, "git.ran").map(({ data }) => data.verb)).toEqual(["commit"]);
  await fleet.said(attempt, "committed 2: say more");
  const seen = (kind: SignalKind) => all(fleet, attempt, kind).length;
  const counts = () => SEEN.map((kind) => [kind, seen(kind)]);
  const before = [1, 0, 1, 1, 3, 3, 1];
  expect(counts()).toEqual(SEEN.map((kind, index) => [kind, before[index] ?? -1]));

  // On its own screen there is no stream, and the hooks of its settings tell turns and calls too.
  const hooks = new AgentHooks(fleet, attempt);
  const policy = JSON.parse(readFileSync(`${hooks.directory}/policy.json`, "utf8")) as object;
  writeFileSync(`${hooks.directory}/policy.json`, JSON.stringify({ ...policy, interactive: true }));
  const call = { tool_name: "Write", tool_use_id: "t1", tool_input: { file_path: "src/c.ts", content: "c" } };
  await hooks.record("SessionStart", { source: "resume" });
  await hooks.record("UserPromptSubmit", { prompt_id: "p1", prompt: "go" });
  await hooks.record("PreToolUse", call);
  await hooks.record("PostToolUse", { ...call, tool_response: "written" });
  await hooks.record("Stop", { prompt_id: "p1", last_assistant_message: "done" });
  await hooks.record("SessionEnd", { reason: "other" });
  expect(counts()).toEqual(SEEN.map((kind, index) => [kind, (before[index] ?? -1) + 1]));
  expect(all(fleet, attempt, "file.changed").at(-1)?.data.path).toMatch(/src\/c\.ts$/);
});

const SEEN = [
  "session.opened",
  "session.closed",
  "turn.started",
  "turn.ended",
  "tool.started",
  "tool.ended",
  "file.changed",
] as const satisfies readonly SignalKind[];

test("LOG-1: what hooks record is in the session's logs as what the stream tells is, once", async () => {
  const fleet = await fleetOf();
  const { attempt } = await fleet.sling("a", [run("true"), say("ready")]);
  await fleet.turns(attempt, 1);
  const hooks = new AgentHooks(fleet, attempt);
  await hooks.record("Notification", { message: "hello" });
  await hooks.record("PreCompact", { trigger: "auto" });
  await fleet.ok("stop", "a");
  await fleet.ended(attempt);
  const inStore: Record<string, number> = {};
  for (const { kind } of fleet.signals(attempt)) inStore[kind] = (inStore[kind] ?? 0) + 1;
  expect(inStore).toMatchObject({ notified: 1, "compaction.started": 1, "tool.ended": 1 });
  expect(logged(fleet, attempt)).toEqual(inStore);
});

test("an agent's own telemetry can be passed through, and says whose it is", async () => {
  const fleet = await fleetOf({
    env: { CLAUDE_CODE_ENABLE_TELEMETRY: "1", OTEL_METRICS_EXPORTER: "otlp", OTEL_LOGS_EXPORTER: "console" },
  });
  const path = `${fleet.userDir}/config.yaml`;
  const passed = "[CLAUDE_CODE_ENABLE_TELEMETRY, OTEL_METRICS_EXPORTER, OTEL_RESOURCE_ATTRIBUTES]";
  writeFileSync(path, readFileSync(path, "utf8").replace("agents:\n", `agents:\n  passEnv: ${passed}\n`));
  const { attempt } = await fleet.sling("a", [run('echo "seen: $OTEL_METRICS_EXPORTER $OTEL_RESOURCE_ATTRIBUTES"')]);
  await fleet.said(attempt, `seen: otlp gen_ai.agent.name=a,overseer.attempt=${attempt}`);
  expect(new AgentHooks(fleet, attempt).env.OTEL_LOGS_EXPORTER).toBeUndefined();
});

test("HOOK-1: the single binary starts agents whose hooks and permit are the binary itself", async () => {
  const binary = join(tempDir("binary-"), "overseer");
  const built = Bun.spawnSync(["sh", join(import.meta.dir, "../../scripts/build.sh"), binary], { stderr: "pipe" });
  expect([built.exitCode, built.stderr.toString()]).toMatchObject([0, expect.anything()]);
  const fleet = await fleetOf();
  const prompt = `Work ${renderScript([edit("src/a.ts"), say("ready")])}`;
  const words = ["sling", "--json", "--runtime", "scripted", "--name", "a", "--prompt", prompt];
  const slung = Bun.spawnSync([binary, ...words], { cwd: fleet.repo.path, env: process.env, stderr: "pipe" });
  expect(slung.stderr.toString()).toBe("");
  const { attempt } = JSON.parse(slung.stdout.toString()) as { attempt: number };
  await fleet.turns(attempt, 1);
  const hooks = new AgentHooks(fleet, attempt);
  expect(hooks.command("Notification")).toContain(`${binary} __hook Notification`);
  expect(hooks.command("PreToolUse", "permit")).toContain(`${binary} __permit`);
  expect(await hooks.record("Notification", { message: "kept" })).toMatchObject({ code: 0, stdout: "" });
  expect(all(fleet, attempt, "notified").map(({ data }) => data.text)).toEqual(["kept"]);
  expect(all(fleet, attempt, "file.changed")).toHaveLength(1);
  expect((await hooks.write("src/b.ts")).denied).toBeUndefined();
  expect((await hooks.write("/etc/passwd")).denied).toContain("outside your worktree");
  const primed = await hooks.record("SessionStart", { source: "compact" });
  expect(primed.stdout).toContain("Your context was compacted");
  expect(Bun.spawnSync([binary, "stop", "a"], { cwd: fleet.repo.path }).exitCode).toBe(0);
  await fleet.ended(attempt);
  expect((await hooks.write("src/b.ts")).denied).toContain("has ended");
  expect(fleet.events(attempt, "agent.fenced")).toHaveLength(1);
  expect(readFileSync(`${fleet.state}/run/attempts/${attempt}/settings.json`, "utf8")).not.toContain("dist/");
});
