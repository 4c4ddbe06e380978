/**
 * Every reason for which something does not move, and where nothing stands still, what happens next and when. One pure
 * function over what is known of the fleet; `status`, `--watch`, `--json` and the morning's report all tell the same.
 */
import { isoTime } from "#domain/core/iso-time.ts";
import type { Action } from "#domain/model/action.ts";
import type { ChannelFact, Explained, FleetFacts, NextStep, Standstill, StandstillKind } from "./standstill.ts";
import { standstill } from "./standstill.ts";
import { explainConditions } from "./standstill-conditions.ts";
import { explainWork } from "./standstill-work.ts";

export function explainFleet(facts: FleetFacts): Explained {
  const whole = explainWhole(facts);
  const standstills = [
    ...whole,
    ...explainConditions(facts),
    ...facts.notStarted.map((one) => explainNotStarted(one, whole.length > 0)),
    ...explainWork(facts),
    ...facts.channels.map(explainChannel),
  ];
  return { standstills, next: whole.length > 0 ? null : tellNext(facts, standstills) };
}

/** What holds everything: whoever is at work finishes, and nothing follows. */
function explainWhole(facts: FleetFacts): Standstill[] {
  const { safeMode, frozen, configProblem, hold, off, daemon } = facts;
  const found: (Standstill | false)[] = [
    safeMode !== null &&
      standstill("safe-mode", {
        text: `SAFE MODE since ${safeMode.since}: ${safeMode.problem} Everything can be read; nothing is dispatched until a person says go (overseer thaw).`,
        command: "overseer thaw",
      }),
    frozen !== null &&
      standstill("frozen", {
        text: `FROZEN since ${isoTime(frozen.since)} by ${frozen.by}${frozen.reason ? `: ${frozen.reason}` : ""} (overseer thaw ends it)`,
        command: "overseer thaw",
        sinceAt: frozen.since,
      }),
    configProblem !== null &&
      standstill("configuration", { text: `The configuration cannot be used: ${configProblem}`, command: null }),
    hold !== null && standstill("settings", { text: `WAITING: ${hold.message} ${hold.hint}`, command: null }),
    off.includes("supervision") &&
      standstill("switched-off", {
        text: "The daemon runs without supervision: nothing is dispatched by itself (overseer down, then up)",
        command: "overseer up",
      }),
    off.includes("reconcile") &&
      standstill("switched-off", {
        text: "reconcile.enabled is false in .overseer/config.yaml: nothing is dispatched nor recovered",
        command: null,
      }),
    daemon.state !== "running" && !facts.isCopy && hasOpenWork(facts) && explainDaemon(daemon),
  ];
  return found.filter((one): one is Standstill => one !== false);
}

const DAEMON_TEXTS = {
  stopped: ["The daemon is not running; nothing moves by itself (overseer up)", "overseer up"],
  died: ["The daemon died; agents keep running, and nothing else moves (overseer up adopts them)", "overseer up"],
  "not-beating": ["The daemon does not beat: stopped, hung or starved (overseer down, then up)", "overseer down"],
  "not-ticking": ["The daemon does not tick; see its log (overseer down, then up)", "overseer down"],
} as const;

function explainDaemon({ state, sinceAt }: FleetFacts["daemon"]): Standstill | false {
  if (state === "running") return false;
  const [text, command] = DAEMON_TEXTS[state];
  return standstill("no-daemon", { text, command, sinceAt });
}

function hasOpenWork({ goals, agents }: FleetFacts): boolean {
  return agents.length > 0 || goals.some(({ status, nodes }) => status === "active" && nodes > 0);
}

/** While everything is held nothing is tried; the sentence above says what ends that. */
function explainNotStarted({ problem, nodes }: FleetFacts["notStarted"][number], isHeld: boolean): Standstill {
  const again = isHeld ? "" : ", tried again by itself";
  return standstill("not-started", {
    text: `NOT STARTED (${nodes.length}${again}): ${problem} (put it right and it starts; what is missing: overseer doctor)`,
    ...{ command: "overseer doctor", about: nodes },
    turn: "itself",
  });
}

function explainChannel({ channel, sinceAt, problem }: ChannelFact): Standstill {
  return standstill("channel", {
    ...{ text: `NOT TOLD: nothing gets through by ${channel} since ${isoTime(sinceAt)}: ${problem}`, sinceAt },
    command: "overseer notify test",
    about: [channel],
  });
}

/** What holds back work that is ready, so that its dispatch is not promised. */
const HOLDS_DISPATCH: ReadonlySet<StandstillKind> = new Set(["provider", "quota", "mass-death", "dispatch"]);

function tellNext(facts: FleetFacts, standstills: readonly Standstill[]): NextStep {
  const { goals, agents, actions, daemon, now } = facts;
  const active = goals.filter(({ status }) => status === "active");
  const [due] = actions.filter(({ status }) => status !== "taken").toSorted((a, b) => a.dueAt - b.dueAt);
  const working = agents.filter(({ seen }) => seen === "working" || seen === "starting" || seen === "preparing");
  const ready = active.reduce((sum, { queued }) => sum + queued, 0);
  const tick = daemon.nextTickAt === null ? null : Math.max(daemon.nextTickAt, now);
  if (due) {
    const place = due.workNodeId === null ? "" : ` for ${due.goalId}/${due.workNodeId}`;
    return {
      text: `${DOES[due.kind]}${place}`,
      nextAt: Math.max(due.dueAt, now),
    };
  }
  if (working.length > 0) {
    const names = working.slice(0, 3).map(({ agent, attempt }) => `${agent}#${attempt}`);
    const more = working.length > 3 ? ` and ${working.length - 3} more` : "";
    return { text: `${names.join(", ")}${more} at work; all are looked at again`, nextAt: tick };
  }
  const holding = standstills.filter(({ kind }) => HOLDS_DISPATCH.has(kind));
  if (ready > 0 && holding.length > 0) {
    const known = holding.flatMap(({ nextAt }) => (nextAt === null ? [] : [nextAt]));
    const soonest = known.length === 0 ? tick : Math.max(now, Math.min(...known));
    return { text: "it is looked at whether ready work can be dispatched", nextAt: soonest };
  }
  if (ready > 0) return { text: `${ready} ready ${ready === 1 ? "task is" : "tasks are"} dispatched`, nextAt: tick };
  if (agents.length > 0) return { text: "all agents are looked at again", nextAt: tick };
  if (active.length > 0 && daemon.state !== "running") return { text: "nothing by itself (overseer up)", nextAt: null };
  if (active.length > 0) return { text: "nothing by itself; what is open is looked at again", nextAt: tick };
  return { text: "nothing; no goal is open", nextAt: null };
}

/** What an action does, for whoever waits for it. */
const DOES: Readonly<Record<Action["kind"], string>> = {
  spawn: "an agent is started",
  restart: "its agent is started again",
  reassign: "a fresh agent is started",
  deliver: "a message is handed over",
  resend: "its instruction is given again",
  check: "the reported work is checked",
  land: "the checked work is landed",
  push: "the target is pushed",
  afterLand: "the command after landing is run",
  ask: "a person is asked",
  pause: "its agent is paused",
  resume: "its agent continues",
  stop: "its agent is stopped",
  notify: "whoever asked for it is told",
  clean: "what its agent left is tidied away",
};
