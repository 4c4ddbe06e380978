/**
 * One cycle of the watch over a real database, in CPU time: who lives is asked of the kernel, documents that changed are
 * read and parsed, everybody is judged, and what is another than before is written. Warm, as it runs in the daemon: a tenth
 * of the agents have done something since the last look. Cold, as after a start: everything is read for the first time.
 */
import { machineObserver } from "#engine/observe.ts";
import { Watch } from "#engine/watch.ts";
import { memoryStore } from "#store/memory.ts";
import { openForWriting, openHealthLog, openSignalLog, prepareStore } from "#store/open.ts";
import { systemClock } from "#sys/clock.ts";
import { systemProcesses } from "#sys/processes.ts";
import { addRunning } from "../support/attempts.ts";
import { worldOn } from "../support/world.ts";
import { cpuOfThis, type Measure, median, type Options, turnAbout } from "./row.ts";

interface Watching {
  /** These many of them do something. */
  act(count: number): Promise<void>;
  cycle(): Promise<number>;
  /** Nothing is remembered of the looks before. */
  forget(): void;
}

let databases = 0;

async function watching(agents: number, { scratch, atEnd }: Options): Promise<Watching> {
  databases += 1;
  const address = `${scratch}/watch-${databases}.db`;
  await prepareStore({ address, backupDir: `${address}.backups`, now: 0 });
  const store = await openForWriting({ address });
  const signals = openSignalLog(address);
  atEnd(() => store.close());
  atEnd(() => signals.close());
  const processes = systemProcesses();
  const made = memoryStore();
  const attempts = await addRunning(made, agents, processes.self());
  await store.append(await made.log({ after: 0, limit: Number.MAX_SAFE_INTEGER }));
  const world = { ...worldOn(store), clock: { ...worldOn(store).clock, ...systemClock() }, processes };
  const observer = machineObserver(world, { periodMs: null });
  const make = () => new Watch({ observer: async () => observer, openHealth: () => openHealthLog(address) });
  let watch = make();
  let acts = 0;
  const act = async (count: number) => {
    for (let step = 0; step < count; step += 1) {
      acts += 1;
      const index = (acts * 7) % agents;
      const at = world.clock.now();
      const call = { source: `s${acts}`, at };
      await signals.record(attempts[index] ?? 1, `agent-${index}`, [
        {
          ...call,
          kind: "tool.started",
          phase: "a",
          data: { tool: "Bash", does: "shell", argsHash: `${acts}` } as never,
        },
        {
          ...call,
          kind: "tool.ended",
          phase: "b",
          data: { ok: true, errorClass: null, ms: 5, does: "shell" } as never,
        },
      ]);
    }
  };
  await act(agents);
  const cycle = async () => {
    let judged = 0;
    const ms = await cpuOfThis(async () => {
      judged = (await watch.look(world)).agents;
    });
    if (judged !== agents) throw new Error(`${judged} of ${agents} agents were judged.`);
    return ms;
  };
  return {
    act,
    cycle,
    forget: () => {
      watch = make();
    },
  };
}

async function warm(agents: number, options: Options): Promise<() => Promise<number>> {
  const fleet = await watching(agents, options);
  await fleet.cycle();
  await fleet.cycle();
  return async () => {
    await fleet.act(Math.ceil(agents / 10));
    return fleet.cycle();
  };
}

export function cycleOver(agents: number): Measure {
  return async (options) => {
    const one = await warm(agents, options);
    const turns: number[] = [];
    const most = options.quick ? 5 : 15;
    while (turns.length < most && (turns.length === 0 || performance.now() < options.until)) turns.push(await one());
    const value = median(turns);
    return { value, turns: turns.length, note: `${((value / agents) * 1000).toFixed(1)} µs an agent` };
  };
}

export function coldOver(agents: number): Measure {
  return async (options) => {
    const fleet = await watching(agents, options);
    const turns: number[] = [];
    const most = options.quick ? 3 : 9;
    await fleet.cycle();
    while (turns.length < most && (turns.length === 0 || performance.now() < options.until)) {
      fleet.forget();
      turns.push(await fleet.cycle());
    }
    return { value: median(turns), turns: turns.length, note: "everything read for the first time" };
  };
}

/** Ten times as many agents, against ten times the price of a tenth of them. */
export const linear: Measure = async (options) => {
  const many = await warm(5_000, options);
  const few = await warm(500, options);
  return turnAbout({ turns: options.quick ? 5 : 15, until: options.until }, many, async () => 10 * (await few()));
};
