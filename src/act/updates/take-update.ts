/**
 * The place where an agent's words become an update: the runner hands in the last message of a turn, the command line
 * the fields it was given. Both are held to the same rules, written in one commit with what follows, and fenced by the
 * attempt that speaks. A refusal is written down too; an agent that reported in its answer is asked again, one that used
 * the command is told by it. Repeating it with the same words changes nothing.
 */

import { findBroken, recordBroken } from "#act/attempt-end/keep-work.ts";
import { attemptDir, wipLimits } from "#act/attempt-files.ts";
import { readClaimedWork } from "#act/checks/claimed-work.ts";
import type { ActParts } from "#act/parts.ts";
import type { Config } from "#config/schema.ts";
import type { Actor } from "#domain/core/actor.ts";
import type { Refusal } from "#domain/core/refusal.ts";
import type { ClaimedWork } from "#domain/landing/report-done.ts";
import { type Attempt, attemptLabel, isLiving } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { EventOf } from "#domain/model/event.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import { type Reported, type ReportWay, recordRefusal, takeReport } from "#domain/reports/report.ts";
import { type AgentUpdate, isCommitId, parseUpdate, UPDATE_LIMITS, type UpdateLimits } from "#domain/reports/update.ts";
import { readUpdate } from "#domain/reports/update-block.ts";
import { keepClaimed } from "#git/claim-refs.ts";
import type { GitTools } from "#git/git.ts";
import { findCommit } from "#git/repository.ts";
import { openQuestions } from "#store/assignments.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { eventsMatching, isRequestKnown } from "#store/events.ts";
import { goalTreeOf, goalTreeReads } from "#store/goal-tree.ts";
import type { Store } from "#store/store.ts";
import { redactDeep } from "#telemetry/redact.ts";
import type { KeptReport } from "./kept-report.ts";

/** What a runner has, and every command. */
export interface UpdateParts extends Pick<ActParts, "root" | "clock" | "ids" | "git" | "config"> {
  writer(): Promise<Pick<Store, "read" | "commit">>;
}

/** How a report came. */
type Said = Pick<ReportWay, "via" | "request">;

export type TakenUpdate =
  /** There was nothing to take: no block, our own template, or what was taken before. */
  | { readonly kind: "none" }
  | { readonly kind: "taken"; readonly reported: Reported }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** The last message of a turn. Never throws for what it says. */
export async function takeUpdate(parts: UpdateParts, attempt: number, text: string): Promise<TakenUpdate> {
  const config = await parts.config();
  const reading = readUpdate(text, updateLimits(config));
  if (reading.kind === "none" || reading.kind === "template") return { kind: "none" };
  if (reading.kind === "update") return report(parts, config, attempt, reading.update, { via: "block" });
  const refusal: Refusal = { kind: "usage", code: reading.code, message: reading.reason, hint: "" };
  await refuseReport(parts, attempt, refusal, { via: "block" });
  return { kind: "refused", refusal };
}

/** The fields of a `work report`, or of a call by another door. */
export async function takeFields(
  parts: UpdateParts,
  attempt: number,
  update: AgentUpdate,
  request?: string,
): Promise<TakenUpdate> {
  return report(parts, await parts.config(), attempt, update, { via: "command", request });
}

/**
 * Fields that were kept while the agent's runner did not answer. Never throws for what they say. There is nothing to take
 * where the log knows that request already: its file was put back, or it was carried out and nobody heard of it.
 */
export async function takeKept(
  parts: UpdateParts,
  attempt: number,
  { id: request, fields }: Pick<KeptReport, "id" | "fields">,
): Promise<TakenUpdate> {
  const { known } = await (await parts.writer()).read({ known: isRequestKnown(attempt, request) });
  if (known) return { kind: "none" };
  const said: Said = { via: "kept", request };
  const config = await parts.config();
  const read = parseUpdate(fields, updateLimits(config));
  if (read.ok) return report(parts, config, attempt, read.update, said);
  const refusal: Refusal = { kind: "usage", code: "UPDATE_INVALID", message: read.reason, hint: "" };
  await refuseReport(parts, attempt, refusal, said);
  return { kind: "refused", refusal };
}

export function updateLimits({ store }: Pick<Config, "store">): UpdateLimits {
  return { ...UPDATE_LIMITS, summaryBytes: store.caps.summary, fieldBytes: store.caps.field };
}

async function report(
  parts: UpdateParts,
  config: Config,
  number: number,
  given: AgentUpdate,
  said: Said,
): Promise<TakenUpdate> {
  // As the store's door would do it, but before it is compared: else what was redacted would look new every time.
  const update = redactDeep(given) as AgentUpdate;
  const store = await parts.writer();
  const { attempt } = await store.read({ attempt: attemptByNumber(number) });
  const work = update.status === "done" && attempt ? await workBehind(parts, attempt, update) : null;
  const checks = Object.entries(config.checks).flatMap(([name, check]) => (check.on.includes("done") ? [name] : []));
  const way: ReportWay = {
    attempt: number,
    ...said,
    work,
    checks,
    crystallizationId: parts.ids.next("C_"),
    questionId: parts.ids.next("q_"),
  };
  const moment = { now: parts.clock.now(), actor: actorOf(attempt) };
  const outcome = await store.commit({
    at: moment.now,
    reads: readsFor(attempt, number),
    decide: (seen): Decision<Reported> => {
      const decision = takeReport(seen, update, way, moment);
      if (!decision.ok || !seen.goal) return decision;
      return settleDecision(goalTreeOf(seen.goal, seen), decision, moment);
    },
  });
  if (outcome.ok) return { kind: "taken", reported: outcome.value };
  await refuseReport(parts, number, outcome.refusal, said);
  return { kind: "refused", refusal: outcome.refusal };
}

function actorOf(attempt: Attempt | undefined): Actor {
  return attempt ? `agent:${attemptLabel(attempt)}` : "overseer";
}

function readsFor(attempt: Attempt | undefined, number: number) {
  const goalId = attempt?.goalId ?? "";
  return {
    attempt: attemptByNumber(number),
    ...goalTreeReads(goalId),
    questions: openQuestions(),
  };
}

/** How far back refusals in a row are looked for. */
const RECENT_REPORTS = 10;

async function refuseReport(parts: UpdateParts, number: number, refusal: Refusal, said: Said): Promise<void> {
  const store = await parts.writer();
  const { known } = await store.read({ known: attemptByNumber(number) });
  if (!known) return;
  const messageId = parts.ids.next("m_");
  const moment = { now: parts.clock.now(), actor: actorOf(known) };
  const { assignmentId } = known;
  await store.commit({
    at: moment.now,
    reads: {
      attempt: attemptByNumber(number),
      recent: eventsMatching({ type: "update", assignmentId, limit: RECENT_REPORTS, newest: true }),
    },
    decide: ({ attempt, recent }): Decision<null> => {
      const way = { attempt: number, ...said, refusedBefore: countRefusedInARow(recent, number), messageId };
      const fenced = attempt && !isLiving(attempt) ? { ...refusal, code: "ATTEMPT_FENCED" } : refusal;
      return accept(recordRefusal(attempt, fenced, way, moment), null);
    },
  });
}

function countRefusedInARow(recent: readonly EventOf[], attempt: number): number {
  const own = recent.filter((event) => event.attempt === attempt);
  const lastTaken = own.findLastIndex((event) => event.type === "update.taken");
  return own.slice(lastTaken + 1).filter((event) => event.type === "update.refused").length;
}

/**
 * What git says lies behind a report of done; of the commits it names, those that look like one. The commit has a ref of
 * its own before anybody relies on it.
 */
async function workBehind(parts: UpdateParts, attempt: Attempt, update: AgentUpdate): Promise<ClaimedWork> {
  const said = [...(update.evidence?.commits ?? []), ...(update.commit === undefined ? [] : [update.commit])];
  const readOnly = await readsOnly(parts.git, parts, attempt.attempt);
  // What lies in a worktree that git cannot read is not known to be nothing: nobody is taken at its word there.
  const place = { ...attempt, commonDir: parts.root.gitCommonDir, limits: wipLimits(await parts.config()) };
  const broken = readOnly ? undefined : (attempt.brokenWorktree ?? (await findBroken(parts.git, place)));
  if (broken) {
    await recordBroken(parts, attempt.attempt, broken);
    return { kind: "unreadable", detail: broken.detail };
  }
  const work = await readClaimedWork(parts, attempt, { named: said.filter(isCommitId), readOnly });
  const repository = parts.root.gitCommonDir;
  const commit = await commitOf(parts, work);
  if (commit !== undefined) await keepClaimed(parts.git, repository, attempt.assignmentId, commit);
  return work;
}

/** Where nothing had to be changed, the checks run on what it began on, as long as that is there. */
async function commitOf({ git, root }: UpdateParts, work: ClaimedWork): Promise<string | undefined> {
  if (work.kind === "commit") return work.commit;
  return "base" in work ? findCommit(git.git, root.gitCommonDir, work.base) : undefined;
}

/** As the sling wrote it down for the permit; an attempt whose files are gone has nothing left to say about it. */
async function readsOnly({ files }: GitTools, parts: UpdateParts, attempt: number): Promise<boolean> {
  const text = await files.read(`${attemptDir(parts, attempt)}/policy.json`);
  return text !== undefined && (JSON.parse(text) as { readOnly?: unknown }).readOnly === true;
}
