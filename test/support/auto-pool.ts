/**
 * A pool for tests: a directory in which each file is what the pool command does when it is asked next, in the order of
 * their names. A text is printed as the task; a file that ends in `.sh` is run. What was given is moved away first, as a
 * tracker does that marks a task as taken, so that whoever loses an answer loses a task.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AutoView } from "#domain/auto/auto-view.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { startOverseer } from "./cli.ts";
import { eventually, type Fleet } from "./fleet.ts";
import { tempDir } from "./temp.ts";

const COMMAND = `#!/bin/sh
here=$(dirname "$0")
for file in "$here"/todo/*; do
  [ -f "$file" ] || exit 4
  name=$(basename "$file")
  mv "$file" "$here/given/$name"
  case $name in *.sh) . "$here/given/$name"; exit ;; esac
  cat "$here/given/$name"
  exit 0
done
`;

export class TestPool {
  readonly dir = tempDir("pool-");
  readonly command = join(this.dir, "next");

  constructor() {
    for (const name of ["todo", "given"]) mkdirSync(join(this.dir, name));
    writeFileSync(this.command, COMMAND, { mode: 0o755 });
  }

  /** Puts it there whole: a command that is asked meanwhile sees all of it, or nothing. */
  put(name: string, text: string): void {
    writeFileSync(join(this.dir, name), text);
    renameSync(join(this.dir, name), join(this.dir, "todo", name));
  }

  /** What a script says to wait for `letGo`. */
  readonly waiting = 'until [ -e "$here/go" ]; do sleep 0.05; done';

  letGo(): void {
    writeFileSync(join(this.dir, "go"), "");
  }

  given(): string[] {
    return readdirSync(join(this.dir, "given")).toSorted();
  }

  has(name: string): boolean {
    return existsSync(join(this.dir, name));
  }
}

/** A task that adds one file. */
export function adding(name: string, before: readonly Step[] = []): string {
  return tell(`Add ${name}`, [
    ...before,
    { kind: "edit", file: `${name}.txt`, content: `${name}\n` },
    { kind: "commit", message: `Write ${name}` },
    { kind: "report", status: "done", summary: `${name} is there` },
  ]);
}

export function tell(title: string, steps: readonly Step[]): string {
  return `${title}\n\n${renderScript(steps)}\n`;
}

/** Everything quick; nothing of it is what is tested. */
export const AUTO_CONFIG = `
landing: {dirtyWait: {base: 200ms, max: 1s}}
reconcile: {tickEvery: 2s, minimumAge: 100ms, backoff: {base: 100ms, max: 1s}}
wip: {keepAfterLanding: 0s}
checks:
  tests: {command: "true", on: [done, land], timeout: 30s}
`;

export const autoKeys = (more = "", concurrency = 2) =>
  `${AUTO_CONFIG}auto: {concurrency: ${concurrency}, every: 150ms${more === "" ? "" : `, ${more}`}}\n`;

/** The daemon in a process of ours, so that its exit code is seen. */
export class Foreground {
  readonly child: ReturnType<typeof startOverseer>;
  private constructor(fleet: Fleet, words: readonly string[]) {
    this.child = startOverseer(fleet.repo.path, ["up", "--foreground", "--auto", ...words]);
  }

  /** Resolves when it is registered, or has ended before that. */
  static async start(fleet: Fleet, ...words: string[]): Promise<Foreground> {
    const started = new Foreground(fleet, words);
    await eventually(
      () => started.child.exitCode !== null || fleet.daemon()?.pid === started.child.pid,
      () => "the daemon to be registered",
    );
    return started;
  }

  async end(): Promise<{ readonly code: number; readonly stderr: string }> {
    const [stderr, code] = await Promise.all([this.child.stderr.text(), this.child.exited]);
    return { code, stderr };
  }
}

/** How each task of the pool ended, by title. */
export function outcomes(fleet: Fleet): Record<string, string> {
  const titles = new Map(
    fleet.all("goal.created").map((event) => [event.goalId, String((event.data as { title?: string }).title ?? "")]),
  );
  return Object.fromEntries(
    fleet.all("pool.ended").map(({ goalId, data }) => [titles.get(goalId) ?? String(goalId), data.outcome]),
  );
}

export function landedTitles(fleet: Fleet): string[] {
  return fleet.repo.git("log", "--format=%s", "main").split("\n").slice(0, -1).toSorted();
}

export async function until(fleet: Fleet, look: () => unknown, what: string): Promise<void> {
  await eventually(
    () => Boolean(look()),
    () => `${what}\n${tail(fleet)}`,
    30_000,
  );
}

export function tail(fleet: Fleet): string {
  return fleet
    .happened()
    .filter(({ type }) => type !== "overseer.tick")
    .slice(-60)
    .map(
      (e) =>
        `${e.seq} ${e.goalId ?? ""} ${e.agent ?? ""} ${e.type} ${e.because} ${JSON.stringify(e.data).slice(0, 200)}`,
    )
    .join("\n");
}

export interface AutoLogLine {
  readonly time: string;
  readonly event: string;
  readonly worker: string | null;
  readonly exit?: number | null;
  readonly stdout?: string;
  readonly durationMs?: number;
  readonly [field: string]: unknown;
}

export function readLog(fleet: Fleet, name: "auto" | "task_pool" | "post_accept"): AutoLogLine[] {
  const path = `${fleet.state}/logs/${name}.log`;
  const lines = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  return lines.filter(Boolean).map((line) => JSON.parse(line) as AutoLogLine);
}

export async function readView(fleet: Fleet): Promise<AutoView> {
  return (JSON.parse(await fleet.ok("auto", "--json")) as { auto: AutoView }).auto;
}

/** Waits until a daemon says, then or later, that this is why no task is taken. */
export async function untilWhy(fleet: Fleet, why: string, at = 0): Promise<void> {
  const isSaid = () => {
    const beat = fleet.heartbeat();
    return beat !== undefined && beat.at >= at && beat.auto?.why?.startsWith(why);
  };
  await until(fleet, isSaid, `"${why}" to be said; it is ${JSON.stringify(fleet.heartbeat()?.auto)}`);
}

/** Some turns of the pool from now, as the daemon counts the time. */
export function afterSomeTurns(fleet: Fleet): number {
  return (fleet.heartbeat()?.at ?? 0) + 500;
}
