/** READ-1: nothing is passed over in silence: why a file gave nothing, and how much of it could not be read. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SCRIBES } from "../../test/support/session-scribes.ts";
import { tempDir } from "../../test/support/temp.ts";
import { windowOf } from "./context-window.ts";
import { readProviderFailure } from "./provider-failure.ts";
import { isPartOfSession, readSession } from "./read-session.ts";

const dir = tempDir();
function reportOf(name: string, text: string) {
  writeFileSync(join(dir, name), text);
  return readSession(join(dir, name), () => () => undefined);
}

test.each([
  ["empty.jsonl", "", "it is empty", 0],
  ["prose.jsonl", "hello\nworld\n", "nothing in it is JSON", 2],
  ["other.jsonl", '{"a":1}\n'.repeat(80), "no session of an agent that is known", 0],
  ["package.json", '{"name":"x"}', "no session of an agent that is known", 0],
  ["half.json", '{"name":', "nothing in it is JSON", 1],
  ["list.json", '[{"a":1}]', "no session of an agent that is known", 0],
  [
    "words.jsonl",
    '{"type":"user","sessionId":"s","message":{"content":"hi"}}',
    "no tool was called in it (claude-code)",
    0,
  ],
])("READ-1: %s with %j gave nothing because %s", (name, text, why, broken) => {
  expect(reportOf(name, text)).toMatchObject({ nothing: why, broken, calls: 0 });
});

test("READ-1: a file that is not there, or not ours to read, says so", () => {
  expect(readSession(join(dir, "gone.jsonl"), () => () => undefined).nothing).toBe("it cannot be read (ENOENT)");
  mkdirSync(join(dir, "dir.jsonl"));
  chmodSync(join(dir, "dir.jsonl"), 0o700);
  expect(readSession(join(dir, "dir.jsonl"), () => () => undefined).nothing).toContain("it cannot be read");
});

test("parts of a spread-out session that are broken are counted, and they are no files of their own", () => {
  const storage = SCRIBES["OpenCode, storage"];
  const place = tempDir();
  const path =
    storage?.write(place, [
      { at: 1, person: "Go" },
      { at: 2, call: "c1", uses: "shell", what: "ls", step: "m1" },
      { at: 3, result: "c1", text: "a" },
    ]) ?? "";
  writeFileSync(join(place, "storage/part/msg_0001/prt_9.json"), "{");
  writeFileSync(join(place, "storage/message/ses_1/msg_9.json"), "nothing");
  expect(readSession(path, () => () => undefined)).toMatchObject({ broken: 2, calls: 1, nothing: null });
  expect(isPartOfSession(join(place, "storage/part/msg_0001/prt_9.json"))).toBe(true);
  expect(isPartOfSession(join(place, "storage/message/ses_1/msg_9.json"))).toBe(true);
  expect(isPartOfSession(path)).toBe(false);
});

test("READ-1: a part that is a pipe, a link or too large is not opened, and no id leads out of the storage", () => {
  const place = tempDir();
  const path = SCRIBES["OpenCode, storage"]?.write(place, [
    { at: 1, person: "Go" },
    { at: 2, call: "c1", uses: "shell", what: "ls", step: "m1" },
    { at: 3, result: "c1", text: "a" },
  ]);
  const parts = join(place, "storage/part/msg_0001");
  expect(Bun.spawnSync(["mkfifo", join(parts, "prt_7.json"), join(place, "pipe.jsonl")]).exitCode).toBe(0);
  symlinkSync("/dev/zero", join(parts, "prt_8.json"));
  writeFileSync(join(parts, "prt_9.json"), `{"a":"${"x".repeat(17 * 1024 * 1024)}"}`);
  mkdirSync(join(place, "out"));
  writeFileSync(join(place, "out/prt_1.json"), '{"type":"tool","callID":"c9","tool":"bash","state":{}}');
  writeFileSync(join(place, "storage/message/ses_1/msg_9.json"), '{"id":"../../out","role":"assistant"}');
  expect(readSession(path ?? "", () => () => undefined)).toMatchObject({ broken: 4, calls: 1, nothing: null });
  const pipe = readSession(join(place, "pipe.jsonl"), () => () => undefined);
  expect(pipe.nothing).toBe("it cannot be read: it is no regular file");
});

test("READ-1: a line longer than is looked at is counted as that, and the lines after it are read", () => {
  const call = '{"call":"c","tool":"Bash","at":1}\n';
  const report = reportOf("long.jsonl", `${call}{"a":"${"x".repeat(17 * 1024 * 1024)}"}\n${call}`);
  expect(report).toMatchObject({ calls: 2, broken: 1, tooLong: 1 });
});

const said = (type: string, at: number, block: object) =>
  `${JSON.stringify({ type, sessionId: "s", timestamp: at * 1e12, message: { content: [block] } })}\n`;
const asked = (at: number, id: string | undefined, command: string) =>
  said("assistant", at, { type: "tool_use", id, name: "Bash", input: { command } });
const answered = (at: number, id: string | undefined) => said("user", at, { type: "tool_result", tool_use_id: id });

test.each([
  [
    "a name that has ended is another call's",
    [asked(1, "c", "a"), answered(2, "c"), asked(3, "c", "b"), answered(4, "c")],
    2,
    0,
  ],
  ["the same call again, later", [asked(1, "c", "a"), answered(2, "c"), asked(3, "c", "a"), answered(4, "c")], 2, 0],
  ["told twice", [asked(1, "c", "a"), answered(2, "c"), asked(1, "c", "a"), answered(2, "c")], 1, 0],
  [
    "no names at all",
    [asked(1, undefined, "a"), answered(2, undefined), asked(3, undefined, "b"), answered(4, undefined)],
    2,
    0,
  ],
  ["one name at one time", [asked(1, "c", "a"), asked(1, "c", "b"), answered(2, "c")], 1, 1],
])("READ-1: calls are not lost for their names: %s", (_why, texts, calls, droppedCalls) => {
  const sources: string[] = [];
  writeFileSync(join(dir, "names.jsonl"), texts.join(""));
  const report = readSession(join(dir, "names.jsonl"), () => ({ kind, source }) => {
    if (kind.startsWith("tool.")) sources.push(source);
  });
  expect(report).toMatchObject({ calls, droppedCalls, lostResults: 0, openCalls: 0 });
  expect(new Set(sources).size).toBe(calls);
});

test("READ-1: sessions that are too many for one file are left out, and their calls counted", () => {
  const block = { type: "tool_use", id: "c", name: "Bash", input: {} };
  const line = (at: number) =>
    JSON.stringify({
      type: "assistant",
      sessionId: "s",
      isSidechain: true,
      agentId: `a${at}`,
      message: { content: [block] },
    });
  const report = reportOf("many.jsonl", Array.from({ length: 5_101 }, (_, at) => line(at)).join("\n"));
  // The file's own session is one of them, though nothing happens in it.
  expect(report).toMatchObject({ sessions: 4_999, calls: 4_999, droppedCalls: 102 });
});

test.each([
  ["claude-opus-4-5", 0, 200_000],
  ["claude-opus-4-5", 250_000, 1_000_000],
  ["claude-sonnet-4-5[1m]", 0, 1_000_000],
  ["gemini-2.5-pro", 0, 1_048_576],
  ["gpt-5-codex", 300_000, 400_000],
  ["nobody-knows", 10, null],
  ["deepseek-v3.1", 10, 128_000],
  ["deepseek-v9-pro", 10, null],
])("ANOM-3: the window of %s in which %d tokens were seen is %p", (model, seen, window) => {
  expect(windowOf(model, seen)).toBe(window);
});

test.each([
  ["You've hit your usage limit. Try again later.", "quota"],
  ["[API Error: You have exhausted your capacity on this model. Your quota will reset after 1h]", "quota"],
  ["stream disconnected before completion", "network"],
  ["unexpected status 401 Unauthorized", "auth"],
  ["Your input exceeds the context window of this model", "too_long"],
  ["503 Service Unavailable", "overloaded"],
  ["who knows", "unknown"],
])("QUOTA-1: %j is a failure because of %s", (text, cause) => {
  expect(readProviderFailure(text).cause).toBe(cause as ReturnType<typeof readProviderFailure>["cause"]);
});
