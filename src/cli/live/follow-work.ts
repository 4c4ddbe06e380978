/**
 * `sling --follow`: what the agent is asked, says and does as lines, whoever has the work, until it has landed, waits for a
 * person or has ended. It only looks: leaving it leaves the agent at work.
 */
import type { Call } from "#cli/command.ts";
import { conversationLines, paintLine } from "#cli/conversation-lines.ts";
import { shortTime, withShortTimes } from "#cli/short-time.ts";
import { inert } from "#cli/text.ts";
import { type ConversationCursor, readConversation } from "#control/conversation.ts";
import { observeFollowed } from "#control/followed.ts";
import type { World } from "#control/world.ts";
import type { Followed } from "#domain/explain/followed.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptLabel } from "#domain/model/attempt.ts";
import { OverseerError } from "#errors.ts";

const LOOK_EVERY_MS = 300;
const WIDE = 200;

/** Throws NOT_FINISHED (exit code 4) when it ended without landing, and STILL_AT_WORK (7) when the person left. */
export async function followWork(call: Call, world: World, started: Attempt): Promise<void> {
  const { out } = call;
  out.live?.();
  const stop = new Promise<"stop">((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => resolve("stop"));
  });
  const columns = (out.cuts ?? out.interactive) ? out.width : WIDE;
  const look = { columns, time: (ms: number) => shortTime(ms, world.clock.now()) };
  let attempt = started;
  let cursor: ConversationCursor | undefined;
  for (;;) {
    const judged = await observeFollowed(world, started);
    // Read after it was judged: what was said before the end is shown before the end is told.
    const next = await readConversation(world, attempt.attempt, cursor ? { after: cursor } : { from: "start" });
    for (const line of conversationLines(next.parts, look)) out.line(paintLine(line, out.colour));
    cursor = next.cursor;
    if (next.more) continue;
    if (judged.followed.kind !== "goes-on") return tellEnd(call, judged.followed, world.clock.now());
    if (judged.last.attempt !== attempt.attempt) {
      attempt = judged.last;
      cursor = undefined;
      out.remark(`${attemptLabel(attempt)} has it now.`);
    }
    if ((await Promise.race([world.clock.sleep(LOOK_EVERY_MS), stop])) === "stop") throw describeLeft(attempt);
  }
}

function tellEnd({ out }: Call, followed: Exclude<Followed, { kind: "goes-on" }>, now: number): void {
  const said = inert(withShortTimes(followed.text, now));
  if (followed.kind === "failed") {
    throw new OverseerError("conflict", "NOT_FINISHED", said, `Next: ${followed.command}`);
  }
  out.line(said);
  if (followed.kind === "waits") out.remark(`Next: ${followed.command}`);
}

function describeLeft(attempt: Attempt): OverseerError {
  return new OverseerError(
    "unconfirmed",
    "STILL_AT_WORK",
    `${attemptLabel(attempt)} goes on without you.`,
    `Come back: overseer peek ${attempt.agent} --follow; end it: overseer stop ${attempt.agent}`,
  );
}
