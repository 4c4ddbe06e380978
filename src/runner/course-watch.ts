/**
 * Follows the course of an agent that has a role: tells its hooks when to look, writes down each change of its PACE
 * level and what it needs a person for, and keeps its SALUTE report. It says nothing to the agent itself; that is the hook's, in the same breath.
 * Whatever it writes is redacted and written in one piece.
 */
import { rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { attemptEvent } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import type { PaceLevel } from "#domain/model/role.ts";
import { paceOf } from "#domain/signals/pace.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import { blockerOf, isNearTrouble } from "#domain/signals/reflex.ts";
import { NEW_COURSE } from "#domain/signals/reflex-course.ts";
import type { ReflexFile } from "#domain/signals/reflex-file.ts";
import { ALERT_FILE, withKnownWindow } from "#domain/signals/reflex-file.ts";
import type { Salute } from "#domain/signals/salute.ts";
import { isSaluteDue, saluteHistory, saluteLatest, saluteOf, withSalute } from "#domain/signals/salute.ts";
import type { Clock } from "#sys/clock.ts";
import type { Files } from "#sys/files.ts";
import { redactDeep } from "#telemetry/redact.ts";
import type { AttemptRecord } from "./attempt-record.ts";

export interface CourseParts {
  readonly files: Files;
  readonly clock: Clock;
}

/** An overseer elsewhere knows by this that we are still here. */
const REPORT_AT_LEAST_MS = 60_000;

export class CourseWatch {
  private pulse: Pulse | undefined;
  private near = false;
  private level: PaceLevel = "primary";
  private blocker: string | null = null;
  private steeredAt = 0;
  private last: Salute | undefined;
  private reportedAt = 0;

  constructor(
    private readonly parts: CourseParts,
    private readonly record: AttemptRecord,
    private readonly file: ReflexFile,
    private readonly place: { readonly directory: string },
  ) {}

  /** One more step might be worth a word. */
  get isNear(): boolean {
    return this.near;
  }

  /** The pulse is another. Synchronous, because the hook of the next step may be under way already. */
  saw(recorded: Pulse | undefined): void {
    if (!recorded) return;
    this.pulse = withKnownWindow(recorded, this.file);
    this.lookAhead(this.pulse);
  }

  /** What the pulse will be once it is recorded; asked for only where something follows from it. */
  foresee(coming: () => Pulse): void {
    if (this.file.steers) this.lookAhead(withKnownWindow(coming(), this.file));
  }

  private lookAhead(pulse: Pulse): void {
    // A word from elsewhere may come at any time.
    const { steers, salute, rules } = this.file;
    const near = salute.shared !== null || (steers && isNearTrouble(pulse, rules));
    if (near === this.near) return;
    this.near = near;
    const alert = `${this.place.directory}/${ALERT_FILE}`;
    if (near) writeFileSync(alert, "1", { mode: 0o600 });
    else rmSync(alert, { force: true });
  }

  /** Writes what has changed; returns what a person looking on should read. */
  async settle(ended: boolean): Promise<string[]> {
    const { pulse } = this;
    if (!pulse) return [];
    const notes = [...(await this.paceChange(pulse)), ...(await this.noteBlocker(pulse)), ...this.steering(pulse)];
    await this.report(pulse, ended);
    return notes;
  }

  private async paceChange(pulse: Pulse): Promise<string[]> {
    const course = pulse.course ?? NEW_COURSE;
    const [from, to] = [this.level, paceOf(course, this.file.rules.doctrine)];
    if (from === to) return [];
    this.level = to;
    const data = { from, to, idle: course.idle, strain: course.strain };
    const because = course.strain === 0 && course.idle === 0 ? "progress" : "idle-steps-and-failures";
    await this.record.commit((attempt) =>
      accept([attemptEvent(attempt, "overseer", "agent.pace", because, data)], null),
    );
    return [`PACE ${from} → ${to}`];
  }

  /** What only a person can solve is told to one by the tick; the agent itself can do nothing about it. */
  private async noteBlocker({ course = NEW_COURSE }: Pulse): Promise<string[]> {
    const met = blockerOf(course);
    const what = met?.what ?? null;
    if (what === this.blocker) return [];
    this.blocker = what;
    const fact = met?.fact ?? "";
    await this.record.commit((attempt) =>
      accept([attemptEvent(attempt, "overseer", "agent.blocked", what ?? "past", { what, fact })], null),
    );
    return met ? [`needs a person: ${met.fact}`] : [];
  }

  private steering({ course }: Pulse): string[] {
    const last = course?.lastSteering;
    if (!last || last.at === this.steeredAt) return [];
    this.steeredAt = last.at;
    return [`steered: ${last.cause}`];
  }

  private async report(pulse: Pulse, ended: boolean): Promise<void> {
    const { salute, rules, unit, steers } = this.file;
    const now = this.parts.clock.now();
    const iso = (at: number) => new Date(at).toISOString();
    const next = redactDeep(saluteOf({ pulse, unit, rules, reflex: steers, ended, iso, now }));
    const due = isSaluteDue(this.last, next);
    const stale = salute.shared !== null && this.parts.clock.monotonic() - this.reportedAt >= REPORT_AT_LEAST_MS;
    if (!due && !stale) return;
    this.reportedAt = this.parts.clock.monotonic();
    if (due) {
      this.last = next;
      await this.keep(salute.directory, next);
    }
    if (salute.shared !== null) await this.share(salute.shared, next);
  }

  private async keep(directory: string, salute: Salute): Promise<void> {
    const { files } = this.parts;
    const { agent } = this.file.unit;
    // Nothing is made again at the old place of a repository that was moved away.
    if ((await files.facts(dirname(directory))) === undefined) return;
    await files.makeDir(directory, { mode: 0o700 });
    await files.write(saluteLatest(directory, agent), textOf(salute));
    const history = (await files.read(saluteHistory(directory, agent))) ?? "";
    await files.write(saluteHistory(directory, agent), withSalute(history, salute, this.file.salute.keep));
  }

  /** Only the latest, and for whoever shares the volume to read. */
  private async share(directory: string, salute: Salute): Promise<void> {
    const { files } = this.parts;
    await files.makeDir(directory);
    await files.write(saluteLatest(directory, this.file.unit.agent), textOf(salute), { mode: 0o644 });
  }
}

function textOf(salute: Salute): string {
  return `${JSON.stringify(salute, null, 1)}\n`;
}
