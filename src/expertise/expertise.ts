/**
 * Where expertise is kept and asked for: one file a source, a line in list.ts. No source ever throws, and none keeps anybody
 * waiting for longer than a short time: one that is missing, hangs or talks nonsense is an answer like any other, with the
 * reason in it. All of them pass the suite in test/contract/expertise.suite.ts.
 */
import type { ExpertiseItem, ExpertiseKind, ExpertiseWish } from "#domain/learnings/expertise.ts";
import type { OverseerError } from "#errors.ts";

export type ExpertiseAnswer<T> =
  | { readonly ok: true; readonly value: T }
  /** `problem`: without a full stop. `waited`: it took all the time that it may take. `missing`: its program is not there. */
  | { readonly ok: false; readonly problem: string; readonly waited?: boolean; readonly missing?: boolean };

/** Something worth keeping. */
export interface NewExpertise {
  readonly domain: string;
  readonly kind: ExpertiseKind;
  readonly text: string;
  /** Of a failure, what to do instead; of a decision, why. */
  readonly because: string | null;
  /** Who says so. */
  readonly provenance: string;
}

export interface Expertise {
  readonly name: "own" | "mulch";
  /** What fits a wish, the best first, within its budget. */
  prime(wish: ExpertiseWish): Promise<ExpertiseAnswer<readonly ExpertiseItem[]>>;
  /** Answers with its id there. */
  record(item: NewExpertise): Promise<ExpertiseAnswer<string>>;
  query(words: string): Promise<ExpertiseAnswer<readonly ExpertiseItem[]>>;
}

export function problemOf(error: OverseerError): string {
  return error.message.replace(/\.$/, "");
}

/** A domain is named by a word, in every source. */
export function isDomainName(domain: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(domain);
}
