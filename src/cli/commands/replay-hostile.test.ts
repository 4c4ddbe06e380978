/** `overseer replay` over files that somebody made to break it: each is named, and the rest is read. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OverseerError } from "#errors.ts";
import { type Given, heardCall } from "../../../test/support/heard-call.ts";
import { type Moment, SCRIBES } from "../../../test/support/session-scribes.ts";
import { tempDir } from "../../../test/support/temp.ts";
import command from "./replay.ts";

/** What it printed, and what it ended with. */
async function run(given: Given) {
  const { call, lines, values, remarks } = heardCall(given);
  const none = new OverseerError("not-found", "NO_REPOSITORY", "None.", "None.");
  let error: unknown;
  try {
    await command.run?.(call, { world: () => Promise.reject(none), machine: () => ({ env: {} }) } as never);
  } catch (thrown) {
    error = thrown;
  }
  return { text: [...lines, ...remarks].join("\n"), json: JSON.stringify(values), error };
}

/** The same failing command, again and again. */
const STUCK: readonly Moment[] = [1, 2, 3, 4, 5].flatMap((at): Moment[] => [
  { at: 10 * at, call: `c${at}`, uses: "shell", what: "npm test", step: `m${at}` },
  { at: 10 * at + 1, result: `c${at}`, text: "boom: cannot find it", exit: 2 },
]);

describe("a file that cannot be judged", () => {
  test("READ-1: a role that nobody has is that file's trouble: it is named, the others are read, and scripts learn it", async () => {
    const dir = tempDir();
    SCRIBES.Codex?.write(dir, STUCK);
    writeFileSync(join(dir, "a.ndjson"), '{"trace":"x","role":"gone"}\n{"call":"c","tool":"Bash","at":1}\n');
    const { text, error } = await run({ traces: [dir] });
    expect(text).toContain("Overseer would have spoken 1 time");
    expect(text).toMatch(/1 file gave nothing: it cannot be judged: .*gone.*\n {2}a\.ndjson/);
    expect(error).toMatchObject({ code: "SESSION_UNREAD", exitCode: 3 });
    expect((await run({ traces: [dir], role: "gone" })).error).toMatchObject({ code: "CAPABILITY_UNKNOWN" });
  });
});

describe("what is printed", () => {
  test("STORE-7: a key whose beginning is cut away is redacted all the same", async () => {
    const body = Array.from({ length: 400 }, (_, at) => `MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIB${at}`);
    const key = `-----BEGIN PRIVATE KEY-----\n${body.join("\n")}\n-----END PRIVATE KEY-----`;
    const dir = tempDir();
    SCRIBES.Codex?.write(dir, [...STUCK, { at: 100, says: `${key}\nShould I use this one?` }]);
    const call = { call: "c", tool: "AskUserQuestion", at: 1, args: { question: `${"x".repeat(260)} ${key}` } };
    writeFileSync(join(dir, "a.ndjson"), JSON.stringify(call));
    const { json } = await run({ traces: [dir], json: true });
    expect(json.match(/"class":"waiting-on-human"/g)).toHaveLength(2);
    expect(json).not.toContain("MIIEvQ");
  });

  test("no name of a file and no word of a label reaches the terminal as it is", async () => {
    const dir = tempDir();
    const file = SCRIBES.Codex?.write(dir, STUCK) ?? "";
    writeFileSync(join(dir, "a.\u001b[2J"), "");
    const labels = join(tempDir(), "labels");
    const label = { file, kind: "\u001b[31m", anomaly: "stall\u001b[2J", from: 1, to: 2 };
    writeFileSync(labels, `${JSON.stringify(label)}\n${JSON.stringify({ ...label, anomaly: "hunt" })}\n`);
    const texts = [await run({ traces: [dir] }), await run({ score: labels, all: true })];
    for (const { text } of texts) expect(text).not.toContain("\u001b");
  });
});

describe("what is named", () => {
  test("an id that means two sentences is refused, and files that are named tell them apart", async () => {
    const dir = tempDir();
    const files = ["a", "b"].map((name) => SCRIBES.Codex?.write(join(dir, name), STUCK) ?? "");
    const id = /say_\w+/.exec((await run({ traces: [dir] })).text)?.[0] ?? "";
    const labels = join(tempDir(), "labels");
    writeFileSync(labels, '{"file":"x","anomaly":"loop","from":1}');
    const { error } = await run({ traces: [dir], label: labels, right: [id] });
    expect(error).toMatchObject({ code: "SENTENCE_AMBIGUOUS" });
    expect((await run({ label: labels, file: files[0] ?? "", right: [id] })).error).toBeUndefined();
    // The last line had no end.
    expect(readFileSync(labels, "utf8").trim().split("\n")).toHaveLength(2);
  });

  test("READ-1: a link to a file is that file, and one to nothing is said", async () => {
    const dir = tempDir();
    mkdirSync(join(dir, "a"));
    const file = SCRIBES.Codex?.write(join(dir, "a"), STUCK) ?? "";
    symlinkSync(file, join(dir, "link.jsonl"));
    symlinkSync(join(dir, "nowhere"), join(dir, "gone.jsonl"));
    expect((await run({ traces: [join(dir, "link.jsonl")] })).text).toContain("Read 1 file ");
    expect((await run({ traces: [join(dir, "gone.jsonl")] })).error).toMatchObject({ code: "TRACES_UNKNOWN" });
  });
});
