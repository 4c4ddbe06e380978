/**
 * Finished work that waits to be looked at, decided where it is followed: its files and what the checks say, then accept it,
 * see the change, or send it back with a reason. Later is an answer too.
 */
import type { Call } from "#cli/command.ts";
import { paintLine } from "#cli/conversation-lines.ts";
import { landingLine } from "#cli/landing-line.ts";
import { pageLines } from "#cli/pager.ts";
import { reviewLines } from "#cli/review-lines.ts";
import { breakSentences, inertLines } from "#cli/text.ts";
import { acceptWork, type Review, rejectLanding, review } from "#control/review.ts";
import type { World } from "#control/world.ts";
import { OverseerError } from "#errors.ts";
import { askChoice, askLine, type Choice } from "./person-choice.ts";
import { openProgressLine } from "./progress-line.ts";

const CHOICES: readonly Choice<"accept" | "change" | "back" | "later">[] = [
  { name: "accept", key: "a" },
  { name: "change", key: "c" },
  { name: "back", key: "b" },
  { name: "later", key: "l" },
];
const PROMPT = "[a]ccept and land it, see the [c]hange, send it [b]ack, [l]ater: ";

/** `later`: the rest is followed meanwhile. */
export async function reviewWork(call: Call, world: World, node: string): Promise<"decided" | "later" | "left"> {
  const found = await review(world, { what: node });
  for (const line of paint(call, found, false)) call.out.line(line);
  for (;;) {
    const chosen = await askChoice(PROMPT, CHOICES);
    if (chosen === "later" || chosen === "left") return chosen;
    if (chosen === "change") await pageLines(call.out, paint(call, found, true));
    else if (await wasDecided(call, () => (chosen === "accept" ? land(call, world, found) : sendBack(world, found))))
      return "decided";
  }
}

function paint({ out }: Call, found: Review, withDiff: boolean): string[] {
  return reviewLines(found, withDiff).map((line) => paintLine(line, out.colour));
}

/** By the commit that was shown: another one is asked about anew. */
async function land({ out }: Call, world: World, { node, commit }: Review): Promise<boolean> {
  const line = openProgressLine(true, out.width);
  line.say("Checking the merged tree and landing it", true);
  const landed = await acceptWork(world, { what: node, commit }).finally(() => line.end());
  if (landed.outcome !== "done") out.remark(landingLine(landed));
  return true;
}

async function sendBack(world: World, { node, commit }: Review): Promise<boolean> {
  const reason = (await askLine("What is wrong with it? "))?.trim();
  if (!reason) return false;
  await rejectLanding(world, { what: node, commit }, reason);
  return true;
}

/** What is refused is said, and asked about again. */
async function wasDecided(call: Call, act: () => Promise<boolean>): Promise<boolean> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof OverseerError) || error.kind === "internal") throw error;
    for (const line of breakSentences(call.out, inertLines(error.message))) call.out.problem(line);
    return false;
  }
}
