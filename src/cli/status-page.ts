/**
 * What `overseer status` prints, as lines: what waits for a person, what is in trouble, then goals, agents, what is on its
 * way, and what has landed; once everything is over, how it went. Pure: the state of the fleet and the time go in. The
 * sentences of what stands still are made in domain/explain; here they only get their place. `plain` is for whoever hears it
 * read: one sentence a line, no columns, no colour.
 */
import { paragraph } from "#cli/demo/lines.ts";
import { guardLines } from "#cli/guard-lines.ts";
import { shortSpan, shortTime, tellWhen, withShortTimes } from "#cli/short-time.ts";
import { alignRows, fit, inert, plural } from "#cli/text.ts";
import type { DaemonStatus } from "#control/daemon-status.ts";
import type { GuardStatus } from "#control/guard.ts";
import type { AgentStatus, LandingView, Status, StatusGoal } from "#control/status.ts";
import { type AutoView, explainAuto, summariseAuto, type WorkerView } from "#domain/auto/auto-view.ts";
import { countDoing } from "#domain/explain/doing.ts";
import type { Standstill } from "#domain/explain/standstill.ts";
import { sayAway } from "#domain/health/place.ts";
import { describeExemption } from "#domain/model/supervision.ts";
import { countAll, listLost, tellProgress } from "#domain/plans/rollup.ts";

export interface PageStyle {
  readonly plain: boolean;
  readonly colour: boolean;
  /** Columns to fit into; without a terminal nothing is cut. */
  readonly width: number;
}

type Tone = "title" | "person" | "trouble" | "good" | "faint";

const STYLES: Readonly<Record<Tone, string>> = { title: "1", person: "33", trouble: "31", good: "32", faint: "2" };

export function renderStatus(status: Status, now: number, style: PageStyle): string[] {
  const page = new Page(now, style);
  const { standstills, goals } = status;
  if (status.away) {
    const { message, hint } = sayAway(status.away, status.root);
    page.line(`${status.away.standing.toUpperCase()}: ${inert(message)} ${hint}`);
  }
  page.standstills("Waits for you", "person", standstills);
  page.standstills("Trouble", "itself", standstills);
  page.gap();
  page.line(`${inert(status.project)} (${inert(status.root)})${tellTarget(status)}`);
  const isCopy = status.away?.standing === "copied";
  if (!isCopy) addDaemon(page, status); // whose daemon that is, the registration that came along does not tell
  addGuard(page, status.guard);
  addAuto(page, status.auto);
  const pooled = new Set(status.auto?.open.map(({ goalId }) => goalId));
  const open = goals.filter(isOpenGoal);
  const shown = open.filter(({ goalId }) => !pooled.has(goalId));
  if (goals.length === 0 && !status.auto?.on) {
    page.line('No goals yet. Say what you want: overseer do "…"');
    page.line('Or put one agent to work, without a plan: overseer sling --prompt "…"');
  }
  if (goals.length > 0 && open.length === 0) addEnding(page, status);
  if (shown.length > 0) addGoals(page, status, shown);
  const ofPool = new Set(status.auto?.workers.map(({ name }) => name));
  const others = status.agents.filter(({ agent }) => !ofPool.has(agent));
  addAgents(page, others, isCopy ? "Agents of the original" : "Agents");
  addQueue(page, status);
  if (open.length > 0) addLandings(page, status);
  if (status.unreadMail.length > 0) {
    const boxes = status.unreadMail.map(({ agent, unread }) => `${agent} ${unread}`).join(", ");
    page.line(`Unread mail: ${inert(boxes)}`);
  }
  const { next } = status;
  if (next) page.gap();
  if (next) page.line(`Next: ${inert(next.text)}${next.nextAt === null ? "" : ` (${tellWhen(next.nextAt, now)})`}`);
  return page.lines;
}

/** Lines as they come, each in its tone; whoever hears them read gets none of that. */
class Page {
  readonly lines: string[] = [];
  constructor(
    readonly now: number,
    readonly style: PageStyle,
  ) {}

  line(text: string, tone?: Tone): void {
    this.lines.push(this.paint(text, tone));
  }

  /** Over as many lines as it takes. */
  sentence(text: string, tone?: Tone): void {
    if (this.style.plain) this.line(text);
    else for (const part of paragraph("", text, this.style.width, "  ")) this.line(part, tone);
  }

  gap(): void {
    if (!this.style.plain && this.lines.length > 0 && this.lines.at(-1) !== "") this.lines.push("");
  }

  title(text: string, tone: Tone = "title"): void {
    this.line(this.style.plain ? `${text.replace(/:$/, "")}.` : text, tone);
  }

  /** Columns, or with `plain` the sentence of each. */
  rows<T>(all: readonly T[], cells: (one: T) => readonly string[], sentence: (one: T) => string): void {
    if (this.style.plain) {
      for (const one of all) this.line(inert(sentence(one)));
      return;
    }
    const rows = all.map((one) => cells(one).map((cell, at) => (at === 0 ? `  ${inert(cell)}` : inert(cell))));
    for (const text of alignRows(rows)) this.line(fit(text, this.style.width));
  }

  standstills(title: string, turn: Standstill["turn"], all: readonly Standstill[]): void {
    const own = all.filter((one) => one.turn === turn);
    if (own.length === 0) return;
    this.gap();
    const tone = turn === "person" ? "person" : "trouble";
    this.title(`${title}: ${own.length}`, tone);
    for (const { text } of own) {
      const said = inert(withShortTimes(text, this.now));
      if (this.style.plain) this.line(said);
      else for (const part of paragraph("  ", said, this.style.width, "    ")) this.line(this.paintWord(part, tone));
    }
  }

  /** Only the word that it begins with: a screen full of red says nothing. */
  private paintWord(text: string, tone: Tone): string {
    const [, before = "", word, after = ""] = /^( {2})([A-Z]{2}[A-Z ]*(?=:| since| \())(.*)$/s.exec(text) ?? [];
    return word === undefined ? text : `${before}${this.paint(word, tone)}${after}`;
  }

  private paint(text: string, tone: Tone | undefined): string {
    return tone && this.style.colour && !this.style.plain ? `\u001b[${STYLES[tone]}m${text}\u001b[0m` : text;
  }
}

function tellTarget({ target }: Status): string {
  return target === null ? "" : `, work lands on ${inert(target)}`;
}

function isOpenGoal({ status }: StatusGoal): boolean {
  return status === "active" || status === "paused";
}

/** "$0.20"; nothing where nothing was spent, or nobody counts it. */
export function tellCost(costUsd: number): string {
  if (costUsd <= 0) return "";
  return costUsd < 0.01 ? "<$0.01" : `$${costUsd.toFixed(2)}`;
}

function nameWork({ goalId, workNodeId, task }: Pick<AgentStatus, "goalId" | "workNodeId" | "task">): string {
  return `${goalId}/${workNodeId}${task === null ? "" : ` ${clip(task)}`}`;
}

/** A task that was made of a prompt has the prompt for a name. */
const MOST_SIGNS = 60;

function clip(name: string): string {
  const said = name.replace(/\s+/g, " ").trim();
  return said.length > MOST_SIGNS ? `${said.slice(0, MOST_SIGNS)}…` : said;
}

function addDaemon(page: Page, { daemon, off, unchecked, expertise }: Status): void {
  page.line(inert(tellDaemon(daemon, page.now)), daemon.state === "running" ? undefined : "trouble");
  if (daemon.state === "running" || daemon.state === "not-ticking") {
    const indent = page.style.plain ? "" : "  ";
    if (daemon.tickProblem) page.line(`${indent}The last tick failed: ${inert(daemon.tickProblem)}`, "trouble");
    for (const { loop, failures, problem } of daemon.troubles) {
      page.line(`${indent}Its loop '${inert(loop)}' failed ${failures} times in a row: ${inert(problem)}`, "trouble");
    }
  }
  const blind = daemon.rings.find(({ degradedSince }) => degradedSince !== null);
  if (blind) {
    const since = shortTime(blind.degradedSince ?? 0, page.now);
    page.sentence(
      `DEGRADED since ${since}: whoever cannot be judged is held to thresholds alone (a hint when stale, a pause when silent); it ends by itself (overseer stats, overseer doctor)`,
      "trouble",
    );
  }
  if (off.length > 0) page.line(`Switched off: ${off.join(", ")}`);
  if (unchecked !== null) page.sentence(unchecked, "trouble");
  if (expertise !== null) page.sentence(inert(expertise), "trouble");
}

function tellDaemon(daemon: DaemonStatus, now: number): string {
  const who = `pid ${daemon.pid}, version ${daemon.version}`;
  const time = (ms: number | null) => (ms === null ? null : shortTime(ms, now));
  const beat = time(daemon.lastBeatAt ?? daemon.startedAt);
  switch (daemon.state) {
    case "stopped":
      return "Daemon: not running; nothing is dispatched by itself (overseer up)";
    case "died":
      return `Daemon: DIED (${who}), last heard of at ${beat}; agents keep running (overseer up adopts them)`;
    case "not-beating":
      if (daemon.isDiskFull) return `Daemon: running (${who}), silent since ${beat}: the disk is full`;
      return `Daemon: NOT BEATING since ${beat} (${who}): stopped, hung or starved (overseer down, then up)`;
    case "not-ticking":
      if (daemon.isDiskFull) {
        return `Daemon: running (${who}), no tick since ${time(daemon.lastTickAt)}: the disk is full`;
      }
      return `Daemon: NOT TICKING since ${time(daemon.lastTickAt ?? daemon.startedAt)} (${who}); see its log (overseer down, then up)`;
    case "running":
      return `Daemon: running (${who}), last tick ${time(daemon.lastTickAt) ?? "not yet"}`;
  }
}

/** One that has ended long ago, and was asked to, is nobody's concern. */
function addGuard(page: Page, guard: GuardStatus | null): void {
  if (guard === null || (!guard.alive && guard.gaveUp === null && guard.phase === "terminated")) return;
  const [first = "", ...rest] = guardLines(guard, page.now, 3);
  page.line(first, guard.alive && guard.phase !== "remediating" ? undefined : "trouble");
  for (const line of rest) page.line(fit(page.style.plain ? line.trim() : line, page.style.width), "faint");
}

/** STATUS-1: workers of auto mode apart from everybody else, below the line that sums it up. */
function addAuto(page: Page, auto: AutoView | null): void {
  if (auto === null) return;
  const { workers } = auto;
  page.gap();
  page.title(summariseAuto(auto));
  const span = ({ sinceAt }: WorkerView) => (sinceAt === null ? "" : shortSpan(page.now - sinceAt));
  const label = ({ name, attempt }: WorkerView) => (attempt === null ? name : `${name}#${attempt}`);
  const name = ({ node, task }: WorkerView) => (node === null ? "" : `${node}${task === null ? "" : ` ${clip(task)}`}`);
  page.rows(
    workers,
    (one) => [label(one), one.excluded ? `${one.doing}, by hand only` : one.doing, span(one), name(one)],
    (one) => {
      const what = one.node === null ? one.doing : `${one.doing} for ${span(one)}, on ${name(one)}`;
      return `Worker ${label(one)}: ${what}${one.excluded ? ", gets no task by itself" : ""}.`;
    },
  );
  for (const sentence of explainAuto(auto)) page.sentence(`${page.style.plain ? "" : "  "}${inert(sentence)}`);
}

/** The same alone, for whoever asks about auto mode. */
export function renderAuto(auto: AutoView, now: number, style: PageStyle): string[] {
  const page = new Page(now, style);
  addAuto(page, auto);
  if (auto.failed.length > 0) {
    page.gap();
    page.title(
      `Tasks that wait for you: ${auto.failed.length} ('overseer why <task>', 'overseer questions', 'overseer auto retry <task>')`,
      "trouble",
    );
    page.rows(
      auto.failed,
      ({ goalId, takenAt }) => [goalId, `taken ${shortTime(takenAt, now)}`],
      ({ goalId, takenAt }) => `${goalId}, taken ${shortTime(takenAt, now)}, waits for you.`,
    );
  }
  return page.lines;
}

function addGoals(page: Page, { goals, costUsd }: Status, open: readonly StatusGoal[]): void {
  page.gap();
  const cost = tellCost(costUsd);
  const ended = goals.length - open.length;
  page.title(`Goals: ${open.length} open, ${ended} ended${cost === "" ? "" : `; ${cost} spent so far`}`);
  page.rows(
    open.toSorted((a, b) => b.blocked - a.blocked),
    (goal) => [
      goal.goalId,
      goal.status,
      `${goal.progress.percent} %`,
      `${goal.progress.done}/${countAll(goal.progress)} done`,
      listLost(goal.progress).join(", "),
      goal.blocked > 0 ? `${goal.blocked} blocked` : "",
      goal.inProgress > 0 ? `${goal.inProgress} in progress` : "",
      goal.queued > 0 ? `${goal.queued} ready` : "",
      goal.unchanged > 0 ? `${goal.unchanged} without changes` : "",
      tellCost(goal.costUsd),
      goal.title,
    ],
    (goal) => `Goal ${goal.goalId}, ${goal.title}, is ${goal.status}: ${listParts(goal).join(", ")}.`,
  );
}

function listParts({ progress, blocked, inProgress, queued, unchanged, costUsd }: StatusGoal): string[] {
  const cost = tellCost(costUsd);
  return [
    `${progress.done} of ${plural(countAll(progress), "task")} done`,
    ...listLost(progress),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(inProgress > 0 ? [`${inProgress} in progress`] : []),
    ...(queued > 0 ? [`${queued} ready`] : []),
    ...(unchanged > 0 ? [`${unchanged} without changes`] : []),
    ...(cost === "" ? [] : [`${cost} spent`]),
  ];
}

function addAgents(page: Page, agents: readonly AgentStatus[], whose: string): void {
  if (agents.length === 0) return;
  page.gap();
  page.title(`${whose}: ${countDoing(agents)}`);
  const span = (agent: AgentStatus) => shortSpan(page.now - agent.doingAt);
  page.rows(
    agents,
    (agent) => [
      `${"  ".repeat(agent.depth)}${agent.agent}#${agent.attempt}`,
      agent.doing,
      span(agent),
      tellContext(agent),
      tellCost(agent.costUsd),
      `${nameWork(agent)}${tellExempt(agent)}`,
    ],
    (agent) => {
      const context = tellContext(agent);
      const facts = [
        `Agent ${agent.agent}#${agent.attempt} on ${nameWork(agent)}${tellExempt(agent)}: ${agent.doing} for ${span(agent)}`,
        ...(context === "" ? [] : [`context ${context} full`]),
        ...(agent.costUsd > 0 ? [`${tellCost(agent.costUsd)} spent`] : []),
      ];
      return `${facts.join(", ")}.`;
    },
  );
}

/** What of its supervision is switched off. */
function tellExempt({ exempt }: AgentStatus): string {
  const said = exempt ? describeExemption({ exempt }) : undefined;
  return said === undefined ? "" : ` (${said})`;
}

function tellContext({ contextTokens, contextWindow }: AgentStatus): string {
  return contextWindow ? `${Math.round((contextTokens / contextWindow) * 100)} %` : "";
}

/** So many of a list are shown; `overseer merge` and `overseer work list` have them all. */
const MOST_SHOWN = 5;

function addQueue(page: Page, { mergeQueue, ready, goals }: Status): void {
  const { waiting, testing, parked, entries } = mergeQueue;
  if (entries.length > 0) {
    page.gap();
    page.title(`Merge queue: ${waiting} waiting, ${testing} being tested, ${parked} parked`);
    const name = (entry: (typeof entries)[number]) =>
      entry.goalId === null || entry.workNodeId === null
        ? entry.branch
        : nameWork({ goalId: entry.goalId, workNodeId: entry.workNodeId, task: entry.task });
    const since = (entry: (typeof entries)[number]) => `since ${shortTime(entry.queuedAt, page.now)}`;
    page.rows(
      entries.slice(0, MOST_SHOWN),
      (entry) => [entry.status, since(entry), name(entry), entry.detail ?? ""],
      (entry) => `${name(entry)} is ${entry.status} ${since(entry)}${entry.detail ? `: ${entry.detail}` : "."}`,
    );
  }
  const all = goals.reduce((sum, { status, queued }) => sum + (status === "active" ? queued : 0), 0);
  if (ready.length === 0) return;
  page.gap();
  const names = ready.slice(0, MOST_SHOWN).map(nameWork);
  const more = all > names.length ? ` and ${all - names.length} more` : "";
  page.line(fit(`Ready next: ${inert(names.join(", "))}${more}`, page.style.width));
}

function addLandings(page: Page, { landings }: Status): void {
  if (landings.length === 0) return;
  page.gap();
  page.title("Landed last");
  addLandingRows(page, landings.slice(0, MOST_SHOWN));
}

/** What has landed, when, by whom and for how much, as rows. */
export function renderLandings(landings: readonly LandingView[], now: number, style: PageStyle): string[] {
  const page = new Page(now, style);
  addLandingRows(page, landings.slice(0, MOST_AT_END));
  if (landings.length > MOST_AT_END) page.line(`  … and ${landings.length - MOST_AT_END} more (overseer merge)`);
  return page.lines;
}

function addLandingRows(page: Page, landings: readonly LandingView[]): void {
  const time = ({ at }: LandingView) => shortTime(at, page.now);
  const author = ({ agent, attempt }: LandingView) => (agent === null ? "a person" : `${agent}#${attempt}`);
  const name = ({ goalId, workNodeId, task, branch, back }: LandingView) => {
    const of = goalId === null || workNodeId === null ? branch : nameWork({ goalId, workNodeId, task });
    return back === "reverts" ? `took back ${of}` : back === "reverted" ? `${of} (taken back since)` : of;
  };
  page.rows(
    landings,
    (one) => [time(one), author(one), tellCost(one.costUsd), name(one)],
    (one) => {
      const cost = one.costUsd > 0 ? ` for ${tellCost(one.costUsd)}` : "";
      if (one.back === "reverts") return `At ${time(one)} ${author(one)} ${name(one)} from ${one.target}.`;
      return `${name(one)} landed on ${one.target} at ${time(one)}, by ${author(one)}${cost}.`;
    },
  );
}

/** After the last task: what landed, by whom, for how much, and what is left for a person. */
function addEnding(page: Page, status: Status): void {
  const { goals, landings, costUsd } = status;
  page.gap();
  const cost = tellCost(costUsd);
  const { length: queued } = status.mergeQueue.entries;
  const what = queued === 0 ? "All work is over" : `Not all is over, ${plural(queued, "landing")} in the queue`;
  page.title(`${what}: ${plural(goals.length, "goal")} ended${cost === "" ? "" : `, for ${cost} in all`}`, "good");
  const ended = goals.filter((goal) => goal.status === "completed");
  const inPart = ended.filter(({ progress }) => listLost(progress).length > 0);
  const done = ended.length - inPart.length;
  if (done < goals.length) {
    const partly = inPart.length === 0 ? "" : `, ${inPart.length} in part`;
    page.line(`${done} of them reached${partly}, ${goals.length - ended.length} given up.`);
  }
  page.rows(
    inPart.slice(0, MOST_AT_END),
    ({ goalId, progress, title }) => [goalId, tellProgress(progress), title],
    ({ goalId, progress, title }) => `Goal ${goalId}, ${title}, was reached in part: ${tellProgress(progress)}.`,
  );
  if (landings.length > 0) {
    const stand = landings.filter(({ back }) => back !== "reverts" && back !== "reverted");
    const authors = [...new Set(stand.flatMap(({ agent }) => agent ?? []))];
    const who = authors.length > 3 ? `${authors.length} agents` : authors.join(", ");
    const where = [...new Set(landings.map(({ target }) => target))].join(", ");
    page.line(`Landed on ${inert(where)}: ${plural(stand.length, "task")}${who === "" ? "" : `, by ${inert(who)}`}`);
    page.lines.push(...renderLandings(landings, page.now, page.style));
  }
  const unchanged = goals.reduce((sum, goal) => sum + goal.unchanged, 0);
  if (unchanged > 0) page.line(`Without a change to land: ${plural(unchanged, "task")}`);
  page.line(`Stays open: ${listLeft(status).join(", ") || "nothing"}`);
}

const MOST_AT_END = 20;

function listLeft({ standstills, questions, mergeQueue, agents }: Status): string[] {
  const { length: asked } = questions;
  const { length: queued } = mergeQueue.entries;
  const others = standstills.filter(({ turn, kind }) => turn === "person" && kind !== "question").length;
  return [
    ...(asked > 0 ? [plural(asked, "question")] : []),
    ...(queued > 0 ? [plural(queued, "branch that has not landed", "branches that have not landed")] : []),
    ...(others > 0 ? [plural(others, "thing that waits for you", "things that wait for you")] : []),
    ...(agents.length > 0 ? [plural(agents.length, "agent still at work", "agents still at work")] : []),
  ];
}
