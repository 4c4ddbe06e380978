/**
 * One real agent from sling to nuke, under a given configuration: a scripted one, driven by a real runner, started and
 * ended by the program as people have it. A file lies uncommitted before it; it talks for a while and then has nothing
 * to do.
 */
import { mkdirSync } from "node:fs";
import { wakeRunner } from "#act/attempt-files.ts";
import { configYaml } from "#config/render.ts";
import type { Config } from "#config/schema.ts";
import type { World } from "#control/world.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { renderScript } from "#runtimes/scripted/language.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { pulseOf, signalsOf } from "#store/signals.ts";
import { findRoot } from "#sys/root.ts";
import { realWorld } from "#wiring.ts";
import { overseerOk } from "./cli.ts";
import { confirmIn } from "./confirm.ts";
import { testEnvironment } from "./git-tools.ts";
import { tempRepo } from "./temp.ts";

export interface Life {
  /** How its first turn ended, or how the agent did when it never came to that. */
  readonly turn: string;
  /** Whether its uncommitted work was saved while it was at work. */
  readonly saved: boolean;
  /** Whether its process was ended while it had nothing to do. */
  readonly sentToSleep: boolean;
  readonly lastWords: number;
}

const SENTENCE = "I am still at it. ".repeat(20).trim();
/** Twice as long as its runner may take to look around, so that what is due every second has been done by then. */
const SCRIPT = renderScript([
  {
    kind: "loop",
    times: 18,
    steps: [
      { kind: "say", text: SENTENCE },
      { kind: "think", ms: 250 },
    ],
  },
  { kind: "say", text: SENTENCE },
]);

/** However busy this machine is with other tests. */
const ANY: Config["capacity"] = {
  loadFactor: 1000,
  minMemory: 0,
  minMemoryPercent: 0,
  minDisk: 0,
  minDiskPercent: 0,
};

export async function livedUnder(config: Config): Promise<Life> {
  const repo = tempRepo();
  mkdirSync(`${repo.path}/.overseer`);
  repo.write({ ".overseer/config.yaml": configYaml({ ...config, capacity: ANY }) });
  await confirmIn(repo.path);
  await overseerOk(repo.path, "init");
  try {
    await overseerOk(repo.path, "sling", "--runtime", "scripted", "--name", "talker", "--prompt", `Talk. ${SCRIPT}`);
    repo.write({ ".overseer/worktrees/talker-1/draft.txt": "not yet\n" });
    const world = realWorld(await findRoot({ cwd: repo.path, env: testEnvironment() }), testEnvironment());
    const turn = await endOfTurn(world);
    const saved = repo.git("for-each-ref", "refs/overseer/wip/").length > 0;
    const sentToSleep = turn === "completed" && (await fallsAsleep(world));
    const { pulse } = await (await world.reader()).read({ pulse: pulseOf(1) });
    return { turn, saved, sentToSleep, lastWords: pulse?.lastText.length ?? 0 };
  } finally {
    await overseerOk(repo.path, "nuke", "--all", "--discard");
  }
}

async function signals(world: World): Promise<Signal[]> {
  return (await (await world.reader()).read({ all: signalsOf(1, 1000) })).all;
}

async function endOfTurn(world: World): Promise<string> {
  for (let look = 0; look < 600; look += 1) {
    const ended = (await signals(world)).find((signal) => signal.kind === "turn.ended");
    if (ended?.kind === "turn.ended") return ended.data.reason;
    const { attempt } = await (await world.reader()).read({ attempt: attemptByNumber(1) });
    if (attempt?.end) return attempt.end.cause;
    await Bun.sleep(100);
  }
  throw new Error("The agent's turn did not end.");
}

/** Makes its runner look at it often, for longer than the shortest time after which it may be sent to sleep. */
async function fallsAsleep(world: World): Promise<boolean> {
  for (let look = 0; look < 12; look += 1) {
    await Bun.sleep(150);
    await wakeRunner(world, 1);
    if ((await signals(world)).some((signal) => signal.kind === "process.exited")) return true;
  }
  return false;
}
