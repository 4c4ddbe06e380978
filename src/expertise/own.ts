/** Our own source: learnings and decisions of the store, which is handed in. */
import { chooseExpertise, type ExpertiseItem, type OwnExpertise } from "#domain/learnings/expertise.ts";
import { OverseerError } from "#errors.ts";
import { type Expertise, type ExpertiseAnswer, type NewExpertise, problemOf } from "./expertise.ts";

export interface OwnParts {
  read(): Promise<OwnExpertise>;
  /** Ids of learnings in which every word begins a word. */
  search(words: string): Promise<readonly ExpertiseItem[]>;
  /** Keeps it as a learning and answers with its id. */
  add(item: { readonly text: string; readonly domain: string }): Promise<string>;
  now(): number;
  /** The node it is asked for, whose own things are not told to it again. */
  readonly node: string | null;
}

export function makeOwnExpertise(parts: OwnParts): Expertise {
  return {
    name: "own",
    prime: (wish) =>
      answer(async () => chooseExpertise(await parts.read(), wish, { now: parts.now(), node: parts.node })),
    record: (item) => answer(() => parts.add({ domain: item.domain, text: tell(item) })),
    query: (words) => answer(() => parts.search(words)),
  };
}

function tell({ kind, text, because }: NewExpertise): string {
  if (because === null) return text;
  return kind === "failure" ? `${text} Instead: ${because}` : `${text} (${because})`;
}

async function answer<T>(work: () => Promise<T>): Promise<ExpertiseAnswer<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    return { ok: false, problem: problemOf(error) };
  }
}
