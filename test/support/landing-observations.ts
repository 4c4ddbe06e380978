/** What a user can see of the keys about checks and landing: one piece of work, reported, checked and landed under them. */

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runChecks } from "#act/checks/check.ts";
import { compactSignals } from "#act/compact-signals.ts";
import { runAfterLand } from "#act/landing/after-land.ts";
import { landClaim } from "#act/landing/land.ts";
import { workOffQueue } from "#act/landing/queue.ts";
import { reap } from "#act/landing/reap.ts";
import type { Config } from "#config/schema.ts";
import { land as landNode } from "#control/landing.ts";
import { queue } from "#control/merge.ts";
import type { World } from "#control/world.ts";
import { endAttempt } from "#domain/agents/attempt-end.ts";
import type { Action } from "#domain/model/action.ts";
import { type Attempt, NO_USAGE } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import landAction from "#engine/actions/land.ts";
import { openActions } from "#store/actions.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { listLandedMerges } from "#store/merges.ts";
import { addressIn, openSignalLog } from "#store/open.ts";
import { readNow } from "#sys/read-now.ts";
import { registerAuto } from "./auto-observations.ts";
import { foundLanding, GOAL, type LandingWorld, landingWorld, tasks } from "./landing-world.ts";
import { gitIn, tempRepo } from "./temp.ts";

const PLACE = { goalId: GOAL, nodeId: "T1" };
type Check = Config["checks"][string];

/** `command` is the story's; everything else about the check is the configuration's. */
function checked(config: Config, command: string): Config {
  const usual: Check = { command, timeout: 60_000, on: ["done", "land"], expect: null, protected: [] };
  return { ...config, checks: { tests: { ...usual, ...config.checks.tests, command } } };
}

async function staged<T>(
  config: Config,
  show: (world: LandingWorld) => Promise<T>,
  files: Record<string, string> = { "a.txt": "a\n" },
  count = 1,
): Promise<T> {
  const repo = tempRepo({ files });
  await foundLanding(repo.path, tasks(count));
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
  /** How many claimed commits are still kept. */
  readonly claims: number;
  /** What it waits for. */
  readonly waitsFor: string | undefined;
}

/** How it lands when nothing stands in the way, and what stays of the agent. */
export function landedUnder(show: (view: LandedView) => unknown, force?: "auto") {
  return (config: Config) =>
    staged(checked(config, "true"), async (world) => {
      const attempt = await world.attempt("T1");
      world.commit(attempt, { "b.txt": "b\n" });
      await world.report(attempt, { summary: "It works.\nCo-Authored-By: Claude <a@example.invalid>" });
      await runChecks(world.parts, PLACE);
      const { kind: outcome } = await landClaim(world.parts, force ? { ...PLACE, mode: force } : PLACE);
      const shown = Bun.spawnSync(["git", "log", "-1", "--format=%P%n%B", "main"], {
        cwd: world.repo,
      }).stdout.toString();
      const [parents = "", ...message] = shown.split("\n");
      await endIn(world, attempt);
      const worktree = outcome === "done" ? (await reap(world.parts, attempt.attempt)).kind : "untouched";
      const waitsFor = (await world.node("T1")).claim?.waiting?.detail;
      const claims = gitIn(world.repo, "for-each-ref", "refs/overseer/claims").split("\n").filter(Boolean).length;
      const seen = { waitsFor, outcome, worktree, claims };
      return show({ ...seen, parents: parents.split(" ").length, message: message.join("\n") });
    });
}

async function endIn(world: LandingWorld, { attempt }: Pick<Attempt, "attempt">): Promise<void> {
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

/** Whether a worktree goes after its agent when it holds an ignored file, and what the log says of it. */
export const reapedWithIgnored = (config: Config) =>
  staged(
    config,
    async (world) => {
      const attempt = await world.attempt("T1");
      writeFileSync(join(attempt.worktree, "server.log"), "it ran\n");
      await endIn(world, attempt);
      const { kind } = await reap(world.parts, attempt.attempt);
      const { now } = await world.store.read({ now: attemptByNumber(attempt.attempt) });
      return { kind, there: existsSync(join(attempt.worktree, "server.log")), said: now?.worktreeKept ?? null };
    },
    { "a.txt": "a\n", ".gitignore": "*.log\n" },
  );

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

/** How long a checkout with something in the way is left alone before the first and before the eighth look. */
export const dirtyWaits = (config: Config) =>
  staged({ ...config, landing: { ...config.landing, mode: "auto" } }, async (world) => {
    const attempt = await world.attempt("T1");
    world.commit(attempt, { "a.txt": "better\n" });
    await world.report(attempt);
    writeFileSync(join(world.repo, "a.txt"), "mine\n");
    const waits: unknown[] = [];
    for (let look = 0; look < 8; look += 1) {
      const outcome = await landAction({ kind: "land", goalId: GOAL, workNodeId: "T1" } as Action<"land">, world.parts);
      waits.push(outcome.ok || typeof outcome.retry !== "object" ? outcome : outcome.retry.afterMs);
    }
    return [waits[0], waits[7]];
  });

/** Long enough that a model which may read next to nothing is not asked. */
const TITLE = `# Title ${"-".repeat(400)}`;
const BASE = `${TITLE}\n\nfirst\n\nlast\n`;
const OURS = `${TITLE}\n\nfirst\nours\n\nlast\n`;
const THEIRS = `${TITLE}\n\nfirst\ntheirs\n\nlast\n`;
const BOTH = `${TITLE}\n\nfirst\nours\ntheirs\n\nlast\n`;

/** Commands that stand in for a model. */
export const MODELS = {
  good: `cat > /dev/null; printf '%s' '${JSON.stringify({ content: BOTH })}'`,
  bad: "cat > /dev/null; echo 'I kept both.'",
};

export interface ConflictView {
  readonly outcome: string;
  /** What the target has now. */
  readonly text: string;
  readonly tier: string | null;
  readonly asked: readonly EventOf<"model.asked">["data"][];
}

/** How a conflict of one file ends: `model` answers unless the configuration names another, `story` is the scene's. */
export function conflicted(
  show: (view: ConflictView) => unknown,
  scene: { readonly model?: string | null; readonly living?: true; readonly story?: (config: Config) => Config } = {},
) {
  return (given: Config) => {
    const told = scene.story?.(given) ?? given;
    const command = told.model.command ?? (scene.model === undefined ? MODELS.good : scene.model);
    const config: Config = {
      ...told,
      runtime: "scripted",
      model: { ...told.model, command },
      landing: { ...told.landing, mode: "auto" },
    };
    return staged(
      config,
      async (world) => {
        const attempt = await world.attempt("T1");
        world.commit(attempt, { "doc.md": THEIRS });
        writeFileSync(join(world.repo, "doc.md"), OURS);
        gitIn(world.repo, "commit", "--quiet", "--all", "--message", "Ours");
        await world.report(attempt);
        if (!scene.living) await endOf(world, attempt.attempt);
        await workOffQueue(world.parts);
        const events = await world.store.log({ after: 0, limit: 1000 });
        const { landed } = await world.store.read({ landed: listLandedMerges(1) });
        const { claim, status } = await world.node("T1");
        return show({
          outcome: claim ? `${status}, claimed` : status,
          text: gitIn(world.repo, "show", "main:doc.md"),
          tier: landed[0]?.tier ?? null,
          asked: events.flatMap((event) => (event.type === "model.asked" ? [event.data] : [])),
        });
      },
      { "doc.md": BASE },
    );
  };
}

/** How often the gate runs for three pieces of work that are good. */
export const gatesForThree = (config: Config) =>
  staged(
    { ...checked(config, "true"), landing: { ...config.landing, mode: "auto" } },
    async (world) => {
      for (const id of ["T1", "T2", "T3"]) {
        const attempt = await world.attempt(id);
        world.commit(attempt, { [`${id}.txt`]: "x\n" });
        await world.report(attempt);
        await runChecks(world.parts, { goalId: GOAL, nodeId: id });
      }
      await workOffQueue(world.parts);
      const events = await world.store.log({ after: 0, limit: 1000 });
      return events.filter((event) => event.type === "check.finished" && event.data.on === "land").length;
    },
    undefined,
    3,
  );

/** Who is next: one that is urgent, or one that is not and has waited for hours. */
export const queueOrder = (config: Config) =>
  staged(config, async (world) => {
    const now = world.parts.clock.now();
    const entry = (branch: string, priority: "high" | "low", since: number): NewEvent => {
      const data = { mergeId: `M_${branch}`, target: "main", branch, commit: "c", priority, since };
      return { type: "merge.queued", actor: "overseer", because: "x", data };
    };
    const events = [entry("patient", "low", now - 3 * 60 * 60_000), entry("loud", "high", now)];
    await world.store.commit({ at: now, reads: {}, decide: () => accept(events, null) });
    return (await queue(asPerson(world))).map(({ branch }) => branch);
  });

/** What a first look at a checkout with something in the way leads to. */
export const firstDirtyLook = (config: Config) =>
  staged({ ...config, landing: { ...config.landing, mode: "auto" } }, async (world) => {
    const attempt = await world.attempt("T1");
    world.commit(attempt, { "a.txt": "better\n" });
    await world.report(attempt);
    writeFileSync(join(world.repo, "a.txt"), "mine\n");
    return (await landClaim(world.parts, PLACE)).kind;
  });

/** What is to be done after a landing. */
export const followedLanding = (config: Config) =>
  staged({ ...config, landing: { ...config.landing, mode: "auto" } }, async (world) => {
    const attempt = await world.attempt("T1");
    world.commit(attempt, { "b.txt": "b\n" });
    await world.report(attempt);
    await landClaim(world.parts, PLACE);
    const { open } = await world.store.read({ open: openActions() });
    return open.map(({ kind }) => kind).sort();
  });

/** The same where the daemon is one of auto mode. */
export const followedAutoLanding = (config: Config) =>
  staged({ ...config, landing: { ...config.landing, mode: "auto" } }, async (world) => {
    registerAuto(world.parts);
    const attempt = await world.attempt("T1");
    world.commit(attempt, { "b.txt": "b\n" });
    await world.report(attempt);
    await landClaim(world.parts, PLACE);
    const { open } = await world.store.read({ open: openActions() });
    return open.map(({ kind }) => kind).sort();
  });

/** How auto mode's command after a landing ends that takes half a second. */
export const slowAfterLanding = (config: Config) =>
  staged(
    {
      ...config,
      landing: { ...config.landing, mode: "auto" },
      auto: { ...config.auto, postAcceptCommand: "sleep 0.5" },
    },
    async (world) => {
      registerAuto(world.parts);
      const attempt = await world.attempt("T1");
      world.commit(attempt, { "b.txt": "b\n" });
      await world.report(attempt);
      await landClaim(world.parts, PLACE);
      const { open } = await world.store.read({ open: openActions() });
      const action = open.find((one): one is Action<"afterLand"> => one.kind === "afterLand");
      return action && (await runAfterLand(action, world.parts));
    },
  );

/** How many of an agent's signals of three days ago go. */
export const compacted = (config: Config) =>
  staged(config, async (world) => {
    const { attempt, agent } = await world.attempt("T1");
    const signals = openSignalLog(addressIn(world.parts.root.state));
    const at = world.parts.clock.now() - 3 * 24 * 60 * 60_000;
    const said = (source: string) => ({ kind: "said", source, phase: "", at, data: { text: "x" } }) as const;
    await signals.record(attempt, agent, [said("a"), said("b"), said("c")]);
    signals.close();
    return compactSignals(world.parts);
  });

/** The same world with a person in front of it. */
export function asPerson(world: LandingWorld): World {
  return { ...world.parts, actor: "human:ada", reader: async () => world.store, readNow };
}

/** `work land`, as a person types it. */
export function landByHand(world: LandingWorld, node: string) {
  return landNode(asPerson(world), { node });
}

/** The attempt has ended, as its runner would record it. */
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
