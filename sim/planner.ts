/**
 * The model that a simulated Overseer asks about work that is stuck: it answers well, answers nonsense, asks for too much,
 * does not answer, answers when everything has changed, or has no quota left. What it is asked is read only as far as a
 * model would have to: for what, and about which task.
 */
import type { Advice, Triage } from "#domain/model/advice.ts";
import { AFTER_FAILURE } from "#domain/model/advice.ts";
import type { OneShotAnswer, OneShotLimit } from "#runtimes/runtime.ts";
import type { Chance } from "#sys/chance.ts";

export const MOODS = ["good", "late", "nonsense", "greedy", "silent", "broken", "quota"] as const;
export type Mood = (typeof MOODS)[number];

/** What one call of the program comes to. */
export interface ModelSaid {
  readonly mood: Mood;
  readonly text: string;
}

/** Half of the answers can be used. */
export function drawMood(chance: Chance): Mood {
  if (chance.next() < 0.5) return "good";
  return MOODS[Math.floor(chance.next() * MOODS.length)] ?? "good";
}

export function answerPrompt(prompt: string, chance: Chance, mood: Mood): ModelSaid {
  if (mood === "nonsense") return { mood, text: chance.next() < 0.5 ? "I would split it." : '{"parts": 7}' };
  const isSplit = prompt.includes("in smaller pieces");
  const isTriage = prompt.includes("whose failure that is");
  const answer = isTriage
    ? triage(chance)
    : isSplit
      ? splitInto(mood === "greedy" ? 40 : 2 + Math.floor(chance.next() * 2), chance)
      : advise(chance);
  return { mood, text: JSON.stringify(answer) };
}

function splitInto(count: number, chance: Chance) {
  const parts = Array.from({ length: count }, (_, index) => ({
    name: `Piece ${index + 1}`,
    objective: `Do piece ${index + 1}`,
    outcome: "",
    acceptance: [`the file of piece ${index + 1} is whole`],
    files: [],
    after: index > 0 && chance.next() < 0.4 ? [index] : [],
  }));
  return { why: "It is too much.", parts };
}

function triage(chance: Chance): Triage & { readonly diagnosis: string } {
  const recommend = AFTER_FAILURE[Math.floor(chance.next() * AFTER_FAILURE.length)] ?? "restart";
  return { diagnosis: "It was killed.", failure: "environment", recommend };
}

function advise(chance: Chance): { readonly diagnosis: string; readonly actions: readonly Advice[] } {
  const all: readonly Advice[] = [
    { do: "nudge", message: "Try it in another way." },
    { do: "resend" },
    { do: "wait", minutes: 3 },
    { do: "replan" },
    { do: "reassign" },
    { do: "escalate", question: "Which way?", options: ["try again"] },
  ];
  const actions = Array.from(
    { length: Math.floor(chance.next() * 4) },
    () => all[Math.floor(chance.next() * all.length)],
  );
  return { diagnosis: "It hangs.", actions: actions.flatMap((one) => one ?? []) };
}

/** What the played CLI prints for it, and how that is read again. */
export function printSaid({ mood, text }: ModelSaid, resetsAt: number): string {
  return JSON.stringify(mood === "quota" ? { limited: { resetsAt, detail: "limit" } } : { text });
}

export function readPrinted(stdout: string): OneShotAnswer | OneShotLimit {
  const { limited, text = "" } = JSON.parse(stdout) as { limited?: OneShotLimit["limited"]; text?: string };
  return limited ? { limited } : { text, costUsd: null, tokens: null };
}
