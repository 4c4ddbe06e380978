/**
 * Expertise: what proved useful in this repository, by domain, for whoever begins on something there (LEARN-1). A domain is
 * a word (a tag of goals, nodes and agents) or a place (directories). Ours comes from learnings that helped, that others found
 * too or that say how a failure is avoided, and from what finished work decided. What turned out wrong is not offered: a
 * learning that was dropped or whose readers did not use it, and the decisions of work that was taken back.
 */
import { byteLength } from "#domain/core/quote.ts";
import type { Crystallization } from "#domain/model/crystallization.ts";
import type { Learning } from "#domain/model/learning.ts";
import { countOutcomes } from "#domain/model/learning.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import { keysOfLearning, keysOfParty, placeOf } from "./relate.ts";

export const EXPERTISE_KINDS = ["convention", "failure", "decision"] as const;
export type ExpertiseKind = (typeof EXPERTISE_KINDS)[number];

/** One piece of it, as data. */
export interface ExpertiseItem {
  readonly id: string;
  readonly domain: string;
  /** One of ours, or whatever its source calls it. */
  readonly kind: string;
  readonly text: string;
}

/** Whom it is for: the domains that it belongs to by name, and the files it is to work on. None of both: everything. */
export interface ExpertiseWish {
  readonly domains: readonly string[];
  readonly paths: readonly string[];
  readonly budgetBytes: number;
}

/** A finished node with what was left behind on it. */
export interface FinishedNode {
  readonly node: Pick<WorkNode, "goalId" | "workNodeId" | "tags" | "crystallizationId" | "takenBack">;
  readonly left: Crystallization;
}

export interface OwnExpertise {
  /** Those that are kept. */
  readonly learnings: readonly Learning[];
  readonly finished: readonly FinishedNode[];
}

/** Of finished work, as a rule; what is older was decided for another code base. */
const DECISIONS_KEPT_MS = 180 * 24 * 3_600_000;
const MOST_ITEMS = 12;

/** The best first; `node`: whose own learnings and handoff it has anyway. */
export function chooseExpertise(
  { learnings, finished }: OwnExpertise,
  wish: ExpertiseWish,
  { now, node }: { readonly now: number; readonly node: string | null },
): readonly ExpertiseItem[] {
  const near = wish.paths.flatMap((path) => placeOf(path) ?? []);
  const wanted = new Set(keysOfParty({ tags: wish.domains, parent: null, parentNode: null, near }));
  const isFree = wish.domains.length === 0 && wish.paths.length === 0;
  // A domain by name also is at home where a directory is called so.
  const fits = (keys: readonly string[], tags: readonly string[]) =>
    isFree || keys.some((key) => wanted.has(key)) || tags.some((tag) => fitsPaths(tag, wish.paths));
  const useful = learnings
    .filter(
      (one) => isProven(one) && (node === null || one.foundBy.node !== node) && fits(keysOfLearning(one), one.tags),
    )
    .toSorted((a, b) => b.rank - a.rank || b.foundAt - a.foundAt || (a.learningId < b.learningId ? -1 : 1))
    .map(toItem);
  const decided = finished
    .filter(({ node: of, left }) => holdsStill(of, left, now) && nodeKey(of.goalId, of.workNodeId) !== node)
    .filter(({ node: { tags }, left }) =>
      fits(keysOfLearning({ tags, parent: null, parentNode: null, near: [], paths: left.evidence.filesTouched }), tags),
    )
    .toSorted((a, b) => b.left.createdAt - a.left.createdAt)
    .flatMap(toDecisions);
  return fitBudget([...useful, ...decided].slice(0, MOST_ITEMS), wish.budgetBytes);
}

/** Experience speaks for it: it helped, others found the same, a person said it, or it says how a failure is avoided. */
function isProven({ status, confirmed, recipients, foundBy, kind }: Learning): boolean {
  const { used, saved, repeated, unused } = countOutcomes(recipients);
  const [helped, inVain] = [used + saved, repeated + unused];
  if (status !== "kept" || inVain > helped) return false;
  return helped > 0 || confirmed > 0 || foundBy.attempt === 0 || kind === "failure-fix";
}

function holdsStill(
  { crystallizationId, takenBack }: FinishedNode["node"],
  left: Crystallization,
  now: number,
): boolean {
  return (
    takenBack === undefined && crystallizationId === left.crystallizationId && left.createdAt > now - DECISIONS_KEPT_MS
  );
}

function toItem({ learningId, kind, text, tags, near }: Learning): ExpertiseItem {
  return {
    id: learningId,
    domain: tags[0] ?? near[0] ?? "",
    kind: expertiseKindOf(kind),
    text,
  };
}

/** What a learning is called as expertise. */
export function expertiseKindOf(kind: Learning["kind"]): ExpertiseKind {
  return kind === "failure-fix" ? "failure" : "convention";
}

function toDecisions({ node, left }: FinishedNode): ExpertiseItem[] {
  return left.decisions.map(({ decision, rationale }, index) => ({
    id: `${left.crystallizationId}.${index + 1}`,
    domain: node.tags[0] ?? "",
    kind: "decision",
    text: rationale === "" ? decision : `${decision} (${rationale})`,
  }));
}

/** As many as fit, in their order; one that is too long makes room for those behind it. */
export function fitBudget(items: readonly ExpertiseItem[], budgetBytes: number): readonly ExpertiseItem[] {
  let left = budgetBytes;
  return items.filter((item) => {
    const size = sizeOf(item);
    if (size > left) return false;
    left -= size;
    return true;
  });
}

/** In the format that takes most of it, with the end of its line. */
function sizeOf(item: ExpertiseItem): number {
  return Math.max(...EXPERTISE_FORMATS.map((format) => byteLength(renderExpertise([item], format)))) + 1;
}

/** Does a domain of that name belong to these files: by a directory, or by a file without its ending? */
export function fitsPaths(domain: string, paths: readonly string[]): boolean {
  const name = domain.toLowerCase();
  return paths.some((path) =>
    path
      .toLowerCase()
      .split("/")
      .some((part) => part === name || part.replace(/\.[^.]*(?:\.[^.]*)?$/, "") === name),
  );
}

export const EXPERTISE_FORMATS = ["markdown", "xml", "json"] as const;
export type ExpertiseFormat = (typeof EXPERTISE_FORMATS)[number];

/** As it is given to agents, between fences like everything that others wrote. */
export function renderExpertise(items: readonly ExpertiseItem[], format: ExpertiseFormat): string {
  if (items.length === 0) return "";
  const line = (text: string) => text.replace(/\s+/g, " ").trim();
  if (format === "json")
    return items.map(({ domain, kind, text }) => JSON.stringify({ domain, kind, text })).join("\n");
  if (format === "markdown") {
    return items
      .map(({ domain, kind, text }) => `- ${domain === "" ? "" : `${line(domain)}, `}${line(kind)}: ${line(text)}`)
      .join("\n");
  }
  return items
    .map(
      ({ domain, kind, text }) =>
        `<item domain="${escapeXml(domain)}" kind="${escapeXml(kind)}">${escapeXml(line(text))}</item>`,
    )
    .join("\n");
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
