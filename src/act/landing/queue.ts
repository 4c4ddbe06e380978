/**
 * Working off the queue of one target branch: who may land is put into it, the next few in order are landed together,
 * and so on until nothing is due. One process at a time does this for a target, held by a lock that dies with it; what
 * it leaves behind is in the store, and the next one continues from there.
 */

import { momentNow, readClaim } from "#act/checks/claim-store.ts";
import type { ActParts } from "#act/parts.ts";
import { standOnSettings } from "#act/settings/stand-on-settings.ts";
import type { Moment } from "#domain/core/actor.ts";
import { type LandingMode, mayLand } from "#domain/landing/may-land.ts";
import { accept } from "#domain/model/decision.ts";
import type { Merge } from "#domain/model/merge.ts";
import { dueInQueue, mergeEvent, mergeIdOf } from "#domain/model/merge.ts";
import { sweepStaged } from "#git/claim-refs.ts";
import { listQueuedMerges } from "#store/merges.ts";
import { nodesInStatus } from "#store/work.ts";
import {
  type Candidate,
  enqueue,
  findBrought,
  findClaimed,
  isCandidate,
  type LandOrder,
  type LandOutcome,
} from "./candidate.ts";
import { commandAfterLand } from "./command-after-land.ts";
import { landCandidates } from "./land.ts";
import { rulesNow } from "./rules.ts";
import { landingBranch, withWriter } from "./target-branch.ts";

export type QueueTurn =
  | { readonly kind: "worked-off"; readonly landed: number }
  /** Another process, or another turn of this one, is at it. */
  | { readonly kind: "busy" };

export interface TurnOrder extends Pick<LandOrder, "mode"> {
  /** An entry that is looked at now, whenever its next look would be. */
  readonly now?: string;
}

/** Lands everything that is due for the target branch, in order. */
export async function workOffQueue(parts: ActParts, order: TurnOrder = {}): Promise<QueueTurn> {
  await standOnSettings(parts);
  const target = await landingBranch(withWriter(parts));
  const release = await takeQueue(parts, target);
  if (!release) return { kind: "busy" };
  try {
    const config = await parts.config();
    const mode = order.mode ?? (await rulesNow(parts)).mode;
    const oneByOne = (await commandAfterLand(parts)) !== null;
    const tried = new Set<string>();
    await sweepStaged(parts.git, parts.root.gitCommonDir, await listWantedMerges(parts));
    for (;;) {
      await enqueueAll(parts, target, mode);
      const due = (await dueNow(parts, target, order.now)).filter(({ mergeId }) => !tried.has(mergeId));
      // With a command after each landing, one lands at a time: the next one waits for what it says.
      const batch = due.slice(0, oneByOne ? 1 : config.landing.batch);
      if (batch.length === 0) break;
      for (const { mergeId } of batch) tried.add(mergeId);
      await landEntries(parts, batch, mode);
      if (oneByOne) break;
    }
    return { kind: "worked-off", landed: tried.size };
  } finally {
    release();
  }
}

/** Everything that may still land, also what waits for a person. */
async function listWantedMerges(parts: ActParts): Promise<Set<string>> {
  const { going, blocked, all } = await (await parts.writer()).read({
    going: nodesInStatus("in_progress", MOST_NODES),
    blocked: nodesInStatus("blocked", MOST_NODES),
    all: listQueuedMerges(),
  });
  const claims = [...going, ...blocked].flatMap(({ claim }) => (claim ? [mergeIdOf(claim)] : []));
  return new Set([...claims, ...all.map(({ mergeId }) => mergeId)]);
}

async function dueNow(parts: ActParts, target: string, wanted: string | undefined): Promise<Merge[]> {
  const { all } = await (await parts.writer()).read({ all: listQueuedMerges() });
  const { landing } = await parts.config();
  const here = all
    .filter((one) => one.target === target)
    .map((one) => (one.mergeId === wanted ? { ...one, notBefore: 0 } : one));
  return dueInQueue(here, parts.clock.now(), landing.ageBoost);
}

/** What may land by now and is not in the queue yet. */
async function enqueueAll(parts: ActParts, target: string, mode: LandingMode): Promise<void> {
  const store = await parts.writer();
  const { nodes, all } = await store.read({ nodes: nodesInStatus("in_progress", MOST_NODES), all: listQueuedMerges() });
  const waiting = new Set(all.filter(({ status }) => status !== "parked").map(({ mergeId }) => mergeId));
  const fresh = nodes.filter((node) => node.claim && !waiting.has(mergeIdOf(node.claim)) && mayLand(node, mode).ok);
  await enqueue(parts, fresh, target);
}

const MOST_NODES = 100_000;

async function landEntries(parts: ActParts, batch: readonly Merge[], mode: LandingMode): Promise<void> {
  const candidates: Candidate[] = [];
  for (const entry of batch) {
    const found = await findOf(parts, entry, mode);
    if (found && isCandidate(found)) candidates.push(found);
    else if (found) await park(parts, entry);
    else await leave(parts, entry);
  }
  if (candidates.length > 1) await testing(parts, batch);
  await landCandidates(candidates);
}

/** Undefined where the claim is another one by now. */
async function findOf(parts: ActParts, entry: Merge, mode: LandingMode): Promise<Candidate | LandOutcome | undefined> {
  const { goalId, workNodeId: nodeId, mergeId } = entry;
  if (goalId === null || nodeId === null || entry.assignmentId === null) return findBrought(parts, mergeId);
  const seen = await readClaim(parts, { goalId, nodeId });
  const stands = seen?.node.claim && mergeIdOf(seen.node.claim) === mergeId;
  return stands ? findClaimed(parts, { goalId, nodeId, mode }, { seen, entry }) : undefined;
}

async function testing(parts: ActParts, batch: readonly Merge[]): Promise<void> {
  const moment = momentNow(parts);
  const id = parts.ids.next("B_");
  await changeEach(parts, batch, moment, (merge) =>
    mergeEvent(merge, "merge.testing", "its-turn", { batch: id, size: batch.length }, moment),
  );
}

/** What is claimed stands, and a person has to let it continue: blocked, or to be reviewed. It comes back by itself then. */
async function park(parts: ActParts, merge: Merge): Promise<void> {
  const moment = momentNow(parts);
  const data = { detail: "its work may not land now" };
  await changeEach(parts, [merge], moment, (now) =>
    mergeEvent(now, "merge.parked", "a-person-is-needed", data, moment),
  );
}

/** The work behind it does not want to land any more. */
async function leave(parts: ActParts, merge: Merge): Promise<void> {
  const moment = momentNow(parts);
  const data = { to: "withdrawn", detail: "the claim is no longer valid" } as const;
  await changeEach(parts, [merge], moment, (now) => mergeEvent(now, "merge.ended", "claim-gone", data, moment));
}

async function changeEach(
  parts: ActParts,
  merges: readonly Merge[],
  moment: Moment,
  event: (merge: Merge) => ReturnType<typeof mergeEvent>,
): Promise<void> {
  const wanted = new Set(merges.map(({ mergeId }) => mergeId));
  await (await parts.writer()).commit({
    at: moment.now,
    reads: { now: listQueuedMerges() },
    decide: ({ now }) => accept(now.filter(({ mergeId }) => wanted.has(mergeId)).map(event), null),
  });
}

/** The queue of one target, for us alone; undefined when somebody else has it. */
async function takeQueue(parts: ActParts, target: string): Promise<(() => void) | undefined> {
  await parts.files.makeDir(`${parts.root.state}/run`);
  const name = new Bun.CryptoHasher("sha256").update(target).digest("hex").slice(0, 12);
  const path = `${parts.root.state}/run/landing-${name}.lock`;
  const lock = parts.takeLock(path);
  return lock && (() => lock.release());
}
