/**
 * The live view: looks, draws, takes keys, again and again until the person leaves. It reads the same answer `status`
 * prints; what a person wants done is done beside it (actions.ts), so that the view never stands still. Loaded when asked
 * for, because `status` itself is counted in milliseconds.
 */
import { openFleetLook } from "#control/fleet-look.ts";
import { findClaimedCommit } from "#control/review.ts";
import type { World } from "#control/world.ts";
import { OverseerError } from "#errors.ts";
import { type LiveDeed, performDeed, tellFailure } from "./actions.ts";
import { isNoticeOver } from "./footer-frame.ts";
import { makeFrame } from "./frame.ts";
import { listItems } from "./item.ts";
import { type Line, readLine } from "./line.ts";
import { joinText } from "./line-edit.ts";
import { followsEnd } from "./page.ts";
import { pressKey } from "./press.ts";
import { readPage } from "./read-page.ts";
import { makeSaidReader } from "./said.ts";
import { openScreen } from "./screen.ts";
import {
  FIRST_STATE,
  fillPage,
  findPage,
  holdCursor,
  type LiveIntent,
  type LivePage,
  type LiveState,
  settleIntent,
  tellClaim,
  tellNotice,
} from "./state.ts";
import { toView, type View } from "./view.ts";

const LOOK_EVERY_MS = 1_000;

export interface WatchOutput {
  readonly colour: boolean;
  readonly interactive: boolean;
  line(text: string): void;
}

/** `worldNow`: with the settings as they are then; the view outlives them. */
export async function watchStatus(worldNow: () => Promise<World>, out: WatchOutput): Promise<void> {
  if (!out.interactive) {
    throw new OverseerError(
      "usage",
      "NO_TERMINAL",
      "--watch needs a terminal to draw on.",
      "Use 'overseer status', or 'overseer events --follow' in a pipe.",
    );
  }
  const { clock } = await worldNow();
  const look = openFleetLook(worldNow);
  let view: View = toView(await look(), clock.now()); // a problem is told on the usual screen
  let state: LiveState = holdCursor(FIRST_STATE, listItems(view, FIRST_STATE.tab, ""));
  const screen = openScreen(out.colour);
  const say = makeSaidReader();
  const underWay = new Set<Promise<void>>();
  let isLeaving = false;
  let [told, toldAt] = [state.notice, 0];
  for (const name of ["SIGTERM", "SIGHUP", "SIGINT"]) {
    process.once(name, () => {
      isLeaving = true;
      screen.wake();
    });
  }

  const change = (next: LiveState) => {
    state = next;
    screen.wake();
  };
  const perform = async (deed: LiveDeed) => {
    const { text, isTrouble } = await performDeed(await worldNow(), deed);
    await lookNow(true);
    change(settleIntent(state, deed.id, text, isTrouble));
    if (isLeaving) out.line(text);
  };
  const read = async (page: LivePage) => {
    try {
      const text = await readPage(await worldNow(), page, screen.size(), say);
      const known = state.pages.find(({ id }) => id === page.id);
      if (known && !isSameText(known.lines, text.lines)) change(fillPage(state, page.id, text));
    } catch (error) {
      change(settleIntent(state, page.id, tellFailure(error), true));
    }
  };
  const lookAtClaim = async ({ id, about }: LivePage) => {
    try {
      state = tellClaim(state, id, await findClaimedCommit(await worldNow(), about.node ?? ""));
    } catch (error) {
      state = tellNotice(state, tellFailure(error), true);
    }
  };
  const lookNow = async (anyway = false) => {
    try {
      const before = view;
      view = toView(await look(anyway), clock.now(), before);
      if (view.status !== before.status) state = holdCursor(state, listItems(view, state.tab, state.filter));
    } catch (error) {
      view = { ...view, now: clock.now() };
      state = tellNotice(state, tellFailure(error), true);
    }
  };
  const begin = (intent: LiveIntent) => {
    if (intent.kind === "leave") isLeaving = true;
    else if (intent.kind === "open") void read(intent.page);
    else {
      const done = perform(intent).finally(() => underWay.delete(done));
      underWay.add(done);
    }
  };

  try {
    for (let lookedAt = clock.monotonic(); ; ) {
      if (state.notice !== told) [told, toldAt] = [state.notice, clock.monotonic()];
      if (told && !state.prompt && isNoticeOver(clock.monotonic() - toldAt, screen.size())) {
        state = { ...state, notice: null };
      }
      const { lines, caret } = makeFrame(state, view, screen.size());
      screen.draw(lines, caret);
      const left = LOOK_EVERY_MS - (clock.monotonic() - lookedAt);
      const isWriting = () => state.prompt !== null && state.prompt.kind !== "stop";
      for (const key of joinText(await screen.keys(Math.max(1, left)), isWriting)) {
        const pressed = pressKey(state, key, view, screen.size());
        state = pressed.state;
        if (pressed.intent) begin(pressed.intent);
      }
      if (isLeaving || screen.isGone()) break;
      if (clock.monotonic() - lookedAt < LOOK_EVERY_MS) continue;
      lookedAt = clock.monotonic();
      await lookNow();
      const page = findPage(state);
      if (page?.lines && followsEnd(page)) await read(page);
      if (page?.commit !== undefined) await lookAtClaim(page);
    }
  } finally {
    screen.leave();
  }
  // What was asked for is done before the program ends.
  for (const { text } of state.pending) out.line(text);
  await Promise.all(underWay);
}

/** Then nothing has to be wrapped and drawn again. */
function isSameText(one: readonly Line[] | null, other: readonly Line[]): boolean {
  if (one?.length !== other.length) return false;
  return one.every((line, at) => readLine(line) === readLine(other[at] ?? line));
}
