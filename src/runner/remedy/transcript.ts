/**
 * The transcript of one remediation (GUARD-4): the whole prompt, every call with its arguments and its output, every word,
 * how it ended and how long it took. Written as it happens and without waiting, so that a kill loses nothing; redacted,
 * for the owner alone, and never removed by us (it is a file of the logs, and only directories there are tidied).
 */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { messageOf, systemCode } from "#errors.ts";
import type { ToldPart } from "#runtimes/runtime.ts";
import { redact } from "#telemetry/redact.ts";

const TITLES: Readonly<Record<ToldPart["kind"], string>> = {
  session: "session",
  words: "agent",
  thought: "agent, thinking",
  call: "call",
  result: "result",
  failure: "result, failed",
  turn: "turn",
  noise: "output",
};

export class RemedyTranscript {
  private isOpen = true;
  private hasFailed = false;

  private constructor(
    readonly path: string,
    private readonly descriptor: number,
  ) {}

  /** `remediation_<timestamp>.txt`; what is there already is left as it is. */
  static open(directory: string, timestamp: string): RemedyTranscript {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (let count = 1; ; count += 1) {
      const path = `${directory}/remediation_${timestamp}${count === 1 ? "" : `_${count}`}.txt`;
      try {
        return new RemedyTranscript(path, openSync(path, "ax", 0o600));
      } catch (error) {
        if (systemCode(error) !== "EEXIST" || count >= MOST_OF_ONE_TIME) throw error;
      }
    }
  }

  /** A heading and what stands below it. A disk that is full ends no remediation: it is said once, where the guard reads. */
  write(title: string, text: string, at: number): void {
    if (!this.isOpen) return;
    const body = redact(text.toWellFormed());
    const end = body.endsWith("\n") ? "\n" : "\n\n";
    try {
      writeSync(this.descriptor, `=== ${new Date(at).toISOString()} ${title}\n${body}${end}`);
    } catch (error) {
      if (!this.hasFailed) console.error(`overseer: the transcript cannot be written: ${messageOf(error)}`);
      this.hasFailed = true;
    }
  }

  tell(part: ToldPart, at: number): void {
    if (part.text.trim() !== "") this.write(TITLES[part.kind], part.text, at);
  }

  /** What comes after is dropped: a process that was killed may still be heard. */
  close(): void {
    this.isOpen = false;
    closeSync(this.descriptor);
  }
}

const MOST_OF_ONE_TIME = 1_000;
