/** `overseer replay` as a user meets it: their own sessions, a score, labels, other limits. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Call } from "#cli/command.ts";
import { readLabelKey } from "#cli/replay/label-keys.ts";
import { printEvidence } from "#cli/replay/said-text.ts";
import { defaultConfig } from "#config/schema.ts";
import { readBuiltInRoles, replayTraces } from "#control/replay.ts";
import type { ShownSentence } from "#control/replay-label.ts";
import type { World } from "#control/world.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { OverseerError } from "#errors.ts";
import { memoryStore } from "#store/memory.ts";
import { systemFiles } from "#sys/files.ts";
import { addRunning } from "../../../test/support/attempts.ts";
import { type Given, heardCall } from "../../../test/support/heard-call.ts";
import { type Moment, SCRIBES } from "../../../test/support/session-scribes.ts";
import { tempDir } from "../../../test/support/temp.ts";
import { worldOn } from "../../../test/support/world.ts";
import command from "./replay.ts";

async function run(given: Given, { env = {}, world }: { env?: Record<string, string>; world?: World } = {}) {
  const { call, lines, values, remarks } = heardCall(given);
  await command.run?.(call, {
    world: async () => world ?? Promise.reject(new OverseerError("not-found", "NO_REPOSITORY", "None.", "None.")),
    machine: () => ({ env }),
  } as never);
  return { text: [...lines, ...remarks].join("\n"), values };
}

/** Somebody who runs the same failing command five times, and then asks. */
const STUCK: readonly Moment[] = [
  { at: 1, person: "Fix it" },
  ...[1, 2, 3, 4, 5].flatMap((at): Moment[] => [
    { at: 10 * at, call: `c${at}`, uses: "shell", what: "npm test", step: `m${at}` },
    { at: 10 * at + 1, result: `c${at}`, text: "boom: cannot find it", exit: 2 },
  ]),
  { at: 100, says: "Should I try another way?" },
];

/** A home in which three agents have left their sessions. */
function homeWithSessions(): string {
  const home = tempDir();
  SCRIBES["Claude Code"]?.write(join(home, ".claude/projects/-repo"), STUCK);
  SCRIBES["Claude Code"]?.write(join(home, ".claude/projects/-repo"), STUCK.slice(0, 3), true);
  SCRIBES.Codex?.write(join(home, ".codex/sessions/2026/03/04"), STUCK);
  SCRIBES["OpenCode, storage"]?.write(join(home, ".local/share/opencode"), STUCK);
  writeFileSync(join(home, ".claude/projects/-repo/notes.md"), "x");
  writeFileSync(join(home, ".claude/projects/-repo/other.jsonl"), '{"a":1}\n');
  return home;
}

const treeOf = (path: string): string[] =>
  readdirSync(path, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => `${name} ${statSync(join(path, name)).mtimeMs}`);

describe("a newcomer's first minute", () => {
  test("READ-1: reads what this user's agents left behind, says the sum first, and touches nothing", async () => {
    const home = homeWithSessions();
    const before = treeOf(home);
    const { text } = await run({}, { env: { HOME: home } });
    const [first = "", second = "", third = ""] = text.split("\n");
    expect(first).toMatch(
      /^Read 5 files \(\d+ KB\): 4 sessions \(1 of sub-agents\) of claude-code, codex, opencode, 16 calls/,
    );
    expect(second).toMatch(/^Overseer would have spoken 3 times in 3 of 4 sessions:$/);
    expect(third).toMatch(/^ {2}loop +3× +in 3 sessions +the same call again with the same result$/);
    expect(text).toContain("turns ended: 3 with a question to a person");
    expect(text).toContain("shell “npm test” failed 3 times with the same result (“boom: cannot find it”)");
    expect(text).toContain("1 more of these; --all shows them.");
    expect(text).toMatch(/1 file gave nothing: no session of an agent that is known\.\n.*other\.jsonl/);
    expect(text).toContain("Not looked at, by their names: 1 .md.");
    expect(treeOf(home)).toEqual(before);
    const all = await run({ all: true }, { env: { HOME: home } });
    expect(all.text).not.toContain("--all");
    expect(all.text.match(/say_\w+/g)).toHaveLength(3);
  });

  test("the directories that the CLIs were told to use come first", async () => {
    const home = homeWithSessions();
    const env = { HOME: "/nowhere", CLAUDE_CONFIG_DIR: join(home, ".claude"), CODEX_HOME: join(home, ".codex") };
    const { values } = await run({ json: true }, { env });
    expect(values[0]).toMatchObject({
      files: 4,
      calls: 11,
      traces: [{ runtime: "codex" }, { runtime: "claude-code" }, {}],
    });
  });

  test("READ-1: what cannot be read is named with the reason, and the rest is read", async () => {
    const home = tempDir();
    const file = SCRIBES.Codex?.write(join(home, "open"), STUCK) ?? "";
    const pipe = join(home, "pipe.jsonl");
    Bun.spawnSync(["mkfifo", pipe]);
    const { text } = await run({ traces: [home, file, `${home}/open/../open`] });
    expect(text).toMatch(/^Read 1 file /);
    expect(text).toContain("1 file gave nothing: it is a pipe, a socket or a device, which is not read.");
    const named = await run({ traces: [pipe] });
    expect(named.text).toContain("it is a pipe, a socket or a device, which is not read");
    expect(named.text).toContain("--traces <dir>");
    symlinkSync(file, join(home, "link"));
    expect((await run({ traces: [join(home, "link")] })).text).toMatch(/^Read 1 file /);
  });

  test("READ-1: a directory that is closed to this user does not end the reading", async () => {
    const home = tempDir();
    SCRIBES.Codex?.write(join(home, "open"), STUCK);
    mkdirSync(join(home, "shut"));
    const files = systemFiles();
    const refuse = async (path: string) => {
      if (path.endsWith("/shut")) throw Object.assign(new Error("EACCES"), { code: "EACCES" });
      return files.list(path);
    };
    const { reflex } = defaultConfig();
    const input = {
      files: { ...files, list: refuse },
      places: [home],
      reflex,
      roles: readBuiltInRoles(),
      role: "builder",
    };
    const { traces, nothing } = await replayTraces(input);
    expect(traces).toHaveLength(1);
    expect(nothing).toEqual([{ file: "shut", why: "the directory cannot be read (EACCES)" }]);
    expect((await replayTraces({ ...input, places: [join(home, "shut")] })).nothing).toMatchObject([
      { why: "the directory cannot be read (EACCES)" },
    ]);
  });

  test("a sentence comes with the calls before it, redacted", async () => {
    const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    const told = STUCK.map((one) => ("text" in one ? { ...one, text: `boom: cannot find ${secret}` } : one));
    const file = SCRIBES.Codex?.write(tempDir(), told) ?? "";
    const { values } = await run({ traces: [file], json: true });
    const [{ evidence }] = (values[0] as { traces: [{ fired: [{ evidence: object[] }] }] }).traces[0].fired;
    expect(evidence).toMatchObject([
      { ordinal: 1, tool: "shell", ok: false },
      { ordinal: 2 },
      { ordinal: 3, args: expect.stringContaining("npm test"), result: expect.stringContaining("boom") },
    ]);
    expect(JSON.stringify(values)).not.toContain(secret);
  });

  test("READ-1: hours come from the messages, whenever the file says that it began", async () => {
    const file = SCRIBES.pi?.write(tempDir(), STUCK) ?? "";
    const [head = "", ...rest] = readFileSync(file, "utf8").split("\n");
    writeFileSync(file, [head.replace(/2026-03-04/, "2026-03-05"), ...rest].join("\n"));
    const { values } = await run({ traces: [file], json: true });
    expect((values[0] as { traces: [{ workMs: number }] }).traces[0].workMs).toBeGreaterThan(90_000);
  });

  test("whoever has none is told how to say where they are", async () => {
    await expect(run({}, { env: { HOME: tempDir() } })).rejects.toMatchObject({ code: "TRACES_MISSING" });
    await expect(run({ traces: ["/nowhere/at/all"] })).rejects.toMatchObject({ code: "TRACES_UNKNOWN" });
  });
});

describe("--score", () => {
  test("ANOM-2: precision, recall, false alarms and how early, with each miss and each false one", async () => {
    const home = tempDir();
    SCRIBES.Codex?.write(join(home, "a"), STUCK);
    SCRIBES["Claude Code"]?.write(join(home, "b"), STUCK);
    const codex = { file: "a/rollout-2026-03-04T05-00-00-s1.jsonl", kind: "codex" };
    const claude = { file: "b/s1.jsonl", kind: "claude-code" };
    const labels = [
      { ...codex, screened: true, calls: 5, hours: 5 },
      { ...codex, anomaly: "loop", from: "#1", to: "#5", fromId: "c1", toId: "c5", certainty: "sure" },
      { ...codex, anomaly: "last-words", from: "#5", to: "#5", certainty: "sure" },
      { ...claude, screened: true, calls: 6, hours: 5 },
      { ...claude, anomaly: "cascade", from: "#4", to: "#5", certainty: "sure", note: "planted" },
      { file: "gone.jsonl", kind: "pi", screened: true },
    ];
    const path = join(home, "labels.ndjson");
    writeFileSync(path, `${labels.map((one) => JSON.stringify(one)).join("\n")}\nnonsense\n`);
    const { text } = await run({ score: path });
    expect(text).toMatch(/^loop +codex +1 +0 +0 +1\.00 +1 +0 +1\.00 +0\.00 +2 +2$/m);
    expect(text).toMatch(/^loop +claude-code +0 +1 +0 +0\.00 +0 +0 +– +2\.00/m);
    expect(text).toMatch(/^all sentences +all +1 +1 +0 +0\.50 +2 +1 +0\.50 +1\.00/m);
    expect(text).toMatch(/2 false sentences:\n {2}loop {2}b\/s1\.jsonl/);
    expect(text).toMatch(/1 missed window:\n {2}cascade {2}b\/s1\.jsonl.*#4–#5 {2}planted/);
    expect(text).toContain("b/s1.jsonl  5 calls, labelled with 6");
    expect(text).toContain("gone.jsonl: it cannot be read (ENOENT)");
    expect(text).toContain("line 7: it is not JSON");
    const { values } = await run({ score: path, json: true });
    expect(values[0]).toMatchObject({ files: 3, screened: 3, hours: 10 });
  });

  test("--traces chooses what is scored; labels that are none, or of nothing known, are said", async () => {
    const home = tempDir();
    const file = SCRIBES.Codex?.write(join(home, "a"), STUCK) ?? "";
    const path = join(home, "labels.ndjson");
    const label = (more: object) => JSON.stringify({ file: file.slice(home.length + 1), kind: "codex", ...more });
    writeFileSync(
      path,
      [
        label({ anomaly: "loop", from: "#1", to: "#5" }),
        label({ anomaly: "loup", from: "#1" }),
        '{"file":"b/x.jsonl","screened":true}',
      ].join("\n"),
    );
    const { text, values: none } = await run({ score: path, traces: [join(home, "a")] });
    expect(none).toEqual([]);
    expect(text).toMatch(/^1 labelled file,/);
    expect(text).toContain('line 2: it names no anomaly that is known: "loup"');
    expect(text).toContain("context-urgent stands under context");
    await expect(run({ score: path, traces: [join(home, "c")] })).rejects.toMatchObject({ code: "LABELS_ELSEWHERE" });
    for (const empty of ["", "nonsense\n"]) {
      writeFileSync(path, empty);
      await expect(run({ score: path })).rejects.toMatchObject({ code: "LABELS_EMPTY" });
    }
  });

  test.each([
    [{ score: "a", label: "b" }, "OPTIONS_APART"],
    [{ score: "a", config: "b" }, "OPTIONS_APART"],
    [{ right: ["say_1"] }, "LABEL_FILE_MISSING"],
    [{ file: "x" }, "LABEL_FILE_MISSING"],
    [{ label: "l", file: "x", right: ["say_1"], wrong: ["say_1"] }, "LABEL_TWICE"],
    [{ label: "/", file: "x", right: ["say_1"] }, "LABELS_NO_FILE"],
    [{ traces: ["/"], role: "bilder" }, "CAPABILITY_UNKNOWN"],
  ])("what cannot be meant is refused: %j", async (given, code) => {
    await expect(run(given as Given)).rejects.toMatchObject({ code });
  });

  test("a file of labels that is not there is said", async () => {
    await expect(run({ score: "/nowhere/labels" })).rejects.toMatchObject({ code: "LABELS_UNKNOWN" });
  });
});

describe("--label", () => {
  test("a sentence is shown with what the agent did before it", () => {
    const lines: string[] = [];
    const call = { out: { line: (text = "") => lines.push(text) } } as unknown as Call;
    const evidence = [
      {
        ordinal: 7,
        id: "a",
        tool: "Bash",
        args: '{"command":"npm test"}',
        ok: false,
        result: `boom\n${"x".repeat(300)}`,
      },
      { ordinal: 8, id: "b", tool: "Read", args: "{}", ok: null, result: "" },
    ];
    printEvidence(call, { evidence } as unknown as ShownSentence);
    expect(lines.slice(1)).toEqual([
      '  #7 Bash {"command":"npm test"}',
      expect.stringMatching(/^ {6}failed: boom x{130,}…$/),
      "  #8 Read {}",
      "      no result yet",
    ]);
  });

  test("what a person says of a sentence is a line that --score counts", async () => {
    const home = tempDir();
    const file = SCRIBES.Codex?.write(join(home, "logs"), STUCK) ?? "";
    const labels = join(home, "kept/labels.ndjson");
    mkdirSync(join(home, "kept"));
    const shown = await run({ traces: [join(home, "logs")] });
    const id = /say_\w+/.exec(shown.text)?.[0] ?? "";
    await run({ label: labels, file, wrong: [id] });
    const line = JSON.parse(readFileSync(labels, "utf8")) as Record<string, unknown>;
    expect(line).toMatchObject({
      file: "../logs/rollout-2026-03-04T05-00-00-s1.jsonl",
      anomaly: "loop",
      wrong: true,
      said: id,
    });
    expect((await run({ score: labels })).text).toMatch(/^loop +codex +0 +1 /m);
    // The same sentence has the same id, wherever its file is looked at from.
    const again = await run({ label: labels, traces: [join(home, "logs")], right: [id] });
    expect(again.text).toContain("1 label added");
    expect(readFileSync(labels, "utf8").trim().split("\n")).toHaveLength(2);
    // What is said last counts, and the same is not written twice.
    expect((await run({ score: labels })).text).toMatch(/^loop +codex +1 +0 /m);
    const same = await run({ label: labels, traces: [join(home, "logs")], right: [id] });
    expect(same.text).toContain("0 labels added");
    expect(readFileSync(labels, "utf8").trim().split("\n")).toHaveLength(2);
  });

  test("a sentence that was not said, and nobody to ask", async () => {
    const file = SCRIBES.Codex?.write(tempDir(), STUCK) ?? "";
    const labels = join(tempDir(), "l");
    await expect(run({ label: labels, file, right: ["say_0"] })).rejects.toMatchObject({ code: "SENTENCE_UNKNOWN" });
    await expect(run({ label: labels, file })).rejects.toMatchObject({ code: "LABEL_MISSING" });
  });

  test.each([
    ["y", "right"],
    ["N", "wrong"],
    ["s", "skip"],
    ["q", "quit"],
    ["\u0003", "quit"],
    ["x", undefined],
  ])("the key %j means %p", (key, meaning) =>
    expect(readLabelKey(key)).toBe(meaning as ReturnType<typeof readLabelKey>),
  );
});

describe("REPLAY-1: --config", () => {
  const other = (text: string) => {
    const path = join(tempDir(), "other.yaml");
    writeFileSync(path, text);
    return path;
  };

  test("transcripts under other limits: what is said no longer, newly, earlier or later", async () => {
    const file = SCRIBES.Codex?.write(tempDir(), STUCK) ?? "";
    const patient = await run({ traces: [file], config: other("reflex: {loopRepeats: 50}") });
    expect(patient.text).toContain(
      "1 session: 1 sentence as it is, 0 under the other limits; 1 difference in 1 session.",
    );
    expect(patient.text).toMatch(
      /step 3 \(2026-03-04 05:00:31 UTC\) {2}no longer: \[SUPERVISOR\] You are repeating yourself/,
    );
    expect(patient.text).toContain("What this cannot know:");
    const hasty = await run({ traces: [file], config: other("reflex: {radioCheckSteps: 1, loopRepeats: 2}") });
    expect(hasty.text).toContain("1 step earlier, at step 2");
    const same = await run({ traces: [file], config: other("") });
    expect(same.text).toContain("0 differences in 0 sessions");
  });

  test("a recorded store: how its agents would have been judged, and when", async () => {
    const store = memoryStore();
    const [number = 0] = await addRunning(store, 1, { pid: 1, start: "1" });
    const world = worldOn(store);
    const begin = world.clock.now();
    const signal = (kind: string, minute: number, data: object) =>
      ({ kind, source: `${kind}${minute}`, phase: kind, at: begin + minute * 60_000, data }) as unknown as Signal;
    await store.signals.record(number, "agent-0", [
      signal("turn.started", 0, { by: "message" }),
      signal("said", 1, { text: "I begin" }),
      signal("said", 30, { text: "I continue" }),
    ]);
    const config = defaultConfig();
    const minutes = Math.round(config.recovery.silentAfter / 60_000);
    const { text, values: none } = await run({ config: other("recovery: {silentAfter: 28m}") }, { world });
    expect(none).toEqual([]);
    expect(text).toContain("1 agent would have been judged differently:");
    expect(text).toContain("agent-0#1");
    const time = (minute: number) => new Date(begin + minute * 60_000).toISOString().slice(11, 16);
    expect(text).toMatch(new RegExp(`as it is: silent \\(no-activity\\) from .* ${time(1 + minutes)}`));
    expect(text).toMatch(new RegExp(`under the other limits: silent \\(no-activity\\) from .* ${time(29)}`));
    expect(text).toContain("Questions, quotas, deliveries");
  });

  test("a configuration that is wrong, or not there, is said", async () => {
    await expect(run({ config: other("reflex: {loopRepeats: none}") })).rejects.toMatchObject({ kind: "config" });
    await expect(run({ config: "/nowhere.yaml" })).rejects.toMatchObject({ code: "CONFIG_UNKNOWN" });
  });
});
