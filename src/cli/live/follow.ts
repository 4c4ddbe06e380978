/**
 * `peek --follow` where a person looks: one agent on a screen of its own, until they leave. It looks and draws, and never
 * reaches the agent. Loaded when asked for, as watch.ts is.
 */
import { lookAt } from "#control/agents.ts";
import type { World } from "#control/world.ts";
import { type PeekView, peekFrame } from "./peek-frame.ts";
import { makeSaidReader } from "./said.ts";
import { openScreen } from "./screen.ts";

const LOOK_EVERY_MS = 500;

export async function followAgent(world: World, name: string, out: { readonly colour: boolean }): Promise<void> {
  const say = makeSaidReader();
  const look = async (columns: number): Promise<PeekView> => {
    const { agent } = await lookAt(world, name, 1);
    return { agent, said: await say(world, agent.attempt, columns), now: world.clock.now() };
  };
  let view = await look(80); // a problem is told on the usual screen
  const screen = openScreen(out.colour);
  let isLeaving = false;
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) {
    process.once(signal, () => {
      isLeaving = true;
      screen.wake();
    });
  }
  try {
    for (;;) {
      screen.draw(peekFrame(view, screen.size()));
      const keys = await screen.keys(LOOK_EVERY_MS);
      if (isLeaving || screen.isGone() || keys.some(({ name, text }) => name === "ctrl-c" || text === "q")) return;
      view = await look(screen.size().columns);
    }
  } finally {
    screen.leave();
  }
}
