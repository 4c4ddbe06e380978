/**
 * Every reason for which something does not move, and where nothing stands still, what happens next and when. One pure
 * function over what is known of the fleet; `status`, `--watch`, `--json` and the morning's report all tell the same.
 */
import { type Actor, nameOfActor } from "#domain/core/actor.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import { type Action, HELD_BACK } from "#domain/model/action.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { ChannelFact, Explained, FleetFacts, NextStep, Standstill, StandstillKind } from "./standstill.ts";
import { findCommand, standstill } from "./standstill.ts";
import { explainActions } from "./standstill-actions.ts";
import { explainConditions } from "./standstill-conditions.ts";
import { explainPlannings } from "./standstill-planning.ts";
import { explainWork } from "./standstill-work.ts";

export function explainFleet(facts: FleetFacts): Explained {
  const whole = explainWhole(facts);
  const isHeld = whole.length > 0 || (facts.configProblem !== null && facts.daemon.state !== "running");
  const standstills = [
    ...whole,
    ...explainBrokenConfig(facts),
    ...explainConditions(facts),
    ...facts.notStarted.map((one) => explainNotStarted(one, isHeld)),
    ...explainActions(facts, isHeld),
    ...explainWork(facts),
    ...explainPlannings(facts),
    ...facts.channels.map(explainChannel),
  ];
  // Whoever waits at a terminal for a plan has it asked for without a daemon.
  const isAlone = facts.configProblem === null && whole.every(({ kind }) => kind === "no-daemon");
  if (isHeld) return { standstills, next: isAlone ? tellPlanning(facts) : null };
  return { standstills, next: tellNext(facts, standstills) };
}

/** What holds everything: whoever is at work finishes, and nothing follows. */
function explainWhole(facts: FleetFacts): Standstill[] {
  const { safeMode, frozen, hold, off, daemon } = facts;
  const found: (Standstill | false)[] = [
    safeMode !== null &&
      standstill("safe-mode", {
        text: `SAFE MODE since ${safeMode.since}: ${safeMode.problem} Everything can be read; nothing is dispatched until a person says go (overseer thaw).`,
        command: "overseer thaw",
      }),
    frozen !== null &&
      standstill("frozen", {
        text: `FROZEN since ${isoTime(frozen.since)} by ${nameOfActor(frozen.by as Actor)}${frozen.reason ? `: ${frozen.reason}` : ""} (overseer thaw ends it)`,
        command: "overseer thaw",
        sinceAt: frozen.since,
      }),
    facts.isDiskFull && explainFullDisk(daemon),
    hold !== null &&
      standstill("settings", {
        text: `WAITING: ${hold.message} ${hold.hint}`,
        command: findCommand(hold.hint) ?? "overseer config show",
      }),
    off.includes("supervision") &&
      standstill("switched-off", {
        text: "The daemon runs without supervision: nothing is dispatched, watched or recovered (overseer down, then up)",
        command: "overseer down",
      }),
    off.includes("dispatch") &&
      standstill("switched-off", {
        text: "WATCHING ONLY: agents that live are looked after, and nothing is dispatched, checked or landed (overseer down, then up)",
        command: "overseer down",
      }),
    off.includes("reconcile") &&
      standstill("switched-off", {
        text: "reconcile.enabled is false in .overseer/config.yaml: nothing is dispatched nor recovered (overseer config show)",
        command: "overseer config show",
      }),
    daemon.state !== "running" &&
      !facts.isCopy &&
      hasOpenWork(facts) &&
      !isSilencedByDisk(facts) &&
      explainDaemon(daemon),
  ];
  return found.filter((one): one is Standstill => one !== false);
}

/** A daemon that runs continues under what it had; whoever starts anew finds nothing to stand on. */
function explainBrokenConfig({ configProblem, daemon }: FleetFacts): Standstill[] {
  if (configProblem === null) return [];
  const problem = configProblem.trim().replace(/([^.!?])$/, "$1.");
  return [
    standstill("configuration", {
      text: `The configuration cannot be used: ${problem} ${tellWithoutConfig(daemon.state === "running")} (overseer config show reads it again)`,
      command: "overseer config show",
    }),
  ];
}

/** What holds while the file cannot be used, and what ends it. */
export function tellWithoutConfig(isDaemonRunning: boolean): string {
  return isDaemonRunning
    ? "The daemon stays under the last good settings; correct the file and it takes effect by itself"
    : "Nothing is started until the file is corrected";
}

function explainFullDisk({ state }: FleetFacts["daemon"]): Standstill {
  const isUp = state !== "stopped" && state !== "died";
  const who = isUp ? "the daemon lives and can write nothing" : "nothing can be written";
  const then = isUp ? "free some, and it goes on by itself within seconds" : "free some, then overseer up";
  return standstill("disk-full", {
    text: `DISK FULL: there is no room left where the repository lies, and ${who} (${then}; overseer doctor tells how much)`,
    command: "overseer doctor",
  });
}

/** Its heartbeat and its ticks need room too: that they stand still says nothing more. */
function isSilencedByDisk({ isDiskFull, daemon }: FleetFacts): boolean {
  return isDiskFull && (daemon.state === "not-beating" || daemon.state === "not-ticking");
}

const DAEMON_TEXTS = {
  stopped: ["The daemon is not running; nothing moves by itself (overseer up)", "overseer up"],
  died: ["The daemon died; agents keep running, and nothing else moves (overseer up adopts them)", "overseer up"],
  "not-beating": ["The daemon does not beat: stopped, hung or starved (overseer down, then up)", "overseer down"],
  "not-ticking": ["The daemon does not tick; see its log (overseer down, then up)", "overseer down"],
} as const;

function explainDaemon({ state, sinceAt, wasAuto }: FleetFacts["daemon"]): Standstill | false {
  if (state === "running") return false;
  const [text, command] = DAEMON_TEXTS[state];
  // Plain `up` would take no more tasks, and nobody would notice before Monday.
  const said = wasAuto
    ? text.replaceAll("overseer up", "overseer up --auto").replace("then up", "then up --auto")
    : text;
  return standstill("no-daemon", {
    text: said,
    command: wasAuto ? command.replace(/ up$/, " up --auto") : command,
    sinceAt,
  });
}

function hasOpenWork({ goals, agents, plannings }: FleetFacts): boolean {
  return (
    plannings.some(({ status }) => status === "wanted" || status === "waits") ||
    agents.length > 0 ||
    goals.some(({ status, nodes }) => status === "active" && nodes > 0)
  );
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
  const command = `overseer notify test ${channel}`;
  return standstill("channel", {
    text: `NOT TOLD: nothing gets through by ${channel} since ${isoTime(sinceAt)}: ${problem} (try it: ${command})`,
    ...{ command, sinceAt },
    about: [channel],
  });
}

/** What holds back work that is ready, so that its dispatch is not promised. */
const HOLDS_DISPATCH: ReadonlySet<StandstillKind> = new Set(["provider", "quota", "mass-death", "dispatch"]);

/** A plan that is being asked for comes when the model answers, and nobody knows when. */
function tellPlanning({ plannings, daemon }: FleetFacts): NextStep | null {
  const [first, ...more] = plannings.filter(({ status }) => status === "wanted");
  if (first === undefined) return null;
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  const by = daemon.state === "running" ? "" : " while somebody waits for it, else by the daemon (overseer up)";
  return { text: `a model is asked for the plan of ${first.goalId}${others}${by}`, nextAt: null };
}

/** Such a plan is told beside what has a time. */
function tellNext(facts: FleetFacts, standstills: readonly Standstill[]): NextStep {
  const asked = tellPlanning(facts);
  if (asked === null) return tellNextStep(facts, standstills);
  const step = tellNextStep({ ...facts, actions: facts.actions.filter(({ kind }) => kind !== "plan") }, standstills);
  const isYours = standstills.some(({ turn }) => turn === "person");
  if (step.text.startsWith("nothing") && !isYours) return asked;
  return { ...step, text: `${asked.text}; ${step.text.replace(/^nothing by itself/, "nothing else by itself")}` };
}

/** The earliest thing that will really happen; where there is none, for whom it waits. */
function tellNextStep(facts: FleetFacts, standstills: readonly Standstill[]): NextStep {
  const { goals, agents, daemon, now } = facts;
  const tick = daemon.nextTickAt === null ? null : Math.max(daemon.nextTickAt, now);
  const working = agents.filter(({ seen }) => seen === "working" || seen === "starting" || seen === "preparing");
  const coming = listComing(facts, standstills);
  if (working.length > 0 && tick !== null) coming.push({ text: tellWorking(working), nextAt: tick });
  const [first] = coming.toSorted((a, b) => a.nextAt - b.nextAt);
  if (first) return first;
  if (working.length > 0) return { text: tellWorking(working), nextAt: tick };
  const active = goals.filter(({ status }) => status === "active");
  if (active.length > 0 && daemon.state !== "running") return { text: "nothing by itself (overseer up)", nextAt: null };
  const yours = standstills.find(({ turn }) => turn === "person");
  const others = listOthers(agents, standstills);
  if (yours && others.length > 0 && tick !== null) {
    const more = others.length > 1 ? ` and ${others.length - 1} more` : "";
    return {
      text: `${others[0]}${more} ${others.length > 1 ? "are" : "is"} looked at again; the rest waits for you`,
      nextAt: tick,
    };
  }
  if (yours) return { text: `nothing by itself: it waits for you (${yours.command})`, nextAt: null };
  if (isReadyWorkHeld(facts, standstills)) {
    return { text: "it is looked at whether ready work can be dispatched", nextAt: tick };
  }
  if (agents.length > 0) return { text: "all agents are looked at again", nextAt: tick };
  if (active.length > 0) return { text: "nothing by itself; what is open is looked at again", nextAt: tick };
  if (facts.asksPool) return { text: "the pool is asked for a task again", nextAt: null };
  return { text: "nothing; no goal is open", nextAt: null };
}

/** Agents that wait for no person: what is said about somebody else does not hold for them. */
function listOthers(agents: FleetFacts["agents"], standstills: readonly Standstill[]): string[] {
  const persons = new Set(standstills.flatMap(({ turn, about }) => (turn === "person" ? about : [])));
  return agents
    .filter(({ seen }) => seen === "idle" || seen === "waiting")
    .filter(({ goalId, workNodeId }) => !persons.has(nodeKey(goalId, workNodeId)))
    .map(({ agent, attempt }) => `${agent}#${attempt}`)
    .filter((label) => !persons.has(label));
}

function tellWorking(working: FleetFacts["agents"]): string {
  const names = working.slice(0, 3).map(({ agent, attempt }) => `${agent}#${attempt}`);
  const more = working.length > 3 ? ` and ${working.length - 3} more` : "";
  return `${names.join(", ")}${more} at work; all are looked at again`;
}

/** Everything whose time is known. Of two at once the first is told. */
function listComing(facts: FleetFacts, standstills: readonly Standstill[]): (NextStep & { readonly nextAt: number })[] {
  const { actions, now, daemon } = facts;
  const due = actions
    // A landing that is held up is looked at again in vain, until what holds it has ended.
    .filter(({ status, problem }) => status !== "taken" && problem?.startsWith(HELD_BACK) !== true)
    .map(({ kind, goalId, workNodeId, dueAt }) => ({
      text: `${DOES[kind]}${workNodeId === null ? "" : ` for ${goalId}/${workNodeId}`}`,
      nextAt: Math.max(dueAt, now),
    }));
  const ready = countReady(facts);
  const isHeld = isReadyWorkHeld(facts, standstills);
  // Whatever makes work ready wakes the tick: nothing waits for the clock.
  const isDispatched = ready > 0 && !isHeld && daemon.state === "running";
  const dispatched = { text: `${ready} ready ${ready === 1 ? "task is" : "tasks are"} dispatched`, nextAt: now };
  const again = standstills.flatMap(({ kind, about, nextAt }) => {
    const text = tellAgain(kind, about[0] ?? "", isHeld);
    return nextAt === null || text === undefined ? [] : [{ text, nextAt: Math.max(nextAt, now) }];
  });
  return [...due, ...again, ...(isDispatched ? [dispatched] : [])];
}

/** What happens at the time that a standstill names. */
function tellAgain(kind: StandstillKind, about: string, isHeld: boolean): string | undefined {
  switch (kind) {
    case "provider":
    case "quota":
      return `one agent tries whether ${about} works again`;
    case "dispatch":
      return isHeld ? "it is looked at whether ready work can be dispatched" : undefined;
    case "landing":
      return `it is looked at whether ${about} can land`;
    case "stalled":
      return `the next step for ${about}, which is stalled`;
    case "agent-paused":
      return `${about} is resumed`;
    default:
      return undefined;
  }
}

function countReady({ goals }: FleetFacts): number {
  return goals.reduce((sum, { status, queued }) => sum + (status === "active" ? queued : 0), 0);
}

function isReadyWorkHeld(facts: FleetFacts, standstills: readonly Standstill[]): boolean {
  const ready = countReady(facts);
  if (ready === 0) return false;
  // What cannot be started is tried again, as that standstill says; it is not dispatched by being ready.
  if (facts.notStarted.reduce((sum, { nodes }) => sum + nodes.length, 0) >= ready) return true;
  const isDeferred = facts.conditions.some(({ kind, active }) => kind === "dispatch" && active);
  return isDeferred || standstills.some(({ kind }) => HOLDS_DISPATCH.has(kind));
}

/** What an action does, for whoever waits for it. */
const DOES: Readonly<Record<Action["kind"], string>> = {
  spawn: "an agent is started",
  restart: "its agent is started again",
  reassign: "a fresh agent is started",
  replan: "a model is asked how the work can be split",
  diagnose: "a model is asked what is the matter with its agent",
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
  plan: "a model is asked for a plan",
};
