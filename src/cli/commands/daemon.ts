/** `overseer up`, `down`, `freeze`, `thaw` and `tick`: the daemon, started, stopped, held and asked. */

import type { Call, Command, Option } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { breakSentences, moment, plural } from "#cli/text.ts";
import { noticesOf } from "#config/load.ts";
import { parseDuration } from "#config/units.ts";
import { readAuto } from "#control/auto.ts";
import * as daemon from "#control/daemon.ts";
import { freeze, thaw } from "#control/freeze.ts";
import { readHold } from "#control/halted.ts";
import { launchGuard } from "#control/launch-guard.ts";
import {
  presentDown,
  presentFrozen,
  presentGuarded,
  presentPlain,
  presentStarted,
  presentThawed,
} from "#control/present.ts";
import { readUnchecked } from "#control/unchecked.ts";
import { runtimeFindings } from "#control/upkeep/doctor-machine.ts";
import type { World } from "#control/world.ts";
import type { AutoFlags, WatchingOnly } from "#domain/health/daemon-life.ts";
import { reconciler } from "#engine/lanes.ts";
import { tickNow } from "#engine/tick-now.ts";
import { OverseerError } from "#errors.ts";

const REASON: Option = { name: "reason", value: "text", summary: "The reason; kept in the log." };

export const upCommand: Command<Parts> = {
  name: "up",
  summary: "Start the daemon: goals move forward by themselves.",
  details:
    "Returns once the daemon is registered and answers. Running agents are adopted as they are. A second daemon is refused.",
  options: [
    { name: "foreground", summary: "Run in this terminal until interrupted, for service managers and debugging." },
    {
      name: "auto",
      summary: "Take tasks from a pool, have workers do them, land what passes by itself, one commit each.",
    },
    { name: "task-pool-command", value: "command", summary: "With --auto: shell command that prints the next task." },
    { name: "task-directory", value: "dir", summary: "With --auto: directory whose text files are tasks." },
    { name: "concurrency", value: "number", summary: "With --auto: how many workers there are (auto-1, auto-2 …)." },
    { name: "post-accept-command", value: "command", summary: "With --auto: shell command run after each landing." },
    { name: "tasks", value: "number", summary: "With --auto: take so many tasks, then end." },
    { name: "budget", value: "dollars", summary: "With --auto: take no more tasks once so much was spent, then end." },
    { name: "no-supervision", summary: "Serve and record only: nothing is dispatched, watched or recovered." },
    {
      name: "no-dispatch",
      summary: "Watch only, as 'overseer watch': nobody is started, nothing is checked or landed.",
    },
    { name: "every", value: "time", summary: "With --no-dispatch: look at agents this often (default watch.every)." },
    { name: "guarded", summary: "Start a guard too, which keeps the daemon alive; one that runs already is watched." },
  ],
  examples: [
    { line: "overseer up", why: "then run overseer status" },
    { line: "overseer up --guarded", why: "for days: a second process keeps it alive" },
    { line: "overseer up --auto --task-pool-command ./next-task --concurrency 4", why: "for as long as there is work" },
  ],
  async run(call, parts) {
    const [supervision, auto] = [!call.has("no-supervision"), call.has("auto")];
    const flags = readAutoFlags(call);
    refuseDispatching(call);
    const fit = (text: string) => breakSentences(call.out, text).join("\n");
    for (const notice of await noticesOf(await parts.loadConfig())) call.out.remark(fit(notice));
    const world = await parts.world();
    const watching = call.has("no-dispatch") ? await readWatching(world, call.text("every")) : undefined;
    const unchecked = supervision && !watching ? await readUnchecked(world, auto) : null;
    if (call.has("foreground")) {
      refuseBoth(call);
      if (unchecked !== null) call.out.remark(fit(unchecked));
      return parts.runDaemon({ supervision, auto, flags, ...(watching ? { watching } : {}) });
    }
    if (call.has("guarded")) return upGuarded(call, parts, unchecked);
    const { daemonCommand: command, version } = parts;
    // Asked beside the start: a CLI that does not answer must not keep the daemon from coming up.
    const [started, clis] = await Promise.all([
      daemon.launchDaemon(world, { command, version, supervision, auto, flags, ...(watching ? { watching } : {}) }),
      supervision && !watching ? runtimeFindings(world) : [],
    ]);
    const unfit = clis.filter(({ ok }) => !ok);
    if (call.json) return call.out.json(presentStarted(started, unfit, unchecked));
    call.out.line(fit(`The daemon is up: pid ${started.pid}, version ${started.version}. Its log: ${started.log}`));
    if (!auto && (await readAuto(world)) !== null) {
      call.out.remark(
        fit(
          "Auto mode is off in this run: no task is taken from the pool. 'overseer down', then 'overseer up --auto' begins it.",
        ),
      );
    }
    if (watching) call.out.remark(WATCHES_ONLY);
    if (!supervision) call.out.remark("Without supervision: nothing is dispatched, watched or recovered.");
    for (const { check, detail, next } of unfit) {
      call.out.remark(fit(`No agent can be started on the ${check} now: ${detail} ${next ?? ""}`.trim()));
    }
    if (unchecked !== null) call.out.remark(fit(unchecked));
    const hold = await readHold(world);
    if (hold) call.out.remark(fit(`${hold.message} ${hold.hint}`));
  },
};

export const WATCHES_ONLY =
  "It only watches: agents that live are looked after, nothing is dispatched, checked or landed.";

/** How often it looks: as said, else as configured. */
export async function readWatching(world: World, said: string | undefined, flag = "every"): Promise<WatchingOnly> {
  if (said === undefined) return { everyMs: (await world.config()).watch.every };
  const everyMs = parseDuration(said);
  if (everyMs !== undefined && everyMs > 0) return { everyMs };
  throw new OverseerError("usage", "TIME_INVALID", `--${flag} ${said} is no span of time.`, 'Write "2s" or "5m".');
}

function refuseDispatching(call: Call): void {
  const other = call.has("auto") ? "auto" : call.has("no-supervision") ? "no-supervision" : undefined;
  if (call.has("no-dispatch") && other !== undefined) {
    throw new OverseerError(
      ...(["usage", "TWO_WISHES", `--no-dispatch and --${other} exclude each other.`] as const),
      "'overseer watch' looks after agents and starts none.",
    );
  }
  if (call.text("every") === undefined || call.has("no-dispatch")) return;
  throw new OverseerError(
    ...(["usage", "NEEDS_NO_DISPATCH", "--every only works with --no-dispatch."] as const),
    "How often the daemon ticks is reconcile.tickEvery in .overseer/config.yaml.",
  );
}

function refuseBoth(call: Call): void {
  if (!call.has("guarded")) return;
  throw new OverseerError(
    ...(["usage", "TWO_WISHES", "--foreground and --guarded exclude each other."] as const),
    "'overseer guard' watches in this terminal; 'overseer service install' has a service manager run it.",
  );
}

/** The guard starts the daemon, and stays. */
async function upGuarded(call: Call, parts: Parts, unchecked: string | null): Promise<void> {
  const world = await parts.world();
  const { guardCommand: command, version } = parts;
  const words = readUpWords(call);
  const [guarded, clis] = await Promise.all([
    launchGuard(world, { command, version, words, cwd: process.cwd() }),
    call.has("no-supervision") ? [] : runtimeFindings(world),
  ]);
  const unfit = clis.filter(({ ok }) => !ok);
  const { guard, adopted } = guarded;
  if (call.json) {
    return call.out.json(presentGuarded(guarded, daemon.livingDaemon(world) ?? null, unfit, unchecked));
  }
  const fit = (text: string) => breakSentences(call.out, text).join("\n");
  call.out.line(
    fit(`The guard watches: pid ${guard.pid}, version ${guard.version}. 'overseer guard status' shows it.`),
  );
  call.out.line(
    adopted
      ? fit(`The daemon was up already (pid ${guard.daemon?.pid}) and is watched as it is.`)
      : `The daemon is up: pid ${guard.daemon?.pid}.`,
  );
  if (adopted && words.length > 0) {
    call.out.remark("What you have said of it is for its next start: 'overseer down', then 'overseer up' with it.");
  }
  for (const { check, detail, next } of unfit) {
    call.out.remark(fit(`No agent can be started on the ${check} now: ${detail} ${next ?? ""}`.trim()));
  }
  if (unchecked !== null) call.out.remark(fit(unchecked));
  const hold = await readHold(world);
  if (hold) call.out.remark(fit(`${hold.message} ${hold.hint}`));
}

/** What of `up` a guard passes on: not what is about the terminal it is typed in. */
export function listPassedOptions(): Option[] {
  return (upCommand.options ?? []).filter(({ name }) => name !== "foreground" && name !== "guarded");
}

/** What of a call is said to the daemon, as words that mean the same again. */
export function readUpWords(call: Call): string[] {
  readAutoFlags(call); // refuses what `up` would refuse
  refuseDispatching(call);
  const switches = ["auto", "no-supervision", "no-dispatch"]
    .filter((name) => call.has(name))
    .map((name) => `--${name}`);
  const values = [...AUTO_OPTIONS, "every"].flatMap((name) => {
    const value = call.text(name);
    return value === undefined ? [] : [`--${name}=${value}`];
  });
  return [...switches, ...values];
}

const AUTO_OPTIONS = [
  "task-pool-command",
  "task-directory",
  "concurrency",
  "post-accept-command",
  "tasks",
  "budget",
] as const;

/** What is said with --auto beside the configuration. */
function readAutoFlags(call: Call): AutoFlags {
  const alone = AUTO_OPTIONS.find((name) => call.text(name) !== undefined);
  if (alone !== undefined && !call.has("auto")) {
    throw new OverseerError(
      "usage",
      "NEEDS_AUTO",
      `--${alone} only works with --auto.`,
      `Say 'overseer up --auto --${alone} …'.`,
    );
  }
  const texts = {
    taskPoolCommand: call.text("task-pool-command"),
    taskDirectory: call.text("task-directory"),
    postAcceptCommand: call.text("post-accept-command"),
  };
  const empty = Object.entries(texts).find(([, text]) => text?.trim() === "");
  if (empty) {
    throw new OverseerError(
      "usage",
      "EMPTY_FLAG",
      "A command or directory of auto mode is empty.",
      "Name one, or leave the option out.",
    );
  }
  const said = Object.entries({
    ...texts,
    concurrency: readCount(call, "concurrency", 1000),
    tasks: readCount(call, "tasks", 1_000_000),
    budgetUsd: readDollars(call.text("budget")),
    ...(texts.taskPoolCommand === undefined && texts.taskDirectory === undefined ? {} : { cwd: process.cwd() }),
  });
  return Object.fromEntries(said.filter(([, value]) => value !== undefined));
}

function readCount(call: Call, name: string, most: number): number | undefined {
  const number = call.number(name);
  if (number === undefined || (number >= 1 && number <= most)) return number;
  throw new OverseerError("usage", "NOT_A_COUNT", `--${name} is ${number}.`, `Give a whole number from 1 to ${most}.`);
}

function readDollars(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const dollars = /^\$?\d{1,7}(\.\d{1,4})?$/.test(text.trim()) ? Number(text.trim().replace("$", "")) : 0;
  if (dollars > 0) return dollars;
  throw new OverseerError(
    "usage",
    "NOT_MONEY",
    `"${text.slice(0, 40)}" is no sum of money.`,
    "For example: --budget 5",
  );
}

export const downCommand: Command<Parts> = {
  name: "down",
  summary: "Stop the daemon; agents keep running unless told otherwise.",
  options: [{ name: "agents", summary: "Stop all agents too; uncommitted work is kept." }, REASON],
  async run(call, parts) {
    const world = await parts.world();
    const reason = call.text("reason") ?? null;
    const down = await daemon.stopDaemon(world, reason);
    const { was, killed } = down;
    const stopped = call.has("agents") ? await daemon.stopAgents(world, reason) : [];
    const failed = stopped.filter(({ problem }) => problem !== null);
    if (call.json) call.out.json(presentDown(down, stopped));
    else {
      call.out.line(
        was
          ? `The daemon (pid ${was.pid}) ${killed ? "did not answer and was ended" : "has stopped"}.`
          : "No daemon was running.",
      );
      for (const { agent, attempt, wip, problem } of stopped) {
        const kept = wip ? `; uncommitted work is kept in ${wip}` : "";
        call.out.line(problem ? `${agent}: ${problem}` : `Stopped ${agent}#${attempt}${kept}.`);
      }
    }
    if (failed.length > 0) {
      throw new OverseerError(
        "environment",
        "AGENTS_LEFT",
        `${plural(failed.length, "agent")} could not be stopped.`,
        "Run 'overseer agents' and 'overseer stop <agent>'.",
      );
    }
  },
};

export const freezeCommand: Command<Parts> = {
  name: "freeze",
  summary: "Stop dispatching, delivering and recovering until thaw.",
  details:
    "Agents finish their current turn. The fleet stays frozen until 'overseer thaw', even if the daemon restarts.",
  options: [REASON],
  async run(call, parts) {
    const change = await freeze(await parts.world(), call.text("reason") ?? null);
    if (call.json) return call.out.json(presentFrozen(change));
    const { changed, fleet } = change;
    call.out.line(
      changed
        ? "The fleet is frozen; 'overseer thaw' ends it."
        : `The fleet was already frozen, since ${moment(fleet.since)} UTC.`,
    );
  },
};

export const thawCommand: Command<Parts> = {
  name: "thaw",
  summary: "Thaw a frozen fleet; also ends safe mode.",
  options: [REASON],
  async run(call, parts) {
    const { changed, safeMode } = await thaw(await parts.world(), call.text("reason") ?? null);
    if (call.json) return call.out.json(presentThawed({ changed, safeMode }));
    if (changed || !safeMode) call.out.line(changed ? "The fleet runs again." : "The fleet was not frozen.");
    if (safeMode) call.out.line("Safe mode is off; work may be dispatched again.");
  },
};

export const tickCommand: Command<Parts> = {
  name: "tick",
  summary: "Run a tick now instead of waiting for the next one.",
  options: [{ name: "now", summary: "Do it now; without a daemon this command runs the tick itself." }],
  async run(call, parts) {
    if (!call.has("now")) {
      throw new OverseerError("usage", "SAY_NOW", "Ticks run by themselves.", "'overseer tick --now' runs one now.");
    }
    const outcome = await tickNow(await parts.world(), parts.version, reconciler({ periodMs: null }).tick);
    if (call.json) return call.out.json(presentPlain(outcome));
    if (outcome.halted.length > 0) return call.out.line(`Nothing was done: ${outcome.halted.join(", ")}.`);
    call.out.line(outcome.didWork ? "Done; 'overseer events' says what." : "There was nothing to do.");
    const hold = await readHold(await parts.world());
    if (hold) call.out.remark(`${hold.message} ${hold.hint}`);
    if (!outcome.ok) call.out.remark("An action failed; it will be retried.");
  },
};
