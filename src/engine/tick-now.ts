/** `tick --now`: one tick by the daemon where there is one, else by the command itself, under the daemon's lock. */
import { holderRefusal, livingDaemon, patientLock } from "#control/daemon.ts";
import { callDaemon } from "#control/daemon-client.ts";
import { speakingAs, type World } from "#control/world.ts";
import { type Tick, type TickResult, tickUnlessHalted } from "./tick-contract.ts";

/** A tick asked for may wait for the one under way. */
const TICK_ANSWER_MS = 30 * 60_000;

export type TickAnswer = TickResult & { readonly halted: readonly string[]; readonly by: "daemon" | "this command" };

/** TICK-4: one tick now, by the daemon where there is one, else here under its lock. */
export async function tickNow(world: World, version: string, tick: Tick): Promise<TickAnswer> {
  const daemon = livingDaemon(world);
  if (daemon) {
    const outcome = await callDaemon(daemon, version, "tick", {}, TICK_ANSWER_MS);
    return { ...(outcome as Omit<TickAnswer, "by">), by: "daemon" };
  }
  await world.files.makeDir(`${world.root.state}/run`, { mode: 0o700 });
  const lock = await patientLock(world);
  if (!lock) throw holderRefusal(world, version);
  try {
    const reason = { causes: ["asked"], skippedMs: 0 };
    return { ...(await tickUnlessHalted(speakingAs(world, "overseer"), reason, tick)), by: "this command" };
  } finally {
    lock.release();
  }
}
