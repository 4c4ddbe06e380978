/**
 * Names that keys had before, and the ones they have now. An old name in a file is still understood and told once with
 * the new one; both at once are refused, because nobody can know which was meant.
 */
import { isRecord } from "./kinds.ts";

const RENAMED: Readonly<Record<string, string>> = {
  "reconcile.idleAfter": "recovery.silentAfter",
  "reconcile.minResendInterval": "recovery.sameWordsAfter",
  "reconcile.backoff.base": "recovery.backoff.base",
  "reconcile.backoff.max": "recovery.backoff.max",
  "reconcile.toolLimit": "recovery.hungCallAfter",
  "reconcile.startingLimit": "recovery.firstSignWithin",
  "reconcile.minimumAge": "recovery.judgedFromAge",
  "ladder.nudges.hint": "recovery.steps.hints",
  "ladder.nudges.warning": "recovery.steps.warnings",
  "ladder.nudges.critical": "recovery.steps.lastWarnings",
  "ladder.resend": "recovery.steps.interrupts",
  "ladder.replan": "recovery.steps.splits",
  "ladder.reassign": "recovery.steps.freshAgents",
  "ladder.pause": "recovery.steps.pauses",
  "ladder.restarts": "recovery.restarts",
  "ladder.patience": "recovery.nextStepAfter",
  "watch.zombieAfter": "recovery.deadAfter",
  "massDeath.count": "recovery.massDeath.count",
  "massDeath.within": "recovery.massDeath.within",
};

/** Groups that are gone with their keys; what is left of them otherwise is refused like any unknown key. */
const GONE: Readonly<Record<string, string>> = {
  "reconcile.backoff": "recovery.backoff",
  "ladder.nudges": "recovery.steps",
  ladder: "recovery",
  massDeath: "recovery.massDeath",
};

/** What a key or a group is called now; undefined for one that was not renamed. */
export function nameNow(name: string): string | undefined {
  return RENAMED[name] ?? GONE[name];
}

/** Keys that a word alone meant before: whoever writes it in another place is told its new name. */
export function namesNowOf(word: string): string[] {
  return Object.entries(RENAMED).flatMap(([was, now]) => (was.endsWith(`.${word}`) ? [now] : []));
}

export interface LiftedValues {
  /** As if the new names had been written. */
  readonly values: Record<string, unknown>;
  /** By its new name, the old one that stands in the file. */
  readonly lifted: ReadonlyMap<string, string>;
  /** Old names whose new one is set as well. */
  readonly twice: readonly string[];
}

export function liftOldNames(raw: Record<string, unknown>): LiftedValues {
  const lifted = new Map<string, string>();
  const twice: string[] = [];
  let values = raw;
  for (const [was, now] of Object.entries(RENAMED)) {
    const [from, to] = [was.split("."), now.split(".")];
    const value = valueAt(raw, from);
    if (value === undefined) continue;
    if (valueAt(raw, to) !== undefined) twice.push(was);
    const moved = withValue(withoutKey(values, from), to, value);
    // Something else than a group stands where it belongs, and is refused as it is.
    if (moved === undefined) continue;
    lifted.set(now, was);
    values = moved;
  }
  for (const group of lifted.size === 0 ? [] : Object.keys(GONE)) {
    const rest = valueAt(values, group.split("."));
    if (isRecord(rest) && Object.keys(rest).length === 0) values = withoutKey(values, group.split("."));
  }
  return { values, lifted, twice };
}

/** One sentence for all old names of a file. */
export function tellOldNames({ lifted }: LiftedValues): string[] {
  if (lifted.size === 0) return [];
  const names = [...lifted].map(([now, was]) => `${was} is now ${now}`);
  return [`Old names, still understood: ${names.join(", ")}.`];
}

function valueAt(values: unknown, path: readonly string[]): unknown {
  let value = values;
  for (const word of path) value = isRecord(value) && Object.hasOwn(value, word) ? value[word] : undefined;
  return value;
}

/** Copied along the way: by an alias, two keys of a file may hold the same group. */
function withoutKey(values: Record<string, unknown>, path: readonly string[]): Record<string, unknown> {
  const [word = "", ...rest] = path;
  const { [word]: part, ...others } = values;
  return rest.length > 0 && isRecord(part) ? { ...values, [word]: withoutKey(part, rest) } : others;
}

function withValue(
  values: Record<string, unknown>,
  path: readonly string[],
  value: unknown,
): Record<string, unknown> | undefined {
  const [word = "", ...rest] = path;
  if (rest.length === 0) return { ...values, [word]: value };
  const part = values[word] ?? {};
  const below = isRecord(part) ? withValue(part, rest, value) : undefined;
  return below && { ...values, [word]: below };
}
