/** When somebody else may type into an agent's own screen, and what is read of its transcripts. */
import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Signal } from "#domain/signals/signal.ts";
import { transcriptReader } from "#runtimes/claude-code/transcript.ts";
import { systemFiles } from "#sys/files.ts";
import { isPromptEmpty, Transcripts } from "./screen.ts";

const RULE = "─".repeat(40);
const rows: [why: string, screen: string, empty: boolean][] = [
  ["an empty line to write on", `● Done.\n${RULE}\n❯ \n${RULE}\n  ⏵⏵ bypass permissions on`, true],
  ["an empty line in a frame", "│ ❯   │", true],
  ["a person has begun to write", `${RULE}\n❯ could you\n${RULE}`, false],
  ["a question stands before it", "Do you want to create a.txt?\n❯ 1. Yes\n  2. No", false],
  ["a dialog below an older empty line", "❯ \nDo you want to proceed?\n❯ 1. Yes", false],
  ["nothing is shown at all", "", false],
];
test.each(rows)("INJ-2: %s", (_why, screen, empty) => {
  expect(isPromptEmpty(screen)).toBe(empty);
});

test("RUN-1: transcripts are read as they grow, whole lines only, a sub-agent's with them, and each once", async () => {
  const directory = mkdtempSync(join(tmpdir(), "overseer-transcripts-"));
  try {
    const places = { own: join(directory, "s.jsonl"), subs: join(directory, "s/subagents") };
    const transcripts = new Transcripts(systemFiles(), places, { transcriptReader }, "s");
    const signals: Signal[] = [];
    const heard: string[] = [];
    const look = () =>
      transcripts.read({ signal: (signal) => signals.push(signal), callEnded: () => {} }, (text) => heard.push(text));
    const spent = () => signals.reduce((sum, one) => sum + (one.kind === "usage" ? one.data.inputTokens : 0), 0);
    const line = (id: string) =>
      JSON.stringify({
        type: "assistant",
        message: { id, model: "m", usage: { input_tokens: 100, output_tokens: 1 } },
      });

    await look();
    expect(signals).toEqual([]);
    const whole = line("a");
    appendFileSync(places.own, whole.slice(0, 20));
    await look();
    expect(spent()).toBe(0);
    appendFileSync(
      places.own,
      `${whole.slice(20)}\n${JSON.stringify({ type: "user", message: { content: "ünï m_1" } })}\n`,
    );
    await look();
    await look();
    expect(spent()).toBe(100);
    expect(heard).toEqual(["ünï m_1"]);
    mkdirSync(places.subs, { recursive: true });
    appendFileSync(join(places.subs, "agent-1.jsonl"), `${line("b")}\n`);
    await look();
    await look();
    expect(spent()).toBe(200);

    const later = new Transcripts(systemFiles(), places, { transcriptReader }, "s");
    await later.skipPast();
    appendFileSync(places.own, `${line("c")}\n`);
    await later.read({ signal: (signal) => signals.push(signal), callEnded: () => {} }, () => {});
    expect(spent()).toBe(300);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
