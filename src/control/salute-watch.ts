/**
 * Supervises agents of other containers or hosts by the reports they leave on a shared volume, and steers them by files
 * that their own hooks take away (SALUTE-2). It needs no repository and no store: the files are the channel. Every file
 * is written beside and renamed, so nobody reads half of one.
 */

import { basename } from "node:path";
import { tryJson } from "#domain/core/shape.ts";
import { emergencyFile, type Salute, type SteeringNote, saluteLatest, steeringFile } from "#domain/signals/salute.ts";
import { type Overlooked, overlook, saluteIn } from "#domain/signals/salute-watch.ts";
import { messageOf, OverseerError } from "#errors.ts";
import type { Clock } from "#sys/clock.ts";
import type { Files } from "#sys/files.ts";
import { readSmallFile } from "#sys/read-small.ts";

const LATEST = "_latest.json";
const LARGEST_REPORT = 64 * 1024;

export interface SharedVolume {
  readonly files: Files;
  readonly clock: Clock;
  readonly directory: string;
  /** An agent that has not reported for so long counts as gone. */
  readonly goneAfterMs: number;
  /** Whether one that reports in that directory may be steered from here; everybody where nobody says. */
  readonly maySteer?: (container: string, agent: string) => boolean;
  /** Told of each report of an emergency; what it answers is for a person to read. */
  readonly onEmergency?: (emergency: EmergencyElsewhere) => Promise<string | undefined>;
}

/** An agent elsewhere that has reached the last of its PACE levels. */
export interface EmergencyElsewhere {
  /** The directory in which it reports. */
  readonly container: string;
  readonly unit: Salute["unit"];
  readonly startedAt: string | null;
  /** It was seen on its way before: an earlier emergency of the same attempt is another. */
  readonly isAnother: boolean;
}

export class SaluteWatch {
  private readonly known = new Map<string, Overlooked>();
  private readonly odd = new Set<string>();
  /** What was last told of files and directories about which something failed. */
  private readonly problems = new Map<string, string>();

  constructor(private readonly volume: SharedVolume) {}

  /** How many agents have reported so far. */
  get reporting(): number {
    return this.known.size;
  }

  /** One look at everything; returns what a person should read. Throws when the shared directory is gone. */
  async look(): Promise<string[]> {
    const notes: string[] = [];
    for (const directory of await this.places()) {
      notes.push(...(await this.tryToFollow(directory, () => this.lookInto(directory))));
    }
    return notes;
  }

  /** The directory itself, and one below it for each container. */
  private async places(): Promise<string[]> {
    const { files, directory } = this.volume;
    const names = await files.list(directory);
    if (!names) {
      throw new OverseerError(
        "environment",
        "SALUTE_DIR_GONE",
        `${directory} does not exist: the agents that report there cannot be seen.`,
        "Mount the shared volume, or name another directory with --salute.",
      );
    }
    const below: string[] = [];
    for (const name of names) {
      if ((await files.facts(`${directory}/${name}`))?.kind === "directory") below.push(`${directory}/${name}`);
    }
    return [directory, ...below];
  }

  /** What is wrong with one container ends the watch of no other. */
  private async tryToFollow(path: string, look: () => Promise<string[]>): Promise<string[]> {
    try {
      return await look();
    } catch (error) {
      const problem = `${path} could not be followed: ${messageOf(error)}`;
      if (this.problems.get(path) === problem) return [];
      this.problems.set(path, problem);
      return [problem];
    }
  }

  private async lookInto(directory: string): Promise<string[]> {
    const notes: string[] = [];
    const names = (await this.volume.files.list(directory)) ?? [];
    for (const path of names.filter((one) => one.endsWith(LATEST)).map((name) => `${directory}/${name}`)) {
      notes.push(...(await this.tryToFollow(path, () => this.lookAt(directory, path))));
    }
    return notes;
  }

  private async lookAt(directory: string, path: string): Promise<string[]> {
    const text = await readSmallFile(path, LARGEST_REPORT);
    const salute = text === undefined ? undefined : saluteIn(tryJson(text));
    // Each agent writes its own file; under another's name nothing is believed.
    if (!salute || saluteLatest(directory, salute.unit.agent) !== path) {
      if (this.odd.has(path)) return [];
      this.odd.add(path);
      return [`${path} is not a report this version understands; it is skipped.`];
    }
    const { clock, goneAfterMs } = this.volume;
    const { agent } = salute.unit;
    const container = basename(directory);
    const maySteer = this.volume.maySteer?.(container, agent) ?? true;
    const seen = overlook(this.known.get(path), salute, clock.monotonic(), { goneAfterMs, maySteer });
    this.known.set(path, seen.memory);
    if (seen.over) await this.volume.files.remove(steeringFile(directory, agent));
    if (seen.steering) await this.leave(steeringFile(directory, agent), noteFor(salute, seen.steering, clock.now()));
    if (seen.emergency) await this.leave(emergencyFile(directory, agent), { ...salute.unit, status: salute.status });
    if (!seen.emergency || !this.volume.onEmergency) return [...seen.notes];
    const { unit, time } = salute;
    const { isAnother } = seen;
    const asked = await this.volume.onEmergency({ container, unit, startedAt: time.startedAt, isAnother });
    return [...seen.notes, ...(asked === undefined ? [] : [asked])];
  }

  private async leave(path: string, content: object): Promise<void> {
    await this.volume.files.write(path, `${JSON.stringify(content)}\n`, { mode: 0o644 });
  }
}

function noteFor(
  { unit }: Salute,
  steering: { anomaly: string; step: number; text: string },
  now: number,
): SteeringNote {
  const { anomaly, step, text } = steering;
  return { v: 1, agent: unit.agent, attempt: unit.attempt, anomaly, step, text, at: new Date(now).toISOString() };
}
