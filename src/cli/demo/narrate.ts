/**
 * The demo's storyteller: which events of the log are worth a line, and in which words. It tells what the log says and
 * nothing else; `overseer events` in the same repository has all of it.
 */

import { NUDGE_NAMES } from "#domain/model/ladder-state.ts";

/** An event as `overseer events --json` prints it; only what is told here. */
export interface ToldEvent {
  readonly seq: number;
  readonly actor?: string;
  readonly type: string;
  readonly nodeId?: string | null;
  readonly agent?: string | null;
  readonly attempt?: number | null;
  readonly because?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** How a line is meant: the usual, a problem, a step of recovery, something that ended well, a word from a person. */
export type StoryTone = "plain" | "trouble" | "recovery" | "good" | "person";

export interface StoryLine {
  readonly tone: StoryTone;
  readonly about: string;
  readonly text: string;
}

type Teller = (event: ToldEvent, word: (name: string) => string) => readonly [StoryTone, string] | undefined;

const SEVERITIES: Readonly<Record<string, string>> = {
  hint: `a ${NUDGE_NAMES.hint}`,
  warning: `a ${NUDGE_NAMES.warning}`,
  critical: `a ${NUDGE_NAMES.critical}`,
};

/** How a conflict can have been resolved, by the name of its tier. */
const TIERS: Readonly<Record<string, string>> = {
  "auto-resolve": "mechanically",
  author: "by its author",
  "ai-resolve": "by a model",
  reimagine: "by a model that made the change again",
};

const TELLERS: Readonly<Record<string, Teller>> = {
  "plan.accepted": (_, word) => ["plain", `The plan is accepted: ${word("nodeCount")} nodes.`],
  "daemon.started": (_, word) => ["plain", `The daemon runs (pid ${word("pid")}).`],
  "daemon.adopted": ({ data }) => {
    const count = Array.isArray(data.agents) ? data.agents.length : 0;
    return [
      "recovery",
      `It finds ${count === 1 ? "one agent" : `${count} agents`} at work and adopts them, untouched.`,
    ];
  },
  "agent.slung": (event) => ["plain", `${who(event)} starts, in a worktree of its own.`],
  "agent.ended": (event, word) =>
    word("cause") === "died" ? ["trouble", `${who(event)} died: ${word("detail")}`] : undefined,
  "agent.steered": (_, word) => ["recovery", `Steered by its reflex at step ${word("step")}: ${asHeard(word("fact"))}`],
  "assignment.restarting": () => ["recovery", "It is started again at once, in the same worktree: nothing is lost."],
  "assignment.nudged": (_, word) => [
    "recovery",
    `No progress; the agent is asked for its status (${SEVERITIES[word("severity")] ?? word("severity")}).`,
  ],
  "assignment.resent": () => ["recovery", "Still nothing; its turn is interrupted and the instruction sent again."],
  "assignment.reassigning": () => ["recovery", "Still nothing; a fresh agent takes over from its last commit."],
  "work.claimed": (event, word) => ["plain", `${who(event)} reports done at ${word("commit").slice(0, 7)}.`],
  "check.finished": (_, word) =>
    word("verdict") === "fail"
      ? ["trouble", `Not true: the check '${word("name")}' fails: ${firstLine(word("excerpt"))}`]
      : undefined,
  "landing.refused": ({ data }) => {
    const files = Array.isArray(data.files) ? data.files.join(", ") : "";
    return files === "" ? undefined : ["trouble", `It conflicts with what landed meanwhile, in ${files}.`];
  },
  "work.returned": ({ because }) => [
    "recovery",
    because === "merge-conflict"
      ? "It goes back to its author, who knows best what it meant."
      : "The claim goes back to its author, with what the check said.",
  ],
  "question.asked": (event, word) => ["person", `${who(event)} asks: ${word("text")}`],
  "question.answered": (_, word) => ["person", `Answered: ${word("answer")}`],
  "landing.landed": (_, word) => ["good", `Checked, merged and landed on ${word("target")}.`],
  "merge.landed": (_, word) =>
    word("tier") === "clean-merge"
      ? undefined
      : [
          "good",
          `The conflict was resolved ${TIERS[word("tier")] ?? ""} (tier: ${word("tier")}); both sides are kept.`,
        ],
  "goal.completed": () => ["good", "The goal is reached."],
};

export function narrate(event: ToldEvent): StoryLine | undefined {
  const line = TELLERS[event.type]?.(event, (name) => String(event.data[name] ?? ""));
  return line && { tone: line[0], about: event.nodeId ?? "", text: line[1] };
}

function who({ agent, attempt }: ToldEvent): string {
  return agent ? `${agent}${attempt ? `#${attempt}` : ""}` : "Somebody";
}

/** Without what the error said: a line is to fit. */
function asHeard(fact: string): string {
  const short = fact.replace(/ \(“[^”]*”\)/, "");
  return `${short.slice(0, 1).toUpperCase()}${short.slice(1)}.`;
}

function firstLine(text: string): string {
  return text.split("\n").find((line) => line.trim() !== "") ?? "it says nothing";
}
