/** What a user can see of the keys about checks and landing: one piece of work, reported, checked and landed under them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runChecks } from "#act/check.ts";
import { landAction } from "#act/claim-actions.ts";
import { landClaim } from "#act/land.ts";
import { reap } from "#act/reap.ts";
import type { Config } from "#config/schema.ts";
import { land as landNode } from "#control/landing.ts";
import type { World } from "#control/world.ts";
import type { Action } from "#domain/action.ts";
import { NO_USAGE } from "#domain/attempt.ts";
import { endAttempt } from "#domain/attempt-end.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { readNow } from "#sys/read-now.ts";
import { foundLanding, GOAL, type LandingWorld, landingWorld, tasks } from "./landing-world.ts";
import { tempRepo } from "./temp.ts";

const PLACE = { goalId: GOAL, nodeId: "T1" };
type Check = Config["checks"][string];

/** `command` is the story's; everything else about the check is the configuration's. */
function checked(config: Config, command: string): Config {
  const usual: Check = { command, timeout: 60_000, on: ["done", "land"], expect: null, protected: [] };
  return { ...config, checks: { tests: { ...usual, ...config.checks.tests, command } } };
}

async function staged<T>(config: Config, show: (world: LandingWorld) => Promise<T>): Promise<T> {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(1));
  const world = await landingWorld(repo.path, { parsed: config });
  try {
    return await show(world);
  } finally {
    await world.close();
  }
}

/** How a report of done ends when its check runs this. */
export function checkedBy(command: string) {
  return (config: Config) =>
    staged(checked(config, command), async (world) => {
      const attempt = await world.attempt("T1");
      world.commit(attempt, { "b.txt": "b\n" });
      const reported = await world.report(attempt);
      return [reported, (await runChecks(world.parts, PLACE)).kind];
    });
}

export interface LandedView {
  readonly outcome: string;
  readonly parents: number;
  readonly message: string;
  readonly worktree: string;
}

/** How it lands when nothing stands in the way, and what stays of the agent. */
export function landedUnder(show: (view: LandedView) => unknown, force?: "auto") {
  return (config: Config) =>
    staged(checked(config, "true"), async (world) => {
      const attempt = await world.attempt("T1");
      world.commit(attempt, { "b.txt": "b\n" });
      await world.report(attempt, { summary: "It works.\nCo-Authored-By: A Tool <a@example.invalid>" });
      await runChecks(world.parts, PLACE);
      const { kind: outcome } = await landClaim(world.parts, force ? { ...PLACE, mode: force } : PLACE);
      const shown = Bun.spawnSync(["git", "log", "-1", "--format=%P%n%B", "main"], {
        cwd: world.repo,
      }).stdout.toString();
      const [parents = "", ...message] = shown.split("\n");
      const end = { cause: "stopped", detail: "", exitCode: 0, signal: null, usage: NO_USAGE, wip: null } as const;
      await world.store.commit({
        at: 1,
        reads: { now: attemptByNumber(attempt.attempt) },
        decide: ({ now }) =>
          endAttempt(now, { node: undefined, assignment: undefined, parent: undefined, waiting: [] }, end, {
            now: 1,
            actor: "overseer",
          }),
      });
      const worktree = outcome === "done" ? (await reap(world.parts, attempt.attempt)).kind : "untouched";
      return show({ outcome, parents: parents.split(" ").length, message: message.join("\n"), worktree });
    });
}

/** What becomes of a second failure in a row. */
export const failingTwice = (config: Config) =>
  staged(checked(config, "false"), async (world) => {
    const attempt = await world.attempt("T1");
    const seen: string[] = [];
    for (const name of ["b.txt", "c.txt"]) {
      world.commit(attempt, { [name]: "x\n" });
      await world.report(attempt);
      seen.push((await runChecks(world.parts, PLACE)).kind);
    }
    return seen;
  });

/** How long a checkout that is not clean is left alone before the first and before the eighth look. */
export const dirtyWaits = (config: Config) =>
  staged({ ...config, landing: { ...config.landing, mode: "auto" } }, async (world) => {
    const attempt = await world.attempt("T1");
    world.commit(attempt, { "b.txt": "b\n" });
    await world.report(attempt);
    writeFileSync(join(world.repo, "a.txt"), "mine\n");
    const waits: unknown[] = [];
    for (let look = 0; look < 8; look += 1) {
      const outcome = await landAction({ kind: "land", goalId: GOAL, workNodeId: "T1" } as Action<"land">, world.parts);
      waits.push(outcome.ok || typeof outcome.retry !== "object" ? outcome : outcome.retry.afterMs);
    }
    return [waits[0], waits[7]];
  });

/** The same world with a person in front of it. */
export function asPerson(world: LandingWorld): World {
  return { ...world.parts, actor: "human:ada", reader: async () => world.store, readNow };
}

/** `work land`, as a person types it. */
export function landByHand(world: LandingWorld, node: string) {
  return landNode(asPerson(world), { node });
}

/** The attempt is over, as its runner would record it. */
export async function endOf(world: LandingWorld, attempt: number): Promise<void> {
  const end = { cause: "stopped", detail: "", exitCode: 0, signal: null, usage: NO_USAGE, wip: null } as const;
  await world.store.commit({
    at: 1,
    reads: { now: attemptByNumber(attempt) },
    decide: ({ now }) =>
      endAttempt(now, { node: undefined, assignment: undefined, parent: undefined, waiting: [] }, end, {
        now: 1,
        actor: "overseer",
      }),
  });
}
