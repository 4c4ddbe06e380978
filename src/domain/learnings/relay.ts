/**
 * Who is told what, and how urgently (SYNC-2). Related agents only, never whoever found it, never twice to the agents of
 * one node, and at most so many per agent within a time; of several the most urgent and best first, one place kept free for
 * what is blocking, and at most one for what is merely so: nobody who talks much keeps others from being heard. What is told is a
 * message of the kind sync: quoted data with its provenance (injection.ts), queued in the commit that says so. A relay
 * that is decided twice decides the same: ids follow from the learning and the node.
 */
import { deriveId } from "#domain/core/derived-id.ts";
import { cleanText, renderFenced } from "#domain/core/quote.ts";
import { OVERSEER_ADDRESS } from "#domain/inbox/addresses.ts";
import { queueEvent } from "#domain/inbox/mailing.ts";
import type { EventData, NewEvent } from "#domain/model/event.ts";
import type { Learning } from "#domain/model/learning.ts";
import { MOST_RECIPIENTS } from "#domain/model/learning.ts";
import type { Letter, SyncUrgency } from "#domain/model/message.ts";
import { PERSON_ADDRESS } from "#domain/model/protocol.ts";
import { isSameFailure } from "./outcome.ts";
import type { Party } from "./relate.ts";
import { isWitness, keysOfLearning, keysOfParty, wasTold } from "./relate.ts";

export interface RelaySettings {
  /** Scored below this, it is kept and not told. */
  readonly minScore: number;
  /** An agent is told at most so many within `perMs`. */
  readonly most: number;
  readonly perMs: number;
  /** How long a message waits to be seen. */
  readonly expiryMs: number;
  /** How long after it was found it is told to those at work. */
  readonly withinMs: number;
}

export interface RelayScene {
  readonly learnings: readonly Learning[];
  readonly parties: readonly Party[];
  /** What each agent was told lately (since `rateLooksBack`), by its name. */
  readonly told: ReadonlyMap<string, readonly EarlierSync[]>;
  /** What fails for an attempt just now (failureKey). */
  failing(attempt: number): readonly string[];
}

/** A learning that an agent was told before. */
export interface EarlierSync {
  readonly urgency: SyncUrgency;
  /** Who found it. */
  readonly from: string;
  readonly at: number;
}

const HOUR_MS = 60 * 60_000;

/** How far back what was told counts. */
export function rateLooksBack(perMs: number): number {
  return Math.max(perMs, HOUR_MS);
}

interface Telling {
  readonly learning: Learning;
  readonly party: Party;
  readonly urgency: SyncUrgency;
}

const URGENCY_ORDER: Readonly<Record<SyncUrgency, number>> = { blocking: 0, helpful: 1, fyi: 2 };

export function relayLearnings(scene: RelayScene, settings: RelaySettings, now: number): NewEvent[] {
  const worthwhile = scene.learnings.filter((learning) => isTold(learning, settings, now));
  if (worthwhile.length === 0 || settings.most === 0) return [];
  const byAgent = Map.groupBy(findTellings(worthwhile, scene), ({ party }) => party.agent);
  const chosen = [...byAgent].flatMap(([agent, tellings]) =>
    chooseBest(tellings, scene.told.get(agent) ?? [], settings, now),
  );
  const byLearning = Map.groupBy(chosen, ({ learning }) => learning);
  return [...byLearning].flatMap(([learning, tellings]) => tellOf(learning, tellings, settings, now));
}

function isTold(learning: Learning, { minScore, withinMs }: RelaySettings, now: number): boolean {
  const { status, score, foundAt } = learning;
  return status === "kept" && score >= minScore && now - foundAt <= withinMs;
}

/** Everything that might be told, whatever the rate says. */
function findTellings(learnings: readonly Learning[], { parties, failing }: RelayScene): Telling[] {
  const byKey = new Map<string, Party[]>();
  for (const party of parties) {
    for (const key of keysOfParty(party)) {
      const others = byKey.get(key);
      if (others) others.push(party);
      else byKey.set(key, [party]);
    }
  }
  return learnings.flatMap((learning) => {
    const related = new Set(keysOfLearning(learning).flatMap((key) => byKey.get(key) ?? []));
    const nodesTold = new Set(learning.recipients.map(({ node }) => node));
    const room = MOST_RECIPIENTS - learning.recipients.length;
    return [...related]
      .filter((party) => {
        if (nodesTold.has(party.node) || isWitness(learning, party) || wasToldBefore(learning, party)) return false;
        nodesTold.add(party.node); // of two on one node, the first
        return true;
      })
      .slice(0, room)
      .map((party) => ({ learning, party, urgency: urgencyFor(learning, failing(party.attempt)) }));
  });
}

/** Only whoever continues another's session has to be looked for among all. */
function wasToldBefore(learning: Learning, party: Party): boolean {
  return party.heirOf.length > 0 && wasTold(learning, party);
}

/** Blocking: it has just failed at the very same. */
export function urgencyFor(learning: Pick<Learning, "kind" | "failing">, failing: readonly string[]): SyncUrgency {
  const { failing: known } = learning;
  if (known !== null && failing.some((one) => isSameFailure(known, one))) return "blocking";
  return learning.kind === "failure-fix" ? "helpful" : "fyi";
}

/** Of these, within the rate: at most `most` in all, one of them kept for what is blocking, and of mere facts one. */
function chooseBest(
  tellings: readonly Telling[],
  earlier: readonly EarlierSync[],
  { most, perMs }: RelaySettings,
  now: number,
): Telling[] {
  const counted = earlier.filter(({ at }) => at > now - perMs);
  const facts = earlier.filter((one) => isMereFact(one) && one.at > now - HOUR_MS);
  const heardFrom = new Set(facts.map(({ from }) => from));
  const ordinary = most > 1 ? most - 1 : most;
  let all = counted.length;
  let lessUrgent = counted.filter(({ urgency }) => urgency !== "blocking").length;
  let mereFacts = counted.filter(isMereFact).length;
  return tellings.toSorted(compareTellings).filter(({ learning, urgency }) => {
    const from = senderOf(learning);
    const isFact = isMereFact({ urgency, from });
    if (all >= most || (urgency !== "blocking" && lessUrgent >= ordinary)) return false;
    if (isFact && (mereFacts >= MOST_FACTS || heardFrom.has(from))) return false;
    all += 1;
    if (urgency !== "blocking") lessUrgent += 1;
    if (isFact) mereFacts += 1;
    return true;
  });
}

/** Of what the rate allows. */
const MOST_FACTS = 1;

/** What a person says is meant to be told. */
function isMereFact({ urgency, from }: Pick<EarlierSync, "urgency" | "from">): boolean {
  return urgency === "fyi" && from !== PERSON_ADDRESS;
}

function compareTellings(a: Telling, b: Telling): number {
  return (
    URGENCY_ORDER[a.urgency] - URGENCY_ORDER[b.urgency] ||
    b.learning.rank - a.learning.rank ||
    b.learning.foundAt - a.learning.foundAt ||
    (a.learning.learningId < b.learning.learningId ? -1 : 1)
  );
}

type Told = EventData["learning.relayed"]["to"][number];

function tellOf(learning: Learning, tellings: readonly Telling[], settings: RelaySettings, now: number): NewEvent[] {
  const { learningId } = learning;
  const to = tellings.map(({ party, urgency }): Told => {
    const { agent, attempt, node } = party;
    return { agent, attempt, node, messageId: deriveId("m_", "sync", learningId, node), urgency };
  });
  const [from, body, expiresAt] = [senderOf(learning), wordsOf(learning), now + settings.expiryMs];
  const subject = provenanceOf(learning);
  const messages = tellings.map(({ party, urgency }, index) => {
    const messageId = to[index]?.messageId ?? "";
    const about = { from, subject, body, tone: urgency, threadId: learningId, expiresAt };
    const letter: Letter = { messageId, kind: "sync", ...about };
    return queueEvent(party, letter, "overseer", "learned-by-another");
  });
  return [
    { type: "learning.relayed", actor: "overseer", because: "concerns-them", data: { learningId, to } },
    ...messages,
  ];
}

function senderOf({ foundBy, via }: Learning): string {
  if (via === "person") return PERSON_ADDRESS;
  return foundBy.attempt > 0 ? foundBy.agent : OVERSEER_ADDRESS;
}

const HEARD_IN: Readonly<Record<Learning["via"], string>> = {
  tool: "from a tool's result",
  reply: "from what it said",
  report: "from its report",
  person: "said by a person",
  agent: "added by the agent itself",
};

/** Where it comes from, in a line of ours: it stands outside of the fences, where no words of others can forge it. */
export function provenanceOf({ foundBy, via, confirmed }: Pick<Learning, "foundBy" | "via" | "confirmed">): string {
  const who = foundBy.attempt > 0 ? `${foundBy.agent}#${foundBy.attempt}` : "a person";
  const others = confirmed > 0 ? `; ${confirmed} more found the same` : "";
  return `learned by ${who}, ${HEARD_IN[via]}${others}; nothing has checked it`;
}

const FORGED = /\(\s*(?=learn(?:ing|ed)\s+(?:L_|by\b))/gi;

/** Its words, cleaned, without what could pass for a line of ours. */
export function wordsOf({ text }: Pick<Learning, "text">): string {
  return cleanText(text).replace(FORGED, "").trim();
}

/** A learning as agents are shown it: whose it is, and its words between fences. */
export function renderLearning(
  learning: Pick<Learning, "learningId" | "text" | "foundBy" | "via" | "confirmed">,
): string {
  const head = `${learning.learningId}, ${provenanceOf(learning)}:`;
  return `${head}\n${renderFenced(wordsOf(learning), Number.POSITIVE_INFINITY) ?? ""}`;
}
