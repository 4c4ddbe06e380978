/**
 * `peek --follow` where a person looks: one agent on a screen of its own, until they leave. It looks and draws, and never
 * reaches the agent. Loaded when asked for, as watch.ts is.
 */
import { lookAt } from "#control/agents.ts";
import type { World } from "#control/world.ts";
import { type PeekView, peekFrame } from "./peek-frame.ts";
import { openScreen } from "./screen.ts";

const LOOK_EVERY_MS = 500;
/** More than any screen shows. */
const LINES = 500;
const CTRL_C = "\u0003";

export async function followAgent(world: World, name: string, out: { readonly colour: boolean }): Promise<void> {
  const look = async (): Promise<PeekView> => ({ ...(await lookAt(world, name, LINES)), now: world.clock.now() });
  let view = await look(); // a problem is told on the usual screen
  const screen = openScreen(out.colour);
  const stop = new Promise<"stop">((resolve) => {
    for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) process.once(signal, () => resolve("stop"));
  });
  try {
    for (;;) {
      screen.draw(peekFrame(view, screen.size()));
      const key = await Promise.race([screen.key(LOOK_EVERY_MS), stop]);
      if (key === "stop" || key === CTRL_C || key === "q") return;
      view = await look();
    }
  } finally {
    screen.leave();
  }
}
