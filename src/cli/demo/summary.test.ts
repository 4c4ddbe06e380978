/** One row, one story: what the log has to say for it to be told. */
import { expect, test } from "bun:test";
import type { ToldEvent } from "./narrate.ts";
import { type Story, storiesOf } from "./summary.ts";

let seq = 0;
const event = (nodeId: string | null, type: string, data: ToldEvent["data"] = {}): ToldEvent => {
  seq += 1;
  return { seq, type, nodeId, agent: "builder-1", attempt: 5, data };
};
const nudged = event("T2", "assignment.nudged");
const rows: [why: string, events: ToldEvent[], stories: Story[]][] = [
  ["nothing went wrong, so nothing is told", [event("T1", "landing.landed"), event(null, "daemon.started")], []],
  [
    "one question was enough",
    [nudged],
    [{ title: "The agent that hung (T2)", text: "nothing was heard of it, so it was asked once for its status." }],
  ],
  [
    "the whole ladder",
    [
      nudged,
      nudged,
      event("T2", "assignment.resent"),
      event("T2", "assignment.reassigning"),
      event("T2", "agent.slung"),
    ],
    [
      {
        title: "The agent that hung (T2)",
        text: "nothing was heard of it, so it was asked 2 times for its status, interrupted and told again, and replaced by builder-1#5, which continued from its last commit.",
      },
    ],
  ],
  [
    "a claim that does not hold",
    [
      event("T3", "check.finished", { verdict: "fail", name: "greetings" }),
      event("T3", "work.returned"),
      event("T3", "landing.landed"),
    ],
    [
      {
        title: "The agent that lied (T3)",
        text: "it reported done, and the check 'greetings' said otherwise; it was told so, and fixed it.",
      },
    ],
  ],
  ["a check that failed on nobody's claim", [event("T3", "check.finished", { verdict: "fail", name: "x" })], []],
  [
    "the reflex",
    [event("T4", "agent.steered", { step: 3, fact: "you made the same call 3 times" })],
    [
      {
        title: "The agent that went in circles (T4)",
        text: "its reflex told it at step 3, without a model: you made the same call 3 times.",
      },
    ],
  ],
  [
    "a death",
    [
      event("T5", "agent.ended", { cause: "died", detail: "Its process was killed by SIGKILL." }),
      event("T5", "assignment.restarting"),
    ],
    [
      {
        title: "The agent that died (T5)",
        text: "its process was killed by SIGKILL; it was started again in the same worktree.",
      },
    ],
  ],
  ["an end as it should be", [event("T5", "agent.ended", { cause: "stopped", detail: "Its work is done." })], []],
  [
    "a question",
    [
      event("T6", "question.asked", { questionId: "q" }),
      event("T6", "question.answered", { questionId: "q", answer: "yes" }),
    ],
    [{ title: "The agent that asked (T6)", text: "it waited for a person, heard “yes”, and continued." }],
  ],
  [
    "a conflict, with the tier by name",
    [event("T8", "landing.refused", { files: ["README.md"] }), event("T8", "merge.landed", { tier: "author" })],
    [
      {
        title: "The two that collided (T8)",
        text: "another had changed README.md at the same place; it went back to its author; both sides were kept (tier: author).",
      },
    ],
  ],
  [
    "a new daemon, after what happened to its agents; T10 after T2",
    [event(null, "daemon.adopted", { agents: [{}, {}] }), event("T10", "assignment.nudged"), nudged],
    [
      { title: "The agent that hung (T2)", text: "nothing was heard of it, so it was asked once for its status." },
      { title: "The agent that hung (T10)", text: "nothing was heard of it, so it was asked once for its status." },
      {
        title: "The daemon that was killed",
        text: "2 agents kept running without it, and the next one took them over.",
      },
    ],
  ],
];
test.each(rows)("DEMO-1: %s", (_why, events, stories) => {
  expect(storiesOf(events, "The agent that lied")).toEqual(stories);
});
