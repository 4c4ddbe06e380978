/**
 * The demo's throw-away place: one temporary directory that holds the repository, a home, the sockets and every file of
 * it. All of its processes carry that directory as their TMPDIR, which is how each of them is found again and ended,
 * whoever started it, also by somebody who was not there. Nothing of the person's own is in sight of what runs here:
 * not their HOME, not their git settings, not their tmux, not a repository they stand in.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Processes, ProcessIdentity } from "#sys/processes.ts";

export interface DemoSandbox {
  readonly base: string;
  readonly repo: string;
  /** The whole environment of everything that is started there. */
  readonly env: Readonly<Record<string, string>>;
}

const PREFIX = "overseer-demo-";
const OWNER = "owner.json";
/** Sockets lie below, and their paths are limited to some hundred bytes; a user's number may have ten digits. */
const LONGEST_PARENT = 26;

/** What of the person's environment is let in. */
const LET_IN = /^(PATH|SHELL|USER|LOGNAME|TERM|COLORTERM|NO_COLOR|LANG|LANGUAGE|TZ|LC_\w+|IS_SANDBOX|OVERSEER_TEST)$/;

type Environment = Readonly<Record<string, string | undefined>>;

/** `more`: what its processes get to know beyond what is let in. */
export function makeDemoSandbox(
  owner: ProcessIdentity,
  env: Environment,
  more: Readonly<Record<string, string>>,
): DemoSandbox {
  const base = realpathSync(mkdtempSync(join(parentOf(env), PREFIX)));
  writeFileSync(join(base, OWNER), JSON.stringify(owner));
  for (const name of ["home", "repo"]) mkdirSync(join(base, name));
  writeFileSync(join(base, "gitconfig"), "[user]\n\tname = Overseer Demo\n\temail = demo@overseer.invalid\n");
  return placeAt(base, env, more);
}

function parentOf(env: Environment): string {
  const wanted = env.TMPDIR || tmpdir();
  return Buffer.byteLength(wanted) <= LONGEST_PARENT ? wanted : "/tmp";
}

function placeAt(base: string, env: Environment, more: Readonly<Record<string, string>>): DemoSandbox {
  const letIn = Object.entries(env).filter(
    (pair): pair is [string, string] => LET_IN.test(pair[0]) && pair[1] !== undefined,
  );
  return {
    base,
    repo: join(base, "repo"),
    env: {
      ...Object.fromEntries(letIn),
      HOME: join(base, "home"),
      // Also with the person's own HOME: what is confirmed for a throw-away repository goes with it.
      XDG_STATE_HOME: join(base, "state"),
      ...more,
      TMPDIR: base,
      // Made by us a moment ago, with nothing of anybody's in it.
      OVERSEER_TRUSTED_FOLDER: join(base, "repo"),
      GIT_CONFIG_GLOBAL: join(base, "gitconfig"),
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
    },
  };
}

export function writeInto(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}

/** Everything that runs there, but for those who look. */
export function listDemoProcesses(processes: Processes, base: string): ProcessIdentity[] {
  const self = processes.self();
  return processes.withEnvironment("TMPDIR", base).filter(({ pid }) => pid !== self.pid);
}

const LOOKS = 200;
const BETWEEN_LOOKS_MS = 25;

/** Ends all of them and says how many. One that is being started while we look is found by the next look. */
export async function endAll(
  processes: Processes,
  base: string,
  sleep: (ms: number) => Promise<void>,
): Promise<number> {
  const ended = new Set<number>();
  let quiet = 0;
  for (let look = 0; look < LOOKS && quiet < 3; look += 1) {
    const left = listDemoProcesses(processes, base);
    quiet = left.length === 0 ? quiet + 1 : 0;
    for (const one of left) if (processes.signal(one, "SIGKILL")) ended.add(one.pid);
    await sleep(BETWEEN_LOOKS_MS);
  }
  return ended.size;
}

export function removeDemoSandbox(base: string): void {
  rmSync(base, { recursive: true, force: true, maxRetries: 5 });
}

/** Nobody looks after it any more, because the demo was kept on purpose. */
export function release(base: string): void {
  rmSync(join(base, OWNER), { force: true });
}

/** The demo's place around a directory, when the demo it belonged to was killed; undefined for every other directory. */
export function findAbandonedDemo(directory: string, processes: Processes): string | undefined {
  const base = new RegExp(`^.*/${PREFIX}[^/]+`).exec(directory)?.[0];
  const owner = base === undefined ? undefined : ownerOf(base);
  return owner && !processes.alive(owner) ? base : undefined;
}

/** Places of demos that were killed before they could clean up. */
export function listAbandonedDemos(processes: Processes, env: Environment): string[] {
  // Whoever left it may have had a shorter way to the temporary directory.
  const parents = new Set([env.TMPDIR || tmpdir(), parentOf(env)]);
  return [...parents].flatMap((parent) =>
    readdirSync(parent)
      .filter((name) => name.startsWith(PREFIX))
      .flatMap((name) => findAbandonedDemo(join(parent, name), processes) ?? []),
  );
}

function ownerOf(base: string): ProcessIdentity | undefined {
  const path = join(base, OWNER);
  if (!existsSync(path)) return undefined;
  const { pid, start } = JSON.parse(readFileSync(path, "utf8")) as Partial<ProcessIdentity>;
  return pid === undefined || start === undefined ? undefined : { pid, start };
}
