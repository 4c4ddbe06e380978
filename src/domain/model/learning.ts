/**
 * A learning: one thing that an agent found out, or a person said, kept so that others need not find it out again. Its
 * id follows from its key, so the same discovery is one learning however often it is made; each further one **confirms**
 * it. It remembers whom it was told to and what came of that, and its rank follows from both. Its words are somebody's
 * words: data, wherever they are shown. Its paths and tags say what it is about. Whom it concerns is decided in
 * relate.ts, when it is told in relay.ts, whether it helped in outcome.ts.
 */
import { deriveId } from "#domain/core/derived-id.ts";
import type { Moves } from "#domain/core/moves.ts";
import type { Attempt } from "./attempt.ts";
import type { EventOf } from "./event.ts";
import type { SyncUrgency } from "./message.ts";
import { nodeKey } from "./work.ts";

export const LEARNING_STATUSES = ["kept", "forgotten"] as const;
export type LearningStatus = (typeof LEARNING_STATUSES)[number];

/** One that was only too old comes back when it is found again; what a person or experience dropped does not. */
export const LEARNING_MOVES: Moves<LearningStatus> = { kept: ["forgotten"], forgotten: ["kept"] };

/** `failure-fix`: something fails, and this works. `fact`: something is so. */
export const LEARNING_KINDS = ["failure-fix", "fact"] as const;
export type LearningKind = (typeof LEARNING_KINDS)[number];

/** Where it was heard: in a tool's result, in what an agent said or reported, from a person, or added by an agent. */
export const LEARNING_SOURCES = ["tool", "reply", "report", "person", "agent"] as const;
export type LearningSource = (typeof LEARNING_SOURCES)[number];

/** What came of telling it: `unknown` where it was never seen, or where nothing could show whether it was used. */
export const LEARNING_OUTCOMES = ["used", "repeated", "unused", "unknown"] as const;
export type LearningOutcome = (typeof LEARNING_OUTCOMES)[number];

/** What is settled about a learning when it is found. */
export interface LearningBody {
  readonly learningId: string;
  readonly kind: LearningKind;
  /** One or two sentences. */
  readonly text: string;
  readonly key: string;
  /** By what the failure is recognised again; null where nothing failed. */
  readonly failing: string | null;
  /** By what the remedy is recognised again; null where it is no command. */
  readonly fix: string | null;
  /** Tags of whoever found it, of its node and its goal. */
  readonly tags: readonly string[];
  /** Files and directories that it names. */
  readonly paths: readonly string[];
  /** Directories in which whoever found it was at work. */
  readonly near: readonly string[];
  /** 0..1: how much it is worth to others, as the extractor judged it. */
  readonly score: number;
  readonly via: LearningSource;
  /** The signal, report or command in which it was heard. */
  readonly source: string;
  /** Who stands above whoever found it: the attempt that asked for it, and the node above its own. */
  readonly parent: number | null;
  readonly parentNode: string | null;
  /** When it was heard, where that is not the moment in which it was kept. */
  readonly heardAt?: number;
}

/** Somebody who found it. */
export interface LearningWitness {
  /** An agent's name, or who else said it. */
  readonly agent: string;
  /** 0 for a person. */
  readonly attempt: number;
  /** The node it worked on (nodeKey); null for a person. */
  readonly node: string | null;
  readonly at: number;
}

/** Somebody who was told. */
export interface LearningRecipient {
  readonly agent: string;
  readonly attempt: number;
  readonly node: string;
  readonly how: "relayed" | "offered";
  readonly messageId: string | null;
  readonly urgency: SyncUrgency | null;
  readonly at: number;
  readonly outcome: LearningOutcome | null;
  /** There is proof that it was put before it. */
  readonly seen: boolean;
  /** The failure was not repeated, although what fails was done. */
  readonly saved: boolean;
}

export interface Learning extends Omit<LearningBody, "heardAt"> {
  readonly status: LearningStatus;
  /** Why it was forgotten: `asked-for`, `never-helped` or `too-old`; null while it is kept. */
  readonly forgottenBecause: string | null;
  readonly foundBy: LearningWitness;
  /** Others who found the same, oldest first; the last of very many. */
  readonly confirmations: readonly LearningWitness[];
  readonly confirmed: number;
  readonly recipients: readonly LearningRecipient[];
  readonly rank: number;
  readonly foundAt: number;
  readonly updatedAt: number;
}

/** A learning is told to so many at most; whoever comes later finds it in the list. */
export const MOST_RECIPIENTS = 1_000;
const KEPT_CONFIRMATIONS = 500;

export function learningIdOf(key: string): string {
  return deriveId("L_", "learning", key);
}

/** Whether what came of it can be seen at all. */
export function isMeasurable({ failing, fix, paths }: Pick<Learning, "failing" | "fix" | "paths">): boolean {
  return failing !== null || fix !== null || paths.length > 0;
}

export function hasHelped({ outcome, saved }: LearningRecipient): boolean {
  return outcome === "used" || saved;
}

export interface LearningCounts {
  readonly told: number;
  readonly seen: number;
  readonly used: number;
  readonly repeated: number;
  readonly unused: number;
  /** Failures that were not repeated. */
  readonly saved: number;
}

export function countOutcomes(recipients: readonly LearningRecipient[]): LearningCounts {
  const those = (holds: (one: LearningRecipient) => boolean) => recipients.filter(holds).length;
  return {
    told: recipients.length,
    seen: those(({ seen }) => seen),
    used: those(({ outcome }) => outcome === "used"),
    repeated: those(({ outcome }) => outcome === "repeated"),
    unused: those(({ outcome }) => outcome === "unused"),
    saved: those(({ saved }) => saved),
  };
}

/**
 * Its score times what experience says: others who found the same and those it helped speak for it, those who saw it in
 * vain against it. Never above 1.
 */
export function rankLearning({ score, confirmed, recipients }: Omit<Learning, "rank">): number {
  const helped = recipients.filter(hasHelped).length;
  const judged = recipients.filter(({ outcome }) => outcome !== null && outcome !== "unknown").length;
  return Math.min(1, (score * (1 + helped + confirmed)) / (1 + judged));
}

export function applyToLearning(known: Learning | undefined, event: EventOf): Learning | undefined {
  if (event.type === "learning.found") return keepFound(known, event);
  if (!known) return undefined;
  const after = change(known, event);
  return after === known ? known : { ...after, rank: rankLearning(after), updatedAt: event.at };
}

/** Found again, it keeps what was known of whom it was told to, and who found it before. */
function keepFound(known: Learning | undefined, event: EventOf<"learning.found">): Learning {
  const { heardAt = event.at, ...body } = event.data;
  const learning = {
    ...body,
    status: "kept" as const,
    forgottenBecause: null,
    foundBy: witnessOf(event),
    confirmations: known ? [...known.confirmations, known.foundBy].slice(-KEPT_CONFIRMATIONS) : [],
    confirmed: known?.confirmed ?? 0,
    recipients: known?.recipients ?? [],
    foundAt: Math.min(heardAt, event.at),
    updatedAt: event.at,
  };
  return { ...learning, rank: rankLearning(learning) };
}

function change(known: Learning, event: EventOf): Learning {
  switch (event.type) {
    case "learning.confirmed":
      return {
        ...known,
        confirmed: known.confirmed + 1,
        confirmations: [...known.confirmations, witnessOf(event)].slice(-KEPT_CONFIRMATIONS),
      };
    case "learning.relayed":
      return {
        ...known,
        recipients: [
          ...known.recipients,
          ...event.data.to.map((one) => ({ ...one, ...JUST_TOLD, how: "relayed" as const, at: event.at })),
        ],
      };
    case "learning.offered":
      return { ...known, recipients: [...known.recipients, recipientOfOffer(event)] };
    case "learning.judged":
      return {
        ...known,
        recipients: known.recipients.map((one) => {
          const verdict = event.data.verdicts.find(({ attempt }) => attempt === one.attempt);
          if (!verdict || one.outcome !== null) return one;
          return { ...one, outcome: verdict.outcome, seen: one.seen || verdict.seen, saved: verdict.saved };
        }),
      };
    case "learning.forgotten":
      return { ...known, status: "forgotten", forgottenBecause: event.because };
    default:
      return known;
  }
}

const JUST_TOLD = { outcome: null, seen: false, saved: false } as const;

/** What is offered at prime is read by whoever asked for it. */
function recipientOfOffer(event: EventOf<"learning.offered">): LearningRecipient {
  const { agent, attempt, node } = witnessOf(event);
  return {
    agent,
    attempt,
    node: node ?? "",
    how: "offered",
    messageId: null,
    urgency: null,
    at: event.at,
    ...JUST_TOLD,
    seen: true,
  };
}

function witnessOf(event: EventOf): LearningWitness {
  const { goalId, nodeId, attempt, at } = event;
  const node = goalId !== undefined && nodeId !== undefined ? nodeKey(goalId, nodeId) : null;
  return { agent: event.agent ?? event.actor, attempt: attempt ?? 0, node, at };
}

/** Those whose outcome is still open. */
export function listUnjudged({ recipients }: Learning): LearningRecipient[] {
  return recipients.filter(({ outcome }) => outcome === null);
}

/** The node of an attempt, as learnings name it. */
export function nodeOfAttempt({ goalId, workNodeId }: Pick<Attempt, "goalId" | "workNodeId">): string {
  return nodeKey(goalId, workNodeId);
}
