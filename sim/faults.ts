/**
 * What goes wrong, and when: a list drawn from the seed before anything runs, so that a failure can be made smaller by
 * leaving faults out. How each is brought about stands in run.ts (to the world) and here (to the calls of a port). To
 * add a fault: a kind here with its weight, and what it does in one of the two places.
 */
import { OverseerError } from "#errors.ts";
import type { Chance } from "#sys/chance.ts";
import { makeSeededChance } from "#sys/virtual-chance.ts";
import type { Strike, Striker } from "./machine.ts";

export const FAULT_KINDS = [
  "death",
  "lost-wake",
  "double-wake",
  "frozen-tick",
  "clock-jump",
  "clock-set",
  "suspend",
  "store-busy",
  "store-read-only",
  "spawn-fails",
  "worktree-fails",
  "disk-full",
  "tmux-gone",
  "check-flakes",
  "runner-dies",
  "all-runners-die",
  "late-report",
  "goal-paused",
  "goal-cancelled",
  "freeze",
  "settings-away",
  "provider-fails",
  "no-start",
  "disk-low",
  "worktree-breaks",
  "pulse-spoiled",
  "pool-empty",
  "pool-repeats",
  "pool-fails",
  "pool-death",
  "task-file-changed",
  "task-file-away",
  "auto-paused",
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  readonly kind: FaultKind;
  readonly step: number;
  /** Which call, agent or goal it hits, how many or how long; each kind reads it in its own way. */
  readonly number: number;
  readonly after: boolean;
}

const WEIGHTS: Readonly<Record<FaultKind, number>> = {
  death: 30,
  "lost-wake": 5,
  "double-wake": 6,
  "frozen-tick": 3,
  "clock-jump": 4,
  "clock-set": 4,
  suspend: 3,
  "store-busy": 8,
  "store-read-only": 4,
  "spawn-fails": 6,
  "worktree-fails": 6,
  "disk-full": 4,
  "tmux-gone": 3,
  "check-flakes": 6,
  "runner-dies": 8,
  "all-runners-die": 3,
  "late-report": 6,
  "goal-paused": 4,
  "goal-cancelled": 1,
  freeze: 2,
  "settings-away": 2,
  "provider-fails": 3,
  // Drawn apart, by drawNoStarts: the other courses stay as they are.
  "no-start": 0,
  // So by drawLowDisks.
  "disk-low": 0,
  // As well, by drawBroken.
  "worktree-breaks": 0,
  // And by drawSpoiled, where the watch runs.
  "pulse-spoiled": 0,
  // Drawn apart, by drawPoolFaults, where auto mode runs.
  "pool-empty": 0,
  "pool-repeats": 0,
  "pool-fails": 0,
  "pool-death": 0,
  "task-file-changed": 0,
  "task-file-away": 0,
  "auto-paused": 0,
};

/** About one fault in three steps. */
const OFTEN = 0.33;

export function drawFaults(seed: number, steps: number): Fault[] {
  const chance = makeSeededChance(seed ^ 0x5eed);
  const faults: Fault[] = [];
  for (let step = 1; step < steps; step += 1) {
    if (chance.next() >= OFTEN) continue;
    faults.push({
      kind: drawKind(chance),
      step,
      number: Math.floor(chance.next() * 1_000),
      after: chance.next() < 0.5,
    });
  }
  return faults;
}

/** Once or twice in a course, from a row of its own. */
export function drawNoStarts(seed: number, steps: number): Fault[] {
  const chance = makeSeededChance(seed ^ 0x57a7);
  const draw = (below: number) => Math.floor(chance.next() * below);
  return Array.from({ length: 1 + draw(2) }, () => ({
    ...{ kind: "no-start", step: 1 + draw(steps - 1), number: draw(1_000), after: chance.next() < 0.5 },
  }));
}

/** The same for a disk that has less free than must stay so. */
export function drawLowDisks(seed: number, steps: number): Fault[] {
  const chance = makeSeededChance(seed ^ 0xd15c);
  const draw = (below: number) => Math.floor(chance.next() * below);
  return Array.from({ length: 1 + draw(3) }, () => ({
    ...{ kind: "disk-low", step: 1 + draw(steps - 1), number: draw(1_000), after: false },
  }));
}

/** A few in a course, from a row of its own: git's files of somebody's worktree are spoiled. */
export function drawBroken(seed: number, steps: number): Fault[] {
  const chance = makeSeededChance(seed ^ 0xb207);
  const draw = (below: number) => Math.floor(chance.next() * below);
  return Array.from({ length: 1 + draw(4) }, () => ({
    ...{ kind: "worktree-breaks", step: 1 + draw(steps - 1), number: draw(1_000), after: false },
  }));
}

/** The same for somebody's pulse at which judging throws for a while. */
export function drawSpoiled(seed: number, steps: number): Fault[] {
  const chance = makeSeededChance(seed ^ 0x9015e);
  const draw = (below: number) => Math.floor(chance.next() * below);
  return Array.from({ length: 2 + draw(3) }, () => ({
    ...{ kind: "pulse-spoiled", step: 1 + draw(steps - 1), number: draw(1_000), after: false },
  }));
}

const POOL_FAULTS = [
  "pool-empty",
  "pool-repeats",
  "pool-repeats",
  "pool-fails",
  "pool-death",
  "pool-death",
  "task-file-changed",
  "task-file-away",
  "auto-paused",
] as const satisfies readonly FaultKind[];

/** Of the pool and of whoever steers it: about one in ten steps, from a row of its own. */
export function drawPoolFaults(seed: number, steps: number): Fault[] {
  const chance = makeSeededChance(seed ^ 0x9001);
  const faults: Fault[] = [];
  for (let step = 1; step < steps; step += 1) {
    if (chance.next() >= 0.1) continue;
    const kind = POOL_FAULTS[Math.floor(chance.next() * POOL_FAULTS.length)] ?? "pool-empty";
    faults.push({ kind, step, number: Math.floor(chance.next() * 1_000), after: chance.next() < 0.5 });
  }
  return faults;
}

/** What is in the way of every start, whoever's task it is: the CLI says so when it is asked, or no terminal opens. */
export interface NoStart {
  readonly at: "runtime" | "terminal";
  readonly reason: string;
  readonly untilStep: number;
}

export function noStartOf({ number, after, step }: Fault): NoStart {
  const untilStep = step + 5 + (number % 56);
  return after
    ? { at: "terminal", reason: "tmux has no server here.", untilStep }
    : { at: "runtime", reason: "The CLI is not logged in.", untilStep };
}

export function failTerminal({ reason }: NoStart): Strike {
  return failing("TMUX_FAILED", reason);
}

function drawKind(chance: Chance): FaultKind {
  let left = chance.next() * Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0);
  for (const kind of FAULT_KINDS) {
    left -= WEIGHTS[kind];
    if (left < 0) return kind;
  }
  return "death";
}

/** What the faults of one step do to the calls that Overseer makes in it. */
export function strikerOf(faults: readonly Fault[], note: (what: string) => void): Striker {
  const death = faults.find(({ kind }) => kind === "death");
  const has = (kind: FaultKind) => faults.some((fault) => fault.kind === kind);
  // Many steps make only a few calls: half of the deaths come early.
  const deathAt = death === undefined ? -1 : death.number % 2 === 0 ? death.number % 17 : death.number % 400;
  let busy = faults.find(({ kind }) => kind === "store-busy")?.number ?? 0;
  busy = busy === 0 ? 0 : 1 + (busy % 4);
  const [readOnly, noSpawn, noWorktree, full] = [
    has("store-read-only"),
    has("spawn-fails"),
    has("worktree-fails"),
    has("disk-full"),
  ];
  // So many calls after the pool was asked: what it has said is on its way into the log then.
  const poolDeath = faults.find(({ kind }) => kind === "pool-death");
  let sinceAsked = -1;
  let before = "";
  let calls = -1;
  return (call): Strike | undefined => {
    calls += 1;
    if (poolDeath) {
      // Whoever asks it makes a place for the answer first.
      const isAsked = call === "exec.run" && before === "files.makeDir";
      sinceAsked = isAsked ? 0 : sinceAsked < 0 ? -1 : sinceAsked + 1;
      before = call;
      if (sinceAsked === poolDeath.number % 24) {
        note(`dies ${poolDeath.after ? "after" : "before"} ${call}`);
        return { kind: "die", when: poolDeath.after ? "after" : "before" };
      }
    }
    if (calls === deathAt) {
      note(`dies ${death?.after ? "after" : "before"} call ${calls}, ${call}`);
      return { kind: "die", when: death?.after ? "after" : "before" };
    }
    if (call === "store.commit" && readOnly) return failing("STORE_READ_ONLY", "The store is read-only.");
    if (call === "store.commit" && busy > 0) {
      busy -= 1;
      return failing("STORE_BUSY", "The store is busy.");
    }
    if (call === "terminal.open" && noSpawn) return failing("SPAWN_FAILED", "No process could be started.");
    if (call === "git.attempt" && noWorktree) return failing("GIT_FAILED", "Git fails.");
    if (full && (call === "files.write" || call === "files.append" || call === "files.makeDir")) {
      return { kind: "fail", error: Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" }) };
    }
    return undefined;
  };
}

function failing(code: string, message: string): Strike {
  return { kind: "fail", error: new OverseerError("environment", code, message, "It is simulated.") };
}
