/** The keys of the live view, for the page that `?` opens. docs/live-view.md tells the same at more length. */
import { type Line, makeLine } from "./line.ts";

const KEYS: readonly (readonly [key: string, what: string])[] = [
  ["↑ ↓ j k", "move; PgUp PgDn, Home End, g G by pages and to the ends"],
  ["Tab 1-5", "fleet, goals, queue, questions, log"],
  ["Enter", "look into the agent at the cursor, or open what is there; Esc goes back"],
  [
    "r",
    "review the task at the cursor, else the oldest that waits: its change and checks; there y accepts, x sends it back with a reason",
  ],
  ["a", "answer the question at the cursor, else the oldest: a number chooses, words are your own"],
  ["n", "write a note to the agent; it reads it at its next step"],
  ["s", "stop the agent, after you said y; its task waits for you"],
  ["u", "continue what waits for you, after you said y: its agent is restarted or resumed, its task dispatched again"],
  ["w", "why it is as it is"],
  ["l", "what the log says about it"],
  ["/", "show only lines with these words; Esc shows all"],
  ["?", "these keys"],
  ["q Ctrl-C", "leave; nothing stops"],
];

export function listKeyLines(): Line[] {
  return [
    ...KEYS.map(([key, what]) => makeLine(`  ${key.padEnd(10)}${what}`)),
    makeLine(""),
    makeLine(
      "Everything here can also be asked: overseer status, review, questions, peek <agent>, why <id>, events.",
      "faint",
    ),
  ];
}
