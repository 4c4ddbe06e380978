/**
 * The places of auto mode: `auto-1` … `auto-N`, made when they are wanted, and standing workers that people have set up by
 * name. Auto mode's own take the defaults of the configuration and nothing else (AUTO-10); manual work never gets one of
 * their names (AUTO-3). A worker that goes without a word in the log is a sign that the state was replaced under the
 * daemon (AUTO-8). Pure.
 */
import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import { AGENT_NAME, type Attempt } from "#domain/model/attempt.ts";
import { autoNames, type HardFailure, isAutoName, type Worker } from "#domain/model/auto.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";

export interface WorkerWish {
  readonly name: string;
  readonly excluded: boolean;
  readonly capability: string | null;
  readonly runtime: string | null;
  readonly model: string | null;
}

export function addWorker(known: readonly Worker[], wish: WorkerWish, moment: Moment): Decision<string> {
  const { name } = wish;
  if (!AGENT_NAME.test(name)) {
    return refuse(
      ...(["usage", "NAME_INVALID", `"${name.slice(0, 40)}" is not a valid name for a worker.`] as const),
      "Use lowercase letters, digits and dashes, starting with a letter, at most 31 characters.",
    );
  }
  if (isAutoName(name)) {
    return refuse(
      ...([
        "conflict",
        "AUTO_WORKER",
        `${name} is a worker of auto mode: it is made on demand and takes the defaults.`,
      ] as const),
      "Set auto.concurrency and defaults.* in .overseer/config.yaml, or choose another name.",
    );
  }
  if (known.some((one) => one.name === name)) {
    return refuse(
      ...(["conflict", "WORKER_EXISTS", `There is a worker ${name} already.`] as const),
      `'overseer worker list' shows it; 'overseer worker remove ${name}' takes it away.`,
    );
  }
  const data = { ...wish, made: false };
  return accept([{ type: "worker.added", actor: moment.actor, because: "asked-for", data }], name);
}

export function removeWorker(known: readonly Worker[], name: string, moment: Moment): Decision<string> {
  const worker = known.find((one) => one.name === name);
  if (!worker) {
    return refuse(
      "not-found",
      "WORKER_UNKNOWN",
      `There is no worker ${name}.`,
      "'overseer worker list' shows them all.",
    );
  }
  if (worker.made) {
    return refuse(
      ...([
        "conflict",
        "AUTO_WORKER",
        `${name} is a worker of auto mode, which makes as many as auto.concurrency says.`,
      ] as const),
      "Lower auto.concurrency in .overseer/config.yaml, or 'overseer auto pause'.",
    );
  }
  return accept([{ type: "worker.removed", actor: moment.actor, because: "asked-for", data: { name } }], name);
}

/** Auto mode's own workers as many as are wanted; one that is too many goes once nobody works under its name. */
export function matchWorkers(
  known: readonly Worker[],
  concurrency: number,
  living: readonly Pick<Attempt, "agent">[],
  moment: Moment,
): NewEvent[] {
  const wanted = new Set(autoNames(concurrency));
  const made = known.filter((one) => one.made);
  const added = [...wanted].filter((name) => !made.some((one) => one.name === name));
  const isIdle = (name: string) => !living.some(({ agent }) => agent === name);
  const gone = made.filter(({ name }) => !wanted.has(name) && isIdle(name));
  return [
    ...added.map((name): NewEvent => {
      const data = { name, made: true, excluded: false, capability: null, runtime: null, model: null };
      return { type: "worker.added", actor: moment.actor, because: "wanted", data };
    }),
    ...gone.map(({ name }): NewEvent => {
      return { type: "worker.removed", actor: moment.actor, because: "not-wanted", data: { name } };
    }),
  ];
}

/** Names that auto mode may put somebody to work under, its own first. */
export function listPlaces(concurrency: number, known: readonly Worker[]): string[] {
  const standing = known.filter(({ made, excluded }) => !made && !excluded).map(({ name }) => name);
  return [...autoNames(concurrency), ...standing];
}

/**
 * Under which name somebody gets a place: the one that was meant for them, else one that nobody is to continue under, else
 * any that is free. Undefined where all have a task.
 */
export function pickPlace(
  wanted: string,
  places: readonly string[],
  names: { readonly living: ReadonlySet<string>; readonly promised: ReadonlySet<string> },
): string | undefined {
  const free = [...new Set([wanted, ...places])].filter((name) => !names.living.has(name));
  return free.find((name) => !names.promised.has(name)) ?? free[0];
}

export type Vanished =
  | { readonly kind: "none" }
  /** Some are missing: said, and they are made again. */
  | { readonly kind: "some"; readonly names: readonly string[] }
  /** All are: the state is not the one that was left. */
  | { readonly kind: "all"; readonly failure: HardFailure };

/** What became of the workers that were there at the last look, where nobody has taken them away. */
export function judgeVanished(expected: readonly string[], known: readonly Worker[]): Vanished {
  const names = expected.filter((name) => !known.some((one) => one.name === name));
  if (names.length === 0) return { kind: "none" };
  if (names.length < expected.length) return { kind: "some", names };
  const problem = `All ${expected.length} workers (${names.join(", ")}) are gone from the state, and nothing in the log says so: the database was changed or replaced from outside.`;
  const hint =
    "Agents keep running. 'overseer doctor' looks at the database, 'overseer doctor --rebuild' makes its tables anew from the log; then 'overseer up --auto'.";
  return { kind: "all", failure: { code: "WORKERS_VANISHED", problem, hint } };
}
