/** Runs `landing.afterLand` on what the target has become, in a worktree of ours, and records what follows. Repeatable. */

import { recordAuto } from "#act/auto/auto-logs.ts";
import { judgeCommit } from "#act/checks/check.ts";
import { momentNow } from "#act/checks/claim-store.ts";
import type { ActParts } from "#act/parts.ts";
import { concludeAfterLand, holdOn } from "#domain/landing/after-command.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { HELD_BACK, hastenAction } from "#domain/model/action.ts";
import type { Receipt } from "#domain/model/check.ts";
import { accept } from "#domain/model/decision.ts";
import { openActions } from "#store/actions.ts";
import { openQuestions } from "#store/assignments.ts";
import { eventsMatching } from "#store/events.ts";
import { lastLandings } from "#store/fleet-sight.ts";
import { inTurn } from "#sys/turn.ts";
import { commandAfterLand } from "./command-after-land.ts";

/** One after the other, as they landed. */
export function runAfterLand(action: Action<"afterLand">, parts: ActParts): Promise<ActionOutcome> {
  return inTurn(parts.processes, `afterLand ${parts.root.state}`, () => runInTurn(action, parts));
}

async function runInTurn({ payload }: Action<"afterLand">, parts: ActParts): Promise<ActionOutcome> {
  const after = await commandAfterLand(parts);
  if (after === null) return { ok: true, result: "not wanted any more" };
  // Named after its commit: what passed on the same files before says nothing about bringing them there again.
  const name = `afterLand@${payload.commit.slice(0, 10)}`;
  const command = { name, command: after.line, timeoutMs: after.timeoutMs, once: true } as const;
  const spec = { ...command, on: ["land"], expect: null, protected: [] } as const;
  if (after.auto && (await wasCutOff(parts, name))) return askAboutCutOff(parts, payload);
  const [receipt] = (await judgeCommit(parts, null, [spec], "land", payload.commit)) ?? [];
  if (!receipt) return { ok: false, problem: "it was not run", retry: "backoff" };
  if (after.auto) await recordPostAccept(parts, payload, after.line, receipt);
  const moment = momentNow(parts);
  await (await parts.writer()).commit({
    at: moment.now,
    reads: { open: openQuestions() },
    decide: ({ open }) =>
      accept(
        concludeAfterLand(payload, receipt, open, moment, after.auto ? "auto.postAcceptCommand" : "landing.afterLand"),
        null,
      ),
  });
  return { ok: true, result: receipt.verdict };
}

/** The run of the last landing is among these. */
const LATEST_CHECKS = 200;

/** It was begun by somebody who is no more, and nobody saw its end. */
async function wasCutOff(parts: ActParts, name: string): Promise<boolean> {
  const { checks } = await (await parts.writer()).read({
    checks: eventsMatching({ type: "check", newest: true, limit: LATEST_CHECKS }),
  });
  const types = checks.flatMap(({ type, data }) => ("name" in data && data.name === name ? [type] : []));
  return types.includes("check.started") && !types.includes("check.finished");
}

/**
 * AUTO-11: once per landing. Whoever deploys must not be run a second time beside or after a first run of which nobody
 * knows how far it got; what it left is for a person to see.
 */
async function askAboutCutOff(parts: ActParts, payload: Action<"afterLand">["payload"]): Promise<ActionOutcome> {
  const why = "it was begun before, nobody saw its end, and it is not run twice";
  const moment = momentNow(parts);
  await (await parts.writer()).commit({
    at: moment.now,
    reads: { open: openQuestions() },
    decide: ({ open }) => accept(concludeAfterLand(payload, { verdict: "did_not_run", why }, open, moment), null),
  });
  await recordAuto(parts, "post_accept", { event: "post_accept.cut_off", ...payload, why });
  return { ok: true, result: "did_not_run" };
}

/** The one that it ran for is among these. */
const LATEST_LANDINGS = 20;

/** LOG-3: each run, with everything it printed. */
async function recordPostAccept(
  parts: ActParts,
  { target, commit, landing }: Action<"afterLand">["payload"],
  command: string,
  { verdict, why, exit, durationMs, logPath }: Receipt,
): Promise<void> {
  const output = logPath === "" ? "" : ((await parts.files.read(logPath)) ?? "");
  const { merges } = await (await parts.writer()).read({ merges: lastLandings(LATEST_LANDINGS) });
  const worker = merges.find(({ merge }) => merge.target === target && merge.to === commit)?.merge.agent ?? null;
  const outcome = { verdict, why, exit, durationMs, output };
  await recordAuto(parts, "post_accept", {
    event: "post_accept",
    worker,
    landing,
    target,
    commit,
    command,
    ...outcome,
  });
}

/** Why nothing may land there by itself; undefined when it may. */
export async function holdOnTarget(parts: Pick<ActParts, "writer">, target: string): Promise<string | undefined> {
  const { open, actions } = await (await parts.writer()).read({ open: openQuestions(), actions: openActions() });
  return holdOn(target, open, actions);
}

/** What was held back is due once nobody holds it any more; each is judged again when it is its turn. */
export async function hastenHeldLandings(parts: Pick<ActParts, "writer" | "clock">): Promise<number> {
  const moment = momentNow(parts);
  const outcome = await (await parts.writer()).commit({
    at: moment.now,
    reads: { open: openActions() },
    decide: ({ open }) => {
      const held = open.filter(({ kind, problem }) => kind === "land" && problem?.startsWith(HELD_BACK));
      const events = held.flatMap((action) => {
        const hastened = hastenAction(action, "nobody-holds-it", moment);
        return hastened.ok ? hastened.events : [];
      });
      return accept(events, events.length);
    },
  });
  return outcome.ok ? outcome.value : 0;
}
