/**
 * `status --watch`: looks, draws, listens for a key, again and again until the person leaves. It reads the same answer
 * `status` prints; the only thing it ever does is give a person's answer to a question. Loaded when asked for, because
 * `status` itself is counted in milliseconds.
 */
import { agents } from "#control/agents.ts";
import { giveAnswer } from "#control/questions.ts";
import { readFleetStatus } from "#control/status.ts";
import type { World } from "#control/world.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { frame, type ScreenMode, type View } from "./frame.ts";
import { openScreen } from "./screen.ts";

const LOOK_EVERY_MS = 1_000;
const CTRL_C = "\u0003";
const ESCAPE = "\u001b";

export async function watchStatus(
  world: World,
  out: { readonly colour: boolean; readonly interactive: boolean },
): Promise<void> {
  if (!out.interactive) {
    throw new OverseerError(
      "usage",
      "NO_TERMINAL",
      "--watch needs a terminal to draw on.",
      "Use 'overseer status', or 'overseer events --follow' in a pipe.",
    );
  }
  await look(world); // a problem is told on the usual screen
  const screen = openScreen(out.colour);
  const stop = new Promise<"stop">((resolve) => {
    for (const name of ["SIGTERM", "SIGHUP", "SIGINT"]) process.once(name, () => resolve("stop"));
  });
  try {
    let mode: ScreenMode = { kind: "look" };
    let view = await look(world);
    for (let looked = world.clock.monotonic(); ; ) {
      screen.draw(frame(view, mode, screen.size()));
      const key = await Promise.race([screen.key(LOOK_EVERY_MS), stop]);
      if (key === "stop" || key === CTRL_C || (key === "q" && mode.kind !== "answer")) return;
      if (key !== undefined) mode = await after(world, view, mode, key);
      if (key === undefined || world.clock.monotonic() - looked >= LOOK_EVERY_MS || key === "\r") {
        view = await look(world);
        looked = world.clock.monotonic();
      }
    }
  } finally {
    screen.leave();
  }
}

async function look(world: World): Promise<View> {
  const [now, atWork] = await Promise.all([readFleetStatus(world), agents(world)]);
  const pulses = new Map(atWork.flatMap(({ attempt, pulse }) => (pulse ? [[attempt, pulse] as const] : [])));
  return { status: now, pulses, now: world.clock.now() };
}

async function after(
  world: World,
  { status: { questions } }: View,
  mode: ScreenMode,
  key: string,
): Promise<ScreenMode> {
  const [question] = questions;
  if (mode.kind === "help") return { kind: "look" };
  if (mode.kind === "look") {
    if (key === "?") return { kind: "help" };
    if (key === "a" && question) return { kind: "answer", typed: "" };
    return { kind: "look" };
  }
  if (key === ESCAPE || !question) return { kind: "look" };
  if (key === "\u007f" || key === "\b") return { ...mode, typed: [...mode.typed].slice(0, -1).join("") };
  if (key !== "\r" && key !== "\n") return key.startsWith(ESCAPE) ? mode : { ...mode, typed: mode.typed + key };
  if (mode.typed.trim() === "") return { kind: "look" };
  try {
    const given = await giveAnswer(world, question.questionId, mode.typed.trim());
    return { kind: "look", said: `Answered ${given.questionId}: ${given.answer}` };
  } catch (error) {
    return { kind: "look", said: messageOf(error) };
  }
}
