/**
 * Hooks as an agent's CLI calls them: the commands as they stand in its settings, run by a shell with the agent's own
 * environment, against a real store, a real runner and real git. What they refuse, what they record, and what becomes
 * of both when the database or the product itself is gone.
 */
import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Step } from "#runtimes/scripted/language.ts";
import { AgentHooks } from "../support/agent-hooks.ts";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { PLANTED_SECRETS } from "../support/secrets.ts";
import { run, say, wait } from "../support/steps.ts";
import { gitIn, tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "detached" });

const edit = (file: string, content = "changed\n"): Step => ({ kind: "edit", file, content });

/** An agent that has had its turn and waits; its runner lives. */
async function idleAgent(fleet: Fleet, ...flags: string[]): Promise<AgentHooks> {
  const { attempt } = await fleet.sling("a", [say("ready")], ...flags);
  await fleet.turns(attempt, 1);
  return new AgentHooks(fleet, attempt);
}

/** An agent whose runner was killed, so that nobody else has the database open; it still counts as living. */
async function orphanedAgent(fleet: Fleet): Promise<AgentHooks> {
  const hooks = await idleAgent(fleet);
  const agent = await fleet.process(hooks.attempt);
  await fleet.kill(fleet.runner(hooks.attempt));
  await fleet.kill(agent);
  // Its last hook (it noticed that its runner was gone) may still be at work, and may have spooled.
  await eventually(
    () => fleet.marked(hooks.attempt).length === 0,
    () => "the agent's last hook to end",
  );
  return hooks;
}

describe("SCOPE-1: what a scripted agent's own tools may do", () => {
  test("it edits inside its scope; outside it, and outside its worktree, it is told why not", async () => {
    const fleet = await fleetOf({ files: { "README.md": "# R\n", "src/a.ts": "1\n" } });
    const { attempt, worktree } = await fleet.sling(
      "a",
      [
        edit("src/b.ts"),
        edit("README.md"),
        run("echo x > ../../../README.md"),
        run("git stash"),
        run("echo note > src/note.txt && git add -A && git commit -qm 'about git stash > x'"),
        say("finished"),
      ],
      "--files",
      "src",
    );
    await fleet.turns(attempt, 1);
    const log = await fleet.said(attempt, "finished");
    expect(log).toContain("README.md is outside your files (src)");
    expect(log).toContain("is outside your worktree");
    expect(log).toContain("The stash is shared");
    expect(gitIn(worktree, "show", "--stat", "--format=", "HEAD")).toContain("src/b.ts");
    expect(gitIn(worktree, "status", "--porcelain")).toBe("");
    expect(readFileSync(`${fleet.repo.path}/README.md`, "utf8")).toBe("# R\n");
    expect(fleet.events(attempt, "checkout.changed")).toEqual([]);
  });

  test("SERENA-2, CLEAN-1: a command that gets past the permit and changes the user's checkout is an event, and a person hears of it once", async () => {
    const fleet = await fleetOf();
    const past = `F=../../../README.md; echo x >> "$F"`;
    const { attempt } = await fleet.sling("a", [run(past), say("finished"), wait, run("echo y > y"), say("again")]);
    const [changed] = await eventually(
      () => {
        const events = fleet.events(attempt, "checkout.changed");
        return events.length > 0 && events;
      },
      () => "checkout.changed",
    );
    expect(changed?.data.what).toEqual(["files"]);
    const asked = () => fleet.rows<{ text: string }>("select doc ->> 'text' as text from questions");
    expect(asked()).toEqual([{ text: expect.stringMatching(/changed during a turn of a#1 .*: files\..*README\.md/) }]);
    // What the person changes while it works on its own files is nobody's question.
    writeFileSync(join(fleet.repo.path, "mine.txt"), "mine\n");
    await fleet.ok("mail", "send", "--to", "a", "--subject", "go", "--body", "on");
    writeFileSync(join(fleet.repo.path, "mine.txt"), "mine again\n");
    await fleet.said(attempt, "again");
    expect(asked()).toHaveLength(1);
  });

  test("a path through a link is judged by where it leads, also when it leads to nothing yet", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet);
    symlinkSync("/etc", join(hooks.worktree, "link"));
    symlinkSync(join(fleet.repo.path, "new-file"), join(hooks.worktree, "dangling"));
    expect((await hooks.write("link/passwd")).denied).toContain("outside your worktree");
    expect((await hooks.write("dangling")).denied).toContain("outside your worktree");
    expect((await hooks.write("link/../README.md")).denied).toContain("outside your worktree");
    expect(await hooks.write("src/new/deep.ts")).toMatchObject({ code: 0, stdout: "" });
    expect((await hooks.permit("Bash", { command: "echo x > link/motd" })).denied).toContain("outside your worktree");
  });

  test("what Bun is told beside the agent's files does not reach its permit", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet);
    writeFileSync(join(hooks.worktree, "bunfig.toml"), 'preload = ["./first.ts"]\n');
    writeFileSync(join(hooks.worktree, "first.ts"), "process.exit(0);\n");
    writeFileSync(join(hooks.worktree, ".env"), "OVERSEER_ATTEMPT=999\n");
    expect((await hooks.write("/etc/passwd")).denied).toContain("outside your worktree");
    const { OVERSEER_ATTEMPT: _unset, ...env } = hooks.env;
    expect((await hooks.write("src/a.ts", env)).denied).toBeUndefined();
  });

  test("a call longer than a pipe holds is read to its end", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet);
    const content = "ä".repeat(3_000_000);
    expect((await hooks.permit("Write", { content, file_path: "src/a.ts" })).denied).toBeUndefined();
    expect((await hooks.permit("Write", { content, file_path: "/etc/passwd" })).denied).toContain("outside");
  });

  test("a role that reads may not write", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet, "--capability", "scout");
    expect((await hooks.write()).denied).toContain("only reads");
    expect((await hooks.permit("Bash", { command: "git log -1" })).denied).toBeUndefined();
  });
});

describe("FENCE-1: an attempt that has ended", () => {
  test("may use no tool any more, asked about or not, and what its hooks say changes nothing", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet);
    const read = { tool_name: "Read", tool_input: { file_path: "README.md" } };
    expect((await hooks.record("PreToolUse", read)).stdout).toBe("");
    await fleet.ok("stop", "a");
    await fleet.ended(hooks.attempt);
    const before = fleet.signals(hooks.attempt).length;
    expect((await hooks.write()).denied).toContain("has ended");
    expect((await hooks.permit("Bash", { command: "ls" })).denied).toContain("has ended");
    expect((await hooks.record("PreToolUse", read)).denied).toContain("has ended");
    expect(await hooks.record("Notification", { message: "late" })).toMatchObject({ code: 0, stdout: "" });
    expect(fleet.signals(hooks.attempt)).toHaveLength(before);
    // Refused and recorded, once, however often it happens.
    const [fenced, ...more] = fleet.events(hooks.attempt, "agent.fenced");
    expect(fenced?.data.what).toBe("it wanted to change something after its end");
    expect(more).toEqual([]);
  });

  test("is in the log when only a recording hook spoke for it", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet);
    await fleet.ok("stop", "a");
    await fleet.ended(hooks.attempt);
    await hooks.record("Notification", { message: "late" });
    await hooks.record("SessionEnd", { reason: "other" });
    const what = fleet.events(hooks.attempt, "agent.fenced").map((event) => event.data.what);
    expect(what).toEqual(["Notification of its hooks came after its end"]);
  });

  test("rules that are missing, or another attempt's, allow nothing", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet);
    hooks.env.OVERSEER_ATTEMPT = String(hooks.attempt + 1);
    expect((await hooks.write()).denied).toContain("not of #");
    hooks.env.OVERSEER_ATTEMPT = String(hooks.attempt);
    renameSync(`${hooks.directory}/policy.json`, `${hooks.directory}/gone.json`);
    expect((await hooks.write()).denied).toContain("rules of this attempt are missing");
    renameSync(`${hooks.directory}/gone.json`, `${hooks.directory}/policy.json`);
    expect((await hooks.write()).denied).toBeUndefined();
  });
});

describe("HOOK-3: whatever is wrong, recording hooks end well and lose nothing", () => {
  const notified = (fleet: Fleet, attempt: number) => fleet.signals(attempt).filter((one) => one.kind === "notified");

  test("a database that somebody writes to for long: spooled, then folded by the runner, once", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet);
    const db = new Database(`${fleet.state}/overseer.db`, { readwrite: true });
    db.run("pragma busy_timeout = 15000");
    db.run("begin immediate");
    expect(await hooks.record("Notification", { message: "one" })).toMatchObject({ code: 0, stdout: "" });
    expect(await hooks.record("PreCompact", { trigger: "auto" })).toMatchObject({ code: 0, stdout: "" });
    expect(hooks.spooled.length).toBe(2);
    // Reading does not wait for writers, so the permit still knows, and allows.
    expect((await hooks.write()).denied).toBeUndefined();
    db.run("rollback");
    db.close();
    await eventually(
      () => hooks.spooled.length === 0,
      () => "the spool to be folded",
    );
    const kinds = fleet.signals(hooks.attempt).map((one) => one.kind);
    expect(kinds.filter((kind) => kind === "notified" || kind === "compaction.started")).toEqual([
      "notified",
      "compaction.started",
    ]);
  });

  const broken: [why: string, breakIt: (db: string) => void][] = [
    ["missing", () => {}],
    ["damaged", (db) => writeFileSync(db, "this is no database".repeat(500))],
    ["empty", (db) => writeFileSync(db, "")],
  ];
  test.each(broken)(
    "a database that is %s: tools continue, payloads are spooled, writes are refused",
    async (_why, breakIt) => {
      const fleet = await fleetOf();
      const hooks = await orphanedAgent(fleet);
      const before = hooks.spooled.length;
      const path = `${fleet.state}/overseer.db`;
      const files = ["", "-wal", "-shm"].filter((end) => existsSync(`${path}${end}`));
      for (const end of files) renameSync(`${path}${end}`, `${path}.kept${end}`);
      breakIt(path);
      const read = { tool_name: "Read", tool_input: { file_path: "README.md" } };
      expect(await hooks.record("PreToolUse", read)).toMatchObject({ code: 0, stdout: "" });
      expect(await hooks.record("Notification", { message: "kept" })).toMatchObject({ code: 0, stdout: "" });
      expect(hooks.spooled).toHaveLength(before + 1);
      expect((await hooks.write()).denied).toContain("cannot be read");
      expect((await hooks.permit("Bash", { command: "ls" })).denied).toContain("cannot be read");
      for (const end of files) renameSync(`${path}.kept${end}`, `${path}${end}`);
      // Whoever buries it folds what it left.
      await fleet.run("stop", "a");
      expect((await fleet.ended(hooks.attempt)).end?.cause).toBe("died");
      expect(notified(fleet, hooks.attempt)).toHaveLength(1);
      expect(hooks.spooled).toEqual([]);
    },
  );

  test("a database of a newer version is left alone", async () => {
    const fleet = await fleetOf();
    const hooks = await orphanedAgent(fleet);
    const before = hooks.spooled.length;
    const db = new Database(`${fleet.state}/overseer.db`, { readwrite: true });
    db.run("pragma busy_timeout = 15000");
    const { user_version: version } = db.query("pragma user_version").get() as { user_version: number };
    db.run("pragma user_version = 999");
    expect(await hooks.record("Notification", { message: "kept" })).toMatchObject({ code: 0, stdout: "" });
    expect(hooks.spooled).toHaveLength(before + 1);
    db.run(`pragma user_version = ${version}`);
    db.close();
  });

  test("the product moved away: recording says nothing, the permit refuses", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet);
    const moved = (command: string) => command.replace("/dist/", "/dist-that-was-moved/");
    expect(moved(hooks.command("Stop"))).not.toBe(hooks.command("Stop"));
    expect(await hooks.call(moved(hooks.command("Stop")), {})).toEqual({ code: 0, stdout: "", denied: undefined });
    const refused = await hooks.call(moved(hooks.command("PreToolUse", "permit")), { tool_name: "Write" });
    expect(refused.code).toBe(0);
    expect(refused.denied).toContain("permit hook could not run");
    // More than a pipe takes: a CLI that cannot write it all holds the hook for failed, and some then let the tool run.
    const long = { tool_name: "Write", tool_input: { content: "x".repeat(1_000_000) } };
    expect((await hooks.call(moved(hooks.command("Stop")), long)).code).toBe(0);
    expect((await hooks.call(moved(hooks.command("PreToolUse", "permit")), long)).denied).toContain("could not run");
  });

  test("nonsense on standard input: recording says nothing, the permit refuses", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet);
    for (const text of ["", "{", "[]", "null", "\0\xff"]) {
      const record = Bun.spawnSync(["sh", "-c", hooks.command("Stop")], { env: hooks.env, stdin: Buffer.from(text) });
      expect([record.exitCode, record.stdout.toString()]).toEqual([0, ""]);
      const permit = hooks.command("PreToolUse", "permit");
      const refused = Bun.spawnSync(["sh", "-c", permit], { env: hooks.env, stdin: Buffer.from(text) });
      expect(refused.stdout.toString()).toContain('"deny"');
    }
  });

  test("EDGE-3: 50 hooks at once: none fails, none is lost, none counts twice", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet);
    const calls = Array.from({ length: 50 }, (_, index) => hooks.record("Notification", { message: `n${index}` }));
    for (const answer of await Promise.all(calls)) expect(answer).toMatchObject({ code: 0, stdout: "" });
    await eventually(
      () => hooks.spooled.length === 0 && notified(fleet, hooks.attempt).length >= 50,
      () => `50 notifications; ${notified(fleet, hooks.attempt).length}, ${hooks.spooled.length} spooled`,
    );
    const texts = notified(fleet, hooks.attempt).map((one) => (one.kind === "notified" ? one.data.text : ""));
    expect(texts.toSorted()).toEqual(Array.from({ length: 50 }, (_, index) => `n${index}`).toSorted());
    expect(fleet.pulse(hooks.attempt)?.beats).toBe(fleet.signals(hooks.attempt).length);
  });
});

describe("what hooks record", () => {
  test("HOOK-2: of a driven agent, what its stream does not say, and nothing that it does", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet);
    const before = fleet.pulse(hooks.attempt);
    await hooks.record("PreToolUse", { tool_name: "Read", tool_use_id: "t1", tool_input: {} });
    await hooks.record("PostToolUse", { tool_name: "Read", tool_use_id: "t1", tool_input: {}, tool_response: "x" });
    await hooks.record("Stop", { last_assistant_message: "done" });
    expect(fleet.pulse(hooks.attempt)?.beats).toBe(before?.beats);
    await hooks.record("SubagentStart", { agent_id: "s1", agent_type: "general" });
    await hooks.record("PermissionRequest", { tool_name: "Write", tool_input: { file_path: "x" } });
    await hooks.record("SessionEnd", { reason: "other" });
    const kinds = fleet.signals(hooks.attempt).map((one) => one.kind);
    expect(kinds.slice(-3)).toEqual(["sub.started", "permission.asked", "session.closed"]);
  });

  test("HOOK-2: of an interactive one, turns and tool calls too, each once", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet);
    const policy = JSON.parse(readFileSync(`${hooks.directory}/policy.json`, "utf8"));
    writeFileSync(`${hooks.directory}/policy.json`, JSON.stringify({ ...policy, interactive: true }));
    const before = fleet.pulse(hooks.attempt);
    const call = { tool_name: "Bash", tool_use_id: "t1", tool_input: { command: "false" } };
    await hooks.record("UserPromptSubmit", { prompt_id: "p1", prompt: "go" });
    await hooks.record("PreToolUse", call);
    await hooks.record("PreToolUse", call);
    await hooks.record("PostToolUseFailure", { ...call, error: "Exit code 1", duration_ms: 12 });
    await hooks.record("Stop", { prompt_id: "p1", last_assistant_message: "tried" });
    const after = fleet.pulse(hooks.attempt);
    expect((after?.turns ?? 0) - (before?.turns ?? 0)).toBe(1);
    expect((after?.usage.toolCalls ?? 0) - (before?.usage.toolCalls ?? 0)).toBe(1);
    expect(after?.calls.at(-1)).toMatchObject({ tool: "Bash", ok: false, errorClass: "exit-1", ms: 12 });
  });

  test("what hooks keep is as long as the configuration says", async () => {
    const fleet = await fleetOf({ more: "store: { caps: { payload: 512B } }\n" });
    const hooks = await idleAgent(fleet);
    await hooks.record("PostCompact", { trigger: "auto", compact_summary: "word ".repeat(300) });
    const told = fleet.signals(hooks.attempt).at(-1);
    const summary = told?.kind === "compaction.ended" ? told.data.summary : "";
    expect(summary).toContain("clipped");
    expect(summary.length).toBeLessThanOrEqual(512);
  });

  test("STORE-7: secrets in what tools are given and give back are nowhere in database, logs or spool", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet);
    const texts = PLANTED_SECRETS.map(({ text }) => text);
    const tell = async () => {
      await hooks.record("Notification", { message: texts.slice(0, 5).join("\n") });
      for (const text of texts)
        await hooks.record("PermissionRequest", { tool_name: "Bash", tool_input: { command: text } });
    };
    const few = texts.splice(12);
    await tell();
    const db = new Database(`${fleet.state}/overseer.db`, { readwrite: true });
    db.run("begin immediate");
    texts.splice(0, texts.length, ...few.slice(0, 12));
    await tell();
    expect(hooks.spooled.length).toBeGreaterThan(0);
    const leaks = (place: string, kept: string) =>
      PLANTED_SECRETS.filter(({ secret }) => kept.includes(secret)).map(({ kind }) => `${kind} in ${place}`);
    for (const name of hooks.spooled) {
      expect(leaks(name, readFileSync(`${fleet.state}/run/spool/${hooks.attempt}/${name}`, "latin1"))).toEqual([]);
    }
    db.run("rollback");
    db.close();
    await eventually(
      () => hooks.spooled.length === 0,
      () => "the spool to be folded",
    );
    for (const end of ["", "-wal"]) {
      const path = `${fleet.state}/overseer.db${end}`;
      if (existsSync(path)) expect(leaks(path, readFileSync(path, "latin1"))).toEqual([]);
    }
    for (const name of ["session.log", "events.ndjson", "tools.ndjson", "errors.log"] as const) {
      expect(leaks(name, fleet.log(hooks.attempt, name))).toEqual([]);
    }
  });
});

describe("PRIME-1", () => {
  test("a compacted session is told its assignment again; a fresh one is told nothing", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet, "--files", "src");
    expect((await hooks.record("SessionStart", { source: "startup" })).stdout).toBe("");
    const { stdout } = await hooks.record("SessionStart", { source: "compact" });
    const { hookSpecificOutput } = JSON.parse(stdout);
    expect(hookSpecificOutput.hookEventName).toBe("SessionStart");
    expect(hookSpecificOutput.additionalContext).toContain("Your context was compacted");
    expect(hookSpecificOutput.additionalContext).toContain("attempt #1");
    expect(hookSpecificOutput.additionalContext).toContain("src");
  });

  test("prime tells an agent what it is at and not that it was compacted, and whoever leads where things stand", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet);
    const asAgent = Bun.spawnSync([join(import.meta.dir, "../../bin/overseer"), "prime"], {
      cwd: hooks.worktree,
      env: hooks.env,
    });
    expect(asAgent.stdout.toString()).toContain("Your assignment");
    expect(asAgent.stdout.toString()).not.toContain("compacted");
    expect(await fleet.ok("prime", "a", "--compact")).toContain("Your assignment");
    const lead = await fleet.ok("prime");
    expect(lead).toContain("a#1");
    expect(lead).toContain("Open questions");
  });
});

describe("settings", () => {
  test("HOOK-4: the user's own hooks run beside ours", async () => {
    const fleet = await fleetOf();
    const marker = join(tempDir("hook-"), "it's here");
    writeFileSync(
      `${fleet.userDir}/hooks.yaml`,
      `SessionStart:\n  - command: touch ${JSON.stringify(JSON.stringify(marker)).slice(1, -1).replaceAll('\\"', '"')}\n`,
    );
    const hooks = await idleAgent(fleet);
    await eventually(
      () => existsSync(marker),
      () => marker,
    );
    expect(fleet.signals(hooks.attempt).map((one) => one.kind)).toContain("session.opened");
  });

  test("HOOK-4: a hooks.yaml that is wrong is said before anything is made", async () => {
    const fleet = await fleetOf();
    writeFileSync(`${fleet.userDir}/hooks.yaml`, "SessionStrat:\n  - command: date\n");
    const { code, stderr } = await fleet.run("sling", "--runtime", "scripted", "--prompt", "x");
    expect(code).toBe(6);
    expect(stderr).toContain("SessionStart");
    expect(fleet.rows("select 1 from attempts")).toEqual([]);
  });

  test("CLEAN-1: neither the worktree nor the user's checkout has a file of ours", async () => {
    const fleet = await fleetOf();
    const before = fleet.repo.git("status", "--porcelain");
    const hooks = await idleAgent(fleet);
    expect(gitIn(hooks.worktree, "status", "--porcelain", "--ignored")).toBe("");
    expect(fleet.repo.git("status", "--porcelain")).toBe(before);
  });

  test("hooks can be called by name, under both names", async () => {
    const fleet = await fleetOf();
    const hooks = await idleAgent(fleet);
    const program = join(import.meta.dir, "../../bin/overseer");
    for (const name of ["hook", "log"]) {
      const said = Bun.spawnSync([program, name, "Notification"], {
        env: hooks.env,
        stdin: Buffer.from(JSON.stringify({ message: `by ${name}` })),
      });
      expect([said.exitCode, said.stdout.toString()]).toEqual([0, ""]);
    }
    const texts = fleet.signals(hooks.attempt).map((one) => (one.kind === "notified" ? one.data.text : ""));
    expect(texts).toContain("by hook");
    expect(texts).toContain("by log");
  });

  test("HOOK-3: hook and log answer whoever is no agent, and an agent that asks; its calls still fail open", async () => {
    const program = join(import.meta.dir, "../../bin/overseer");
    const { OVERSEER_ATTEMPT: _none, ...person } = process.env;
    const agent = { ...person, OVERSEER_ATTEMPT: "7", OVERSEER_ROOT: "/nowhere" };
    const rows: [words: string[], env: NodeJS.ProcessEnv, code: number, says: RegExp][] = [
      [["hook", "--help"], person, 0, /Reads the hook's JSON/],
      [["log", "--help"], agent, 0, /Reads the hook's JSON/],
      [["hook"], person, 2, /event/],
      [["hook"], agent, 2, /event/],
      [["log", "nonsense"], person, 2, /nonsense/],
      [["log", "Stop"], person, 2, /Only the hooks of an agent/],
      [["log", "nonsense"], agent, 0, /"nonsense" is no event/],
      [["hook", "Stop"], agent, 0, /^$/],
    ];
    for (const [words, env, code, says] of rows) {
      const said = Bun.spawnSync([program, ...words], { env, stdin: Buffer.from("{}") });
      expect([words, said.exitCode]).toEqual([words, code]);
      expect(`${said.stdout}${said.stderr}`).toMatch(says);
    }
  });
});
