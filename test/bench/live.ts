/**
 * What the live view costs while it stays open (STATUS-1): its share of a core over a while, at 200 × 50 in a real terminal,
 * with so many agents that all do something every two seconds. The agents are rows of the store; what they do is written by
 * this process, whose own time does not count.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openForWriting, openSignalLog } from "#store/open.ts";
import { systemProcesses } from "#sys/processes.ts";
import { addRunning } from "../support/attempts.ts";
import { gitIn } from "../support/git-in.ts";
import { cpuNs } from "./cpu-clock.ts";
import { cpuOf, type Measure } from "./row.ts";

const OVERSEER = join(import.meta.dir, "../../bin/overseer");
const EVERY_MS = 2_000;

export function liveView(agents: number): Measure {
  return async ({ quick, scratch, atEnd }) => {
    const repo = join(scratch, `live-${agents}`);
    mkdirSync(repo, { recursive: true });
    gitIn(repo, "init", "--quiet");
    gitIn(repo, "-c", "user.name=B", "-c", "user.email=b@example.invalid", "commit", "-qm", "x", "--allow-empty");
    cpuOf([OVERSEER, "init"], repo);
    cpuOf([OVERSEER, "goal", "create", "The first"], repo);
    const database = join(repo, ".git/overseer/overseer.db");
    const store = await openForWriting({ address: database });
    const numbers = await addRunning(store, agents, systemProcesses().self());
    await store.close();
    const tmux = (...words: string[]) =>
      Bun.spawnSync(["tmux", "-S", join(repo, "s"), "-f", "/dev/null", ...words]).stdout.toString();
    atEnd(() => tmux("kill-server"));
    tmux("new-session", "-d", "-s", "w", "-x", "200", "-y", "50", "-c", repo, OVERSEER, "status", "--watch");
    const pid = Number(tmux("display-message", "-p", "-t", "w", "#{pane_pid}"));
    const quiet = await shareOf(pid, quick, async () => undefined);
    if (!tmux("capture-pane", "-p", "-t", "w").includes("1 fleet")) throw new Error("The live view is not open.");
    const log = openSignalLog(database);
    let round = 0;
    const busy = await shareOf(pid, quick, async () => {
      const number = numbers[round % agents] ?? 0;
      round += 1;
      const data = { text: `What agent ${number} says in round ${round}: ${"words ".repeat(20)}` };
      await log.record(number, `agent-${number}`, [
        { kind: "said", source: `s-${round}`, phase: "", at: Date.now(), data },
      ]);
      await Bun.sleep(EVERY_MS / agents);
    });
    log.close();
    return { value: busy, turns: 1, note: `${quiet.toFixed(2)} % while nothing happens; ${round} changes` };
  };
}

/** Percent of a core that a process takes meanwhile. */
async function shareOf(pid: number, quick: boolean, step: () => Promise<unknown>): Promise<number> {
  const [warmMs, ms] = quick ? [5_000, 10_000] : [10_000, 30_000];
  let [begun, before] = [performance.now(), 0];
  for (let isWarm = false; ; ) {
    await step();
    await Bun.sleep(1);
    const passed = performance.now() - begun;
    if (!isWarm && passed > warmMs) [isWarm, begun, before] = [true, performance.now(), cpuNs(pid)];
    else if (isWarm && passed > ms) return (cpuNs(pid) - before) / 1e4 / passed;
  }
}
