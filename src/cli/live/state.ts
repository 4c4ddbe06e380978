/** Where a person is in the live view: tab, cursor, what is opened over it, what they write, and what was said to them. */
import type { WorkContinuation } from "./continuation.ts";
import type { About, Item, Tab } from "./item.ts";
import { type Line, makeLine } from "./line.ts";
import type { LineEdit } from "./line-edit.ts";

/** On which item of a tab the cursor stands; where that has gone, on the one in its place. */
export interface Place {
  readonly key: string | null;
  readonly index: number;
}

/** A sheet over the tabs, scrolled line by line. */
export interface LivePage {
  readonly id: number;
  readonly kind: "agent" | "review" | "why" | "log" | "goal" | "question" | "event" | "keys";
  readonly title: string;
  readonly about: About;
  /** Null until it was read. */
  readonly lines: readonly Line[] | null;
  /** Of a review: the commit it shows. */
  readonly commit?: string;
  /** Of a review: what is said above it since another commit was reported. */
  readonly overtaken?: string;
  /** The first line in sight; null follows the end. */
  readonly top: number | null;
}

/** What is asked of the person in the last lines. */
export type Prompt =
  | { readonly kind: "answer"; readonly question: string; readonly edit: LineEdit }
  | { readonly kind: "reject"; readonly node: string; readonly commit: string; readonly edit: LineEdit }
  | { readonly kind: "write"; readonly agent: string; readonly edit: LineEdit }
  | { readonly kind: "filter"; readonly edit: LineEdit }
  | { readonly kind: "stop"; readonly agent: string; readonly attempt: number }
  | { readonly kind: "continue"; readonly continuation: WorkContinuation };

export interface LiveNotice {
  readonly text: string;
  readonly isTrouble: boolean;
}

/** Something that was asked for and is not done yet. */
export interface Pending {
  readonly id: number;
  readonly text: string;
  /** What was written for it: asked again, with the same words, where it is refused. */
  readonly prompt?: Prompt;
}

export interface LiveState {
  readonly tab: Tab;
  readonly places: Readonly<Record<Tab, Place>>;
  readonly filter: string;
  /** The last one is seen; Esc takes it away. */
  readonly pages: readonly LivePage[];
  readonly prompt: Prompt | null;
  readonly notice: LiveNotice | null;
  readonly pending: readonly Pending[];
  /** For the next page or action. */
  readonly nextId: number;
}

const FIRST: Place = { key: null, index: 0 };

export const FIRST_STATE: LiveState = {
  tab: "fleet",
  places: { fleet: FIRST, goals: FIRST, queue: FIRST, questions: FIRST, log: FIRST },
  filter: "",
  pages: [],
  prompt: null,
  notice: null,
  pending: [],
  nextId: 1,
};

/** What the person wants done; actions.ts does it. */
export type LiveIntent =
  | { readonly kind: "leave" }
  | { readonly kind: "open"; readonly page: LivePage }
  | { readonly kind: "answer"; readonly id: number; readonly question: string; readonly words: string }
  | { readonly kind: "accept"; readonly id: number; readonly node: string; readonly commit: string }
  | {
      readonly kind: "reject";
      readonly id: number;
      readonly node: string;
      readonly commit: string;
      readonly reason: string;
    }
  | { readonly kind: "write"; readonly id: number; readonly agent: string; readonly text: string }
  | { readonly kind: "stop"; readonly id: number; readonly agent: string; readonly attempt: number }
  | { readonly kind: "continue"; readonly id: number; readonly continuation: WorkContinuation };

export function findPage({ pages }: LiveState): LivePage | undefined {
  return pages.at(-1);
}

/** Where the cursor of the tab stands among its items now; -1 where there are none. */
export function cursorAmong({ places, tab }: LiveState, items: readonly Item[]): number {
  const { key, index } = places[tab];
  const found = key === null ? -1 : items.findIndex((item) => item.key === key);
  return found >= 0 ? found : Math.min(index, items.length - 1);
}

export function putCursor(state: LiveState, items: readonly Item[], to: number): LiveState {
  const index = Math.max(0, Math.min(to, items.length - 1));
  const place = { key: items[index]?.key ?? null, index };
  return { ...state, places: { ...state.places, [state.tab]: place } };
}

/**
 * Keeps the cursor on what it stands on when the lists have changed: where that is now is remembered, so that where it is
 * gone later, the cursor stays near. What a filter hides is not gone.
 */
export function holdCursor(state: LiveState, items: readonly Item[]): LiveState {
  const at = cursorAmong(state, items);
  const isHidden = state.filter !== "" && items[at]?.key !== state.places[state.tab].key;
  return at < 0 || isHidden ? state : putCursor(state, items, at);
}

export function tellNotice(state: LiveState, text: string, isTrouble = false): LiveState {
  return { ...state, notice: { text, isTrouble } };
}

export interface PageText {
  readonly lines: readonly Line[];
  readonly commit?: string;
}

/** A page was read; one that was closed meanwhile stays closed. */
export function fillPage(state: LiveState, id: number, read: PageText): LiveState {
  return { ...state, pages: state.pages.map((page) => (page.id === id ? { ...page, ...read } : page)) };
}

/** `claimed`: what is reported done now. A review that shows something else says so, once; what it shows stays. */
export function tellClaim(state: LiveState, id: number, claimed: string | null): LiveState {
  const page = state.pages.find((one) => one.id === id);
  if (!page?.lines || page.commit === undefined || page.commit === claimed) return state;
  const overtaken =
    claimed === null
      ? "This commit waits for a review no more."
      : `It has reported another commit since (${claimed.slice(0, 12)}); r shows it.`;
  if (page.overtaken === overtaken) return state;
  const before = page.overtaken === undefined ? page.lines : page.lines.slice(1);
  const told = { ...page, overtaken, lines: [makeLine(overtaken, "trouble"), ...before] };
  return tellNotice({ ...state, pages: state.pages.map((one) => (one.id === id ? told : one)) }, overtaken, true);
}

/** An action has ended, or a page could not be read. */
export function settleIntent(state: LiveState, id: number, text: string, isTrouble: boolean): LiveState {
  const pending = state.pending.filter((one) => one.id !== id);
  const asked = state.pending.find((one) => one.id === id)?.prompt;
  // Whoever writes something else meanwhile is not interrupted.
  const prompt = state.prompt ?? (isTrouble ? (asked ?? null) : null);
  const isAnswered = ({ kind, about }: LivePage) =>
    kind === "question" && asked?.kind === "answer" && about.question === asked.question;
  const pages = isTrouble
    ? state.pages.filter((page) => page.id !== id || page.lines !== null)
    : state.pages.filter((page) => !isAnswered(page));
  return tellNotice({ ...state, pending, pages, prompt }, text, isTrouble);
}
