/**
 * The sources of expertise over the real store and the real programs, and what is told of them to an agent that begins. What
 * a source could not do is noted in run/expertise.json, for `status` and `doctor`, and holds nobody up: one that took all its
 * time is left alone for a while.
 */
import type { ExpertiseItem, ExpertiseWish } from "#domain/learnings/expertise.ts";
import { expertiseKindOf, renderExpertise } from "#domain/learnings/expertise.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptEvent } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import type { Expertise } from "#expertise/expertise.ts";
import { listExpertise } from "#expertise/list.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { listFinishedHandoffs } from "#store/finished-work.ts";
import { learningsByIds, listLearnings } from "#store/learnings.ts";
import { type ExpertiseNote, readExpertiseNotes, writeExpertiseNotes } from "./expertise-notes.ts";
import type { ActParts } from "./parts.ts";

/** Each source has so much of an agent's page. */
const OFFER_BYTES = 2_048;
const MOST_LEARNINGS = 500;
const MOST_FINISHED = 500;
const MOST_FOUND = 20;
/** After one that kept somebody waiting. */
const LEFT_ALONE_MS = 5 * 60_000;

export type ExpertiseParts = Pick<ActParts, "root" | "files" | "clock" | "exec" | "env" | "config" | "writer">;

export interface ExpertiseFor {
  /** The node it is asked for; null where it is for none. */
  readonly node: string | null;
  /** Whose `.mulch/` is meant. */
  readonly checkout: string;
  add(item: { readonly text: string; readonly domain: string }): Promise<string>;
}

export async function openExpertise(parts: ExpertiseParts, whom: ExpertiseFor): Promise<readonly Expertise[]> {
  const store = await parts.writer();
  return listExpertise(await parts.config(), {
    own: {
      async read() {
        return store.read({
          learnings: listLearnings({ all: false, limit: MOST_LEARNINGS }),
          finished: listFinishedHandoffs(MOST_FINISHED),
        });
      },
      async search(words) {
        const ids = await store.search.find(words, MOST_FOUND);
        const { found } = await store.read({ found: learningsByIds(ids) });
        const byId = new Map(found.map((one) => [one.learningId, one]));
        return ids.flatMap((id): ExpertiseItem[] => {
          const one = byId.get(id);
          return one ? [{ id, domain: one.tags[0] ?? "", kind: expertiseKindOf(one.kind), text: one.text }] : [];
        });
      },
      add: (item) => whom.add(item),
      now: () => parts.clock.now(),
      node: whom.node,
    },
    mulch: { exec: parts.exec, env: parts.env, cwd: whom.checkout },
  });
}

/** What an agent that begins is told, in the format that is configured, and the learnings among it. */
export interface OfferedExpertise {
  readonly text: string;
  readonly learningIds: readonly string[];
}

export async function offerExpertise(
  parts: ExpertiseParts,
  { node, ...wish }: Omit<ExpertiseWish, "budgetBytes"> & { readonly node: string | null },
): Promise<OfferedExpertise> {
  const { mulch } = await parts.config();
  const noted = await readExpertiseNotes(parts);
  const items: ExpertiseItem[] = [];
  const learningIds: string[] = [];
  const notes: ExpertiseNote[] = [];
  const add = () => Promise.reject(new Error("nothing is recorded while an agent is started"));
  for (const source of await openExpertise(parts, { node, checkout: parts.root.project, add })) {
    // What concerns nobody in particular is not for everybody.
    if (source.name === "own" && wish.domains.length === 0 && wish.paths.length === 0) continue;
    const before = noted.find(({ name }) => name === source.name);
    const since = before === undefined ? undefined : parts.clock.now() - before.at;
    if (before?.waited && since !== undefined && since >= 0 && since < LEFT_ALONE_MS) {
      notes.push(before);
      continue;
    }
    const domains = source.name === "mulch" && mulch.domains.length > 0 ? mulch.domains : wish.domains;
    const paths = source.name === "mulch" && mulch.domains.length > 0 ? [] : wish.paths;
    const answer = await source.prime({ domains, paths, budgetBytes: OFFER_BYTES });
    if (answer.ok) {
      items.push(...answer.value);
      // Another source may call what it has as it likes.
      if (source.name === "own") learningIds.push(...answer.value.map(({ id }) => id).filter(isLearningId));
    } else
      notes.push({ name: source.name, problem: answer.problem, waited: answer.waited ?? false, at: parts.clock.now() });
  }
  if (notes.length > 0 || noted.length > 0) await writeExpertiseNotes(parts, notes);
  return { text: renderExpertise(items, mulch.primeFormat), learningIds };
}

function isLearningId(id: string): boolean {
  return id.startsWith("L_");
}

/** The agent was told of these learnings with its assignment: what came of it is judged as for any that was told. */
export async function noteOffered(
  parts: Pick<ActParts, "writer" | "clock">,
  number: number,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await (await parts.writer()).commit({
    at: parts.clock.now(),
    reads: { attempt: attemptByNumber(number), learnings: learningsByIds(ids) },
    decide: ({ attempt, learnings }) =>
      accept(
        attempt === undefined
          ? []
          : learnings
              .filter((one) => isNew(one.recipients, attempt))
              .map(({ learningId }) => tellOffer(attempt, learningId)),
        null,
      ),
  });
}

function isNew(recipients: readonly { readonly attempt: number }[], { attempt }: Attempt): boolean {
  return !recipients.some((one) => one.attempt === attempt);
}

function tellOffer(attempt: Attempt, learningId: string) {
  return attemptEvent(attempt, "overseer", "learning.offered", "with-its-assignment", { learningId });
}
