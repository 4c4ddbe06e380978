/** What every reader of recorded sessions keeps to; another one joins by writing the same story in its shape. */
import { describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import type { Signal, SignalKind } from "#domain/signals/signal.ts";
import { type FileReport, readSession } from "#runtimes/read-session.ts";
import type { SessionAbout } from "#runtimes/session-format.ts";
import { scaled } from "../support/scale.ts";
import type { Moment, Scribe } from "../support/session-scribes.ts";
import { tempDir } from "../support/temp.ts";

interface ReadSession extends SessionAbout {
  readonly signals: Signal[];
  readonly ordinals: Record<string, number>;
}

function readFile(path: string): { report: FileReport; sessions: ReadSession[] } {
  const sessions: ReadSession[] = [];
  const report = readSession(path, (about) => {
    const session: ReadSession = { ...about, signals: [], ordinals: {} };
    sessions.push(session);
    return (signal, ordinal) => {
      session.signals.push(signal);
      if (ordinal > 0) session.ordinals[signal.source] = ordinal;
    };
  });
  return { report, sessions };
}

const ofKind = <K extends SignalKind>(signals: readonly Signal[], kind: K): Signal<K>[] =>
  signals.filter((one) => one.kind === kind) as Signal<K>[];

const VALUES = /(?<=": ?)(?:"(?:[^"\\]|\\.)*"|\d+)/g;

const STORY: readonly Moment[] = [
  { at: 1, person: "Please fix the build" },
  { at: 2, call: "c1", uses: "read", what: "/repo/a.ts", step: "m1" },
  { at: 2, call: "c2", uses: "shell", what: "npm test", step: "m1" },
  { at: 5, result: "c1", text: "one line" },
  { at: 12, result: "c2", text: "2 tests failed", exit: 2 },
  { at: 20, program: "a job has ended" },
  { at: 21, call: "c3", uses: "edit", what: "/repo/a.ts", step: "m2" },
  { at: 22, result: "c3", text: "The file was updated." },
  { at: 30, says: "Shall I also update the docs?", tokens: 90_000 },
  { at: 90, person: "Yes" },
  { at: 95, call: "c4", uses: "shell", what: "git commit -m docs", step: "m3" },
  { at: 97, result: "c4", text: "[main 1234567] docs" },
];

/** Where a format cannot write such a thing down, there is nothing to be tested. */
const onlyIf = (holds: boolean) => (holds ? test : () => undefined);

export function sessionFormatSuite(name: string, scribe: Scribe): void {
  const readStory = (story: readonly Moment[], sub = false) => readFile(scribe.write(tempDir(), story, sub));

  describe(`recorded sessions: ${name}`, () => {
    test("READ-1: calls come with their results, times, uses and numbers, and failures with their class", () => {
      const { report, sessions } = readStory(STORY);
      expect(report).toMatchObject({ runtime: scribe.runtime, calls: 4, broken: 0, lostResults: 0, openCalls: 0 });
      expect(report.nothing).toBeNull();
      expect(sessions.map(({ key, sub }) => ({ key, sub }))).toEqual([{ key: "", sub: false }]);
      const [session] = sessions;
      const signals = session?.signals ?? [];
      const begun = ofKind(signals, "tool.started").map(({ source, data }) => `${source} ${data.does}`);
      expect(begun).toEqual(["c1 read", "c2 shell", "c3 edit", "c4 shell"]);
      expect(session?.ordinals).toEqual({ c1: 1, c2: 2, c3: 3, c4: 4 });
      const ended = ofKind(signals, "tool.ended");
      expect(ended.map(({ source }) => source)).toEqual(["c1", "c2", "c3", "c4"]);
      expect(ended.map(({ data }) => data.errorClass)).toEqual([null, "exit-2", null, null]);
      expect(ended[1]?.data).toMatchObject({ ok: false, tool: expect.any(String), does: "shell", ms: 10_000 });
      expect(ended[1]?.data.result).toContain("2 tests failed");
      expect(ofKind(signals, "tool.started")[1]?.data.args).toContain("npm test");
      expect((signals.at(-1)?.at ?? 0) - (ended[0]?.at ?? 0)).toBe(92_000);
    });

    test("calls of one message are one step", () => {
      const [session] = readStory(STORY).sessions;
      const steps = ofKind(session?.signals ?? [], "tool.started").map(({ data }) => data.step);
      // A runtime that names no step: both are under way at once.
      if (steps[0] !== undefined) expect([steps[0] === steps[1], steps[1] === steps[2]]).toEqual([true, false]);
      const order = (session?.signals ?? []).flatMap(({ kind, source }) => (kind.startsWith("tool.") ? [source] : []));
      if (steps[0] === undefined) expect(order.slice(0, 2)).toEqual(["c1", "c2"]);
    });

    test("a turn ends when a person speaks and when the file does, not when a program does", () => {
      const [session] = readStory(STORY).sessions;
      const ends = ofKind(session?.signals ?? [], "turn.ended");
      expect(ends.map(({ data }) => data.text)).toEqual(["Shall I also update the docs?", ""]);
      expect(ends.map(({ data }) => data.ok)).toEqual([true, true]);
    });

    test("the last words of a file are said", () => {
      const [session] = readStory([...STORY, { at: 99, says: "All of it is done." }]).sessions;
      expect(ofKind(session?.signals ?? [], "turn.ended").at(-1)?.data.text).toBe("All of it is done.");
    });

    test("a sub-agent's session is one of its own, and nobody's words end its turn", () => {
      const { sessions } = readStory(STORY.slice(0, 4), true);
      const own = sessions.filter(({ signals }) => ofKind(signals, "tool.started").length > 0);
      if (scribe.alone) expect(own.map(({ sub }) => sub)).toEqual([false]);
      else expect(own.map(({ sub }) => sub)).toEqual([true]);
    });

    test("a call without a result is counted, and so is a result without a call", () => {
      const calls = STORY.filter((one) => !("result" in one && one.result === "c4"));
      expect(readStory(calls).report).toMatchObject({ calls: 4, openCalls: 1, lostResults: 0 });
      if (scribe.pairs) return;
      const results = STORY.filter((one) => !("call" in one && one.call === "c4"));
      expect(readStory(results).report).toMatchObject({ calls: 3, openCalls: 0, lostResults: 1 });
    });

    onlyIf(!scribe.pairs)("a result that is written before its call finds it", () => {
      const story = [...STORY.slice(0, 1), ...STORY.slice(3, 5), ...STORY.slice(1, 3), ...STORY.slice(5)];
      const { report, sessions } = readStory(story);
      expect(report).toMatchObject({ calls: 4, lostResults: 0, openCalls: 0 });
      const ended = ofKind(sessions[0]?.signals ?? [], "tool.ended");
      expect(ended.map(({ source, data }) => `${source} ${data.ok}`)).toEqual([
        "c1 true",
        "c2 false",
        "c3 true",
        "c4 true",
      ]);
    });

    onlyIf(!scribe.document)("what is told twice counts once", () => {
      const path = scribe.write(tempDir(), STORY);
      appendFileSync(path, readFileSync(path));
      expect(readFile(path).report).toMatchObject({ calls: 4, lostResults: 0, openCalls: 0 });
    });

    onlyIf(!scribe.document)("lines that cannot be read are counted, and the rest is read", () => {
      const path = scribe.write(tempDir(), STORY);
      const lines = readFileSync(path, "utf8").trimEnd().split("\n");
      const half = (lines.at(-1) ?? "").slice(0, -20);
      writeFileSync(path, ["", lines[0], "no JSON", "[1", ...lines.slice(1), half].join("\n"));
      expect(readFile(path).report).toMatchObject({ calls: 4, broken: 3, nothing: null });
    });

    onlyIf(scribe.window !== undefined)("ANOM-3: how full the context is, by what its model holds", () => {
      const [session] = readStory(STORY).sessions;
      const [last] = ofKind(session?.signals ?? [], "usage").filter(({ data }) => data.contextTokens >= 90_000);
      expect(last?.data.contextWindow).toBe(scribe.window ?? 0);
    });

    test("whatever stands in its fields, reading goes on", () => {
      const path = scribe.write(tempDir(), STORY);
      const text = readFileSync(path, "utf8");
      const values = text.match(VALUES) ?? [];
      fc.assert(
        fc.property(fc.nat(values.length - 1), fc.jsonValue({ maxDepth: 2 }), (index, value) => {
          let seen = -1;
          const other = text.replace(VALUES, (old) => {
            seen += 1;
            return seen === index ? JSON.stringify(value) : old;
          });
          writeFileSync(path, other);
          readFile(path);
        }),
        { numRuns: scaled(60) },
      );
    });
  });
}
