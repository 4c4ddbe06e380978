/**
 * One thing by a part of its id, the same for goals, questions, messages, assignments and landings: exactly one id begins so,
 * or the error says which it could be. Apart from names.ts because the small bundle of mail needs it and nothing else of that.
 */
import { nearest } from "#domain/core/nearest.ts";
import { beginningsOf, listSome } from "#domain/core/short-name.ts";
import { OverseerError } from "#errors.ts";

export interface IdKind<T> {
  /** As a person calls it: `goal`. */
  readonly noun: string;
  /** What every such id begins with. */
  readonly fixed: string;
  /** The first word of its error codes. */
  readonly code: string;
  /** The command that lists them, as a sentence. */
  readonly list: string;
  /** Those whose id begins so, at most `limit`. */
  read(beginning: string, limit: number): Promise<readonly T[]>;
  idOf(one: T): string;
  /** A few words beside the id, where ids alone say too little. */
  tell?(one: T): string;
}

/** Read to tell one from several. */
const FEW = 10;
/** Read to find a typing mistake. */
const MANY = 500;

export async function resolveId<T>(word: string, kind: IdKind<T>): Promise<T> {
  const { noun, fixed, code, list } = kind;
  const beginnings = beginningsOf(word, fixed);
  if (beginnings.length === 0) {
    const message =
      word.trim() === ""
        ? `No ${noun} was named.`
        : `Every ${noun} begins with ${fixed}, so ${fixed} alone names none of them.`;
    throw new OverseerError("usage", `${code}_MISSING`, message, list);
  }
  for (const beginning of beginnings) {
    const found = await kind.read(beginning.slice(0, 100), FEW);
    const [first, second] = found;
    const exact = found.find((one) => kind.idOf(one) === beginning) ?? (second ? undefined : first);
    if (exact) return exact;
    if (first) {
      const names = found.map((one) => `${kind.idOf(one)}${kind.tell ? ` (${kind.tell(one)})` : ""}`);
      const message = `${clipWord(word)} could be ${listSome(names)}.`;
      throw new OverseerError("conflict", `${code}_AMBIGUOUS`, message, "Type more of the id.");
    }
  }
  const known = (await kind.read(fixed, MANY)).map((one) => kind.idOf(one));
  const like = beginnings.map((beginning) => nearest(beginning, known)).find((name) => name !== undefined);
  const hint = like === undefined ? list : `Did you mean ${like}? ${list}`;
  throw new OverseerError("not-found", `${code}_UNKNOWN`, `There is no ${noun} ${clipWord(word)}.`, hint);
}

/** What was typed, short enough to stand in a sentence and free of control characters. */
export function clipWord(word: string): string {
  const plain = JSON.stringify(word).slice(1, -1);
  return plain.length > 80 ? `${plain.slice(0, 80)}…` : plain;
}
