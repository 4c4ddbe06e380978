/** What a person's own session is told that leads here, or that would have and may not. */

import { inline } from "#domain/core/quote.ts";

const LEADING =
  "You are the orchestrator of the Overseer fleet in this repository: you hand out work, answer agents, review and land; agents do the work, each in a worktree of its own. Use the overseer tools, or the 'overseer' commands where you have none; the skill overseer:leading says more. Letters to you come with the user's next prompt. Answer, land and stop only what the user would want you to.";

/** `stand` is where the fleet stands; `waiting` how many letters are handed over with the next prompt. */
export function renderLead(stand: string, waiting: number): string {
  const letters = `${waiting} ${waiting === 1 ? "letter waits" : "letters wait"} for you and ${waiting === 1 ? "comes" : "come"} with the next prompt.`;
  return [LEADING, stand, ...(waiting > 0 ? [letters] : [])].join("\n\n");
}

export function renderRival(session: string, sinceMs: number): string {
  const minutes = Math.max(0, Math.floor(sinceMs / 60_000));
  return `Another session (${inline(session, 60)}, for ${minutes} min) leads the Overseer fleet of this repository; this one does not, and gets no letters. It leads once that one has closed. Tell the user if they mean to lead from here.`;
}
