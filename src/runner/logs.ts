/**
 * The files a session leaves behind (LOG-1): session.log for people, events.ndjson with every signal, tools.ndjson
 * with the calls, errors.log with what went wrong. Everything is redacted before it is written, and written in
 * batches, so that an agent that floods costs a few writes and not a million.
 */
import type { Signal } from "#domain/signals/signal.ts";
import type { Files } from "#sys/files.ts";
import { clip } from "#telemetry/bounds.ts";
import { ndjsonLine } from "#telemetry/log.ts";
import { redact } from "#telemetry/redact.ts";
import { harmless } from "./view.ts";

const NAMES = ["session.log", "events.ndjson", "tools.ndjson", "errors.log"] as const;
type Name = (typeof NAMES)[number];

/** A file that has grown to this is not written any further; the last line says so. */
const LONGEST_LOG = 64 * 1024 * 1024;

export class SessionLogs {
  private readonly waiting = new Map<Name, string[]>();
  private readonly written = new Map<Name, number>();

  constructor(
    private readonly files: Files,
    private readonly directory: string,
    private readonly agent: string,
  ) {}

  async open(): Promise<void> {
    await this.files.makeDir(this.directory, { mode: 0o700 });
    for (const name of NAMES) await this.files.append(`${this.directory}/${name}`, "", { mode: 0o600 });
  }

  /** `line`: the signal as people read it. */
  signal(signal: Signal, line: string | undefined): void {
    if (line !== undefined) this.add("session.log", `${new Date(signal.at).toISOString()} ${line}\n`);
    const level = signal.kind === "api.failed" || signal.kind === "noise" ? "warn" : "info";
    const record = ndjsonLine({ at: signal.at, level, event: signal.kind, agent: this.agent, data: signal.data });
    this.add("events.ndjson", record);
    if (signal.kind === "tool.started" || signal.kind === "tool.ended") this.add("tools.ndjson", record);
    if (signal.kind === "api.failed") this.error(`${signal.data.cause}: ${signal.data.detail}`, signal.at);
    if (signal.kind === "process.exited" && !signal.data.asked) {
      this.error(`the agent's process ended: ${signal.data.signal ?? `exit ${signal.data.code}`}`, signal.at);
    }
  }

  note(text: string, at: number): void {
    this.add("session.log", `${new Date(at).toISOString()} ${harmless(text)}\n`);
  }

  error(text: string, at: number): void {
    this.add("errors.log", `${new Date(at).toISOString()} ${clip(redact(text), 4096)}\n`);
  }

  async flush(): Promise<void> {
    for (const [name, texts] of this.waiting) {
      if (texts.length === 0) continue;
      const text = texts.splice(0).join("");
      await this.files.append(`${this.directory}/${name}`, text, { mode: 0o600 });
    }
  }

  private add(name: Name, text: string): void {
    const size = (this.written.get(name) ?? 0) + text.length;
    const before = this.written.get(name) ?? 0;
    if (before >= LONGEST_LOG) return;
    this.written.set(name, size);
    const list = this.waiting.get(name) ?? [];
    list.push(size >= LONGEST_LOG ? `${text}(this log is full; what follows is in the database only)\n` : text);
    this.waiting.set(name, list);
  }
}
