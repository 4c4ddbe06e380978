/**
 * One simulated life of a fleet, from a seed: goals and plans, agents that do what agents do, people who answer late or
 * never, and faults; then the faults stop, and everything has to come to its end within a bound. Overseer itself is the
 * real one: control's tick, the rules, the outbox, its executors and everything they call, over the machine of
 * machine.ts. What must hold is in invariants.ts.
 */

import { dirname } from "node:path";
import { RUNNER_MARK } from "#act/attempt-files.ts";
import { decideClaim, type NodeRef } from "#act/checks/claim-store.ts";
import { hastenHeldLandings } from "#act/landing/after-land.ts";
import type { Config } from "#config/schema.ts";
import { add as addWorker, pause as pauseAuto, resume as resumeAuto } from "#control/auto.ts";
import { freeze, thaw } from "#control/freeze.ts";
import * as goals from "#control/goals.ts";
import { listHalts } from "#control/halted.ts";
import { giveAnswer } from "#control/questions.ts";
import { rejectLanding } from "#control/review.ts";
import { cancelWork, finishWork } from "#control/work.ts";
import type { World } from "#control/world.ts";
import type { Registration } from "#domain/health/daemon-life.ts";
import { holdForGone } from "#domain/health/settings.ts";
import { mayEndHold } from "#domain/landing/after-command.ts";
import { approveLanding } from "#domain/landing/may-land.ts";
import type { PoolSource } from "#domain/model/auto.ts";
import { CONTINUE_ANSWER } from "#domain/model/budget-words.ts";
import type { Claim } from "#domain/model/claim.ts";
import { accept } from "#domain/model/decision.ts";
import type { Goal } from "#domain/model/goal.ts";
import { BLANK_DEFINITION, createGoal } from "#domain/model/goal.ts";
import { PROVIDER_CAUSES } from "#domain/model/provider-cause.ts";
import { isSupervised } from "#domain/model/supervision.ts";
import { DAY_MS } from "#domain/model/usage-totals.ts";
import { nodeKey } from "#domain/model/work.ts";
import { acceptPlan, DEFAULT_PLAN_LIMITS } from "#domain/plans/plan.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import { REGISTRY } from "#engine/actions/index.ts";
import { isLaneHeld, LANES, limitLane } from "#engine/lanes.ts";
import { machineObserver } from "#engine/observe.ts";
import type { Registry } from "#engine/outbox.ts";
import { drain } from "#engine/outbox.ts";
import { PoolMemory, turnPool } from "#engine/pool.ts";
import { SyncMemory, turnSync } from "#engine/sync.ts";
import type { Observer } from "#engine/tick.ts";
import { tick } from "#engine/tick.ts";
import type { WatchRounds } from "#engine/watch-rounds.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { openActions } from "#store/actions.ts";
import { openQuestions } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import { goalById } from "#store/goals.ts";
import type { Store } from "#store/store.ts";
import { goalsForTick } from "#store/tick.ts";
import { nodesInStatus, nodesOfGoal } from "#store/work.ts";
import type { Chance } from "#sys/chance.ts";
import { runFiles } from "#sys/run-files.ts";
import { makeSeededChance } from "#sys/virtual-chance.ts";
import type { Behaviour, Say } from "./agents.ts";
import { BEHAVIOURS, VirtualAgent } from "./agents.ts";
import type { Fault, NoStart } from "./faults.ts";
import { failTerminal, noStartOf, strikerOf } from "./faults.ts";
import type { Violation } from "./invariants.ts";
import { Invariants } from "./invariants.ts";
import type { Life } from "./machine.ts";
import { Machine } from "./machine.ts";
import { answerPrompt, drawMood, printSaid } from "./planner.ts";
import { type PoolPlan, VirtualPool } from "./pool.ts";
import { CONTINUING_ROLE, countPlanned, makeSimulatedConfig, planOf, type Scenario, STEP_MS } from "./scenario.ts";
import { Watcher } from "./watcher.ts";

/** The parts of Overseer that are simulated, so that a test of the simulator can put a broken one in place of each. */
export interface Subject {
  readonly tick: typeof tick;
  readonly drain: typeof drain;
  readonly turnPool: typeof turnPool;
  readonly turnSync: typeof turnSync;
  readonly registry: Registry<World>;
  readonly isLaneHeld: typeof isLaneHeld;
  readonly rounds: (real: WatchRounds) => WatchRounds;
  readonly observer: (real: Observer, world: World) => Observer;
  readonly store: (real: Store) => Store;
  readonly config: (real: Config) => Config;
  readonly say: Say | undefined;
}

export const REAL: Subject = {
  tick,
  drain,
  turnPool,
  turnSync,
  registry: REGISTRY,
  isLaneHeld,
  rounds: (real) => real,
  observer: (real) => real,
  store: (real) => real,
  config: (real) => real,
  say: undefined,
};

export interface SimulationResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly steps: number;
  readonly events: number;
  readonly deaths: number;
  readonly attempts: number;
  /** Calls that Overseer made of its ports, each a place where it can die. */
  readonly calls: number;
  /** Every event, fault and death, one line each; only where it was asked for. */
  readonly trace: readonly string[];
}

const MOST_NODES = 1_000;
/** There are fewer tasks than that. */
const MOST_TURNS = 100;
const NO_WISHES = { excluded: false, capability: null, runtime: null, model: null };
/** When everything has ended, nothing more can go wrong but late words; those get some time. */
/** After so long a person gives up on an agent that nobody else looks after. */
const LONG_SILENCE_MS = 30 * STEP_MS;
const LEAST_STEPS = 40;

export async function simulate(
  scenario: Scenario,
  options: { readonly subject?: Partial<Subject>; readonly trace?: boolean } = {},
): Promise<SimulationResult> {
  try {
    return await new Simulation(scenario, { ...REAL, ...options.subject }, options.trace ?? false).run();
  } catch (error) {
    // What nobody foresaw is a finding too, and is found again by its seed.
    throw new Error(`Seed ${scenario.seed} with ${scenario.agents} agents: ${messageOf(error)}`, { cause: error });
  }
}

/** One life of Overseer, with what it remembers. */
interface LivingOverseer {
  readonly life: Life;
  readonly observer: Observer;
  readonly pool: PoolMemory;
  readonly sync: SyncMemory;
  /** Null where no watch runs. */
  readonly watcher: Watcher | null;
}

class Simulation {
  private readonly machine: Machine;
  private readonly agents = new Map<number, VirtualAgent>();
  private readonly chance: Chance;
  private readonly people: World;
  /** What the model is like, from a row of its own. */
  private readonly model: Chance;
  private readonly invariants: Invariants;
  private readonly patience = new Map<string, number>();
  private readonly trace: string[] = [];
  private life: LivingOverseer | undefined;
  private faultsNow: readonly Fault[] = [];
  private step = 0;
  private deaths = 0;
  private calls = 0;
  private skipTicks = 0;
  /** Whether the step had a whole tick, and how many in a row found nothing left: the last outcome has to be told too. */
  private ticked = false;
  private quietTicks = 0;
  private holds: (() => Promise<void>)[] = [];
  private noStart: NoStart | null = null;
  private diskLowUntil: number | null = null;
  private spoiledUntil = 0;

  constructor(
    private readonly scenario: Scenario,
    private readonly subject: Subject,
    private readonly traced: boolean,
  ) {
    this.chance = makeSeededChance(scenario.seed);
    const config = subject.config(makeSimulatedConfig(scenario));
    this.machine = new Machine(scenario.seed, config, (side) => this.runnerStarts(side.request.env[RUNNER_MARK] ?? ""));
    const { auto = null } = scenario;
    if (auto) this.machine.pool = new VirtualPool(this.machine, auto, () => this.step);
    this.machine.meanwhile = async () => {
      if (this.machine.pool) await this.machine.pool.attend();
      for (const agent of this.agents.values()) await agent.attend();
    };
    this.people = this.machine.outside("human:ada");
    this.model = makeSeededChance(scenario.seed ^ 0x5b117);
    this.machine.answersModel = (prompt) => this.answerModel(prompt);
    this.invariants = new Invariants(this.machine, this.agents, makeSimulatedConfig(scenario), auto);
    if (this.machine.pool) this.machine.pool.onAsk = (pull) => this.invariants.auto.lookAtAsking(pull);
  }

  async run(): Promise<SimulationResult> {
    const { stormy, calm, continuing } = this.scenario;
    if (continuing) await this.letSessionsContinue();
    await this.want();
    const standing = this.scenario.auto?.standing ?? null;
    if (standing !== null) await addWorker(this.people, { ...NO_WISHES, name: standing });
    for (this.step = 0; this.step < stormy + calm; this.step += 1) {
      await this.oneStep();
      await this.invariants.look(this.step);
      this.note();
      if (this.invariants.violations.length > 0) break;
      this.quietTicks = this.ticked && this.looked && (await this.isOver()) ? this.quietTicks + 1 : 0;
      if (this.step >= LEAST_STEPS && this.quietTicks >= 3) break;
    }
    if (this.invariants.violations.length === 0) await this.invariants.lookAtEnd(this.step, await this.isOver());
    const { last } = { last: this.invariants.events };
    return {
      seed: this.scenario.seed,
      violations: this.invariants.violations,
      steps: this.step,
      events: last,
      deaths: this.deaths,
      attempts: this.agents.size,
      calls: this.calls,
      trace: this.trace,
    };
  }

  private async letSessionsContinue(): Promise<void> {
    const roles = `${this.people.root.userDir}/roles`;
    await this.machine.files.makeDir(roles);
    await this.machine.files.write(`${roles}/builder.yaml`, CONTINUING_ROLE);
  }

  /** A tick that was held back, by a freeze or because time was skipped, has told nobody anything. */
  private get looked(): boolean {
    return !this.invariants.taken.some((event) => event.type === "overseer.tick" && event.because !== "reconciled");
  }

  private get isCalm(): boolean {
    return this.step >= this.scenario.stormy;
  }

  private async oneStep(): Promise<void> {
    this.ticked = false;
    this.faultsNow = this.scenario.faults.filter((fault) => fault.step === this.step);
    const { clock } = this.machine;
    if (this.isCalm) await this.letGo();
    if (this.noStart && (this.isCalm || this.step >= this.noStart.untilStep)) this.letStart(null);
    if (this.diskLowUntil !== null && (this.isCalm || this.step >= this.diskLowUntil)) this.fillDisk(null);
    if (this.isCalm || this.step >= this.spoiledUntil) this.machine.spoiledPulse = null;
    for (const fault of this.faultsNow) await this.strikeWorld(fault);
    await clock.advance(STEP_MS);
    if (this.machine.pool) await this.movePool(this.machine.pool);
    for (const agent of this.agents.values()) await agent.step();
    await this.answers();
    await this.reviews();
    if (this.scenario.exempting) await this.endUnsupervised();
    if (this.skipTicks > 0) {
      this.skipTicks -= 1;
      return;
    }
    // Where the watch runs, it is the tick's wake that is lost.
    const isTickDue = !this.has("lost-wake");
    if (!isTickDue && !this.scenario.watching) return;
    await this.daemon(isTickDue);
    if (this.has("double-wake")) await this.daemon();
  }

  private async movePool(pool: VirtualPool): Promise<void> {
    await pool.putFiles(this.step);
    await pool.attend();
  }

  private has(kind: Fault["kind"]): boolean {
    return this.faultsNow.some((fault) => fault.kind === kind);
  }

  /** What happens to the world, rather than to a call. */
  private async strikeWorld(fault: Fault): Promise<void> {
    this.say(`fault ${fault.kind} ${fault.number}`);
    const { clock, terminal } = this.machine;
    const all = [...this.agents.values()];
    const hit = all[fault.number % Math.max(1, all.length)];
    switch (fault.kind) {
      case "clock-jump":
        clock.jump((fault.number - 500) * (STEP_MS / 6));
        return this.invariants.noteClockJump();
      case "clock-set":
        // By days to more than a year, forwards or back: a wrong year typed in, a battery that was empty.
        clock.jump((fault.number - 500) * DAY_MS);
        return this.invariants.noteClockJump();
      case "suspend":
        return clock.suspend(fault.number * (STEP_MS / 2));
      case "frozen-tick":
        this.skipTicks = 1 + (fault.number % 12);
        return;
      case "tmux-gone":
        return terminal.loseServer();
      case "runner-dies":
        return hit?.vanish();
      case "all-runners-die":
        return this.endAll(
          all.filter(({ alive }) => alive),
          fault.after,
        );
      case "late-report":
        if (!hit) return;
        if (this.invariants.isAttemptOver(hit.attempt) && wasTaken(await hit.reportLate())) {
          this.invariants.reportBelievedTooLate(hit.attempt);
        }
        return;
      case "goal-paused":
        return this.hold(
          fault,
          (goal) => goals.pauseGoal(this.people, goal.goalId),
          (goal) => goals.resumeGoal(this.people, goal.goalId),
        );
      case "goal-cancelled":
        return this.hold(fault, (goal) => goals.cancelWholeGoal(this.people, goal.goalId), undefined);
      case "freeze":
        await freeze(this.people, null);
        this.holds.push(async () => void (await thaw(this.people, null)));
        return;
      case "settings-away":
        this.machine.hold = holdForGone([{ name: ".overseer/config.yaml", how: "missing" }]);
        this.holds.push(async () => {
          this.machine.hold = null;
        });
        return;
      case "provider-fails": {
        const cause = PROVIDER_CAUSES[fault.number % PROVIDER_CAUSES.length] ?? "network";
        this.machine.provider = { cause, answers: cause !== "network" || fault.after };
        this.holds.push(async () => {
          this.machine.provider = null;
        });
        return;
      }
      case "no-start":
        return this.letStart(noStartOf(fault));
      case "disk-low":
        return this.fillDisk(this.step + 5 + (fault.number % 56));
      case "worktree-breaks": {
        const living = all.filter(({ alive }) => alive);
        return living[fault.number % Math.max(1, living.length)]?.loseWorktree();
      }
      case "pulse-spoiled":
        return this.spoilPulse(
          all.filter(({ alive }) => alive),
          fault.number,
        );
      default:
        return this.strikePool(fault, this.machine.pool);
    }
  }

  /** The same to the pool, and to those who steer it. */
  private async strikePool({ kind, number, after }: Fault, pool: VirtualPool | null): Promise<void> {
    if (!pool) return;
    switch (kind) {
      case "pool-empty":
        pool.emptyUntil = this.step + 1 + (number % 15);
        return;
      case "pool-repeats":
        pool.repeats = 1 + (number % 3);
        return;
      case "pool-fails":
        pool.failing = after ? "exit" : "hang";
        return;
      case "task-file-changed":
        return pool.changeFile(number);
      case "task-file-away":
        await pool.takeFileAway(number);
        this.holds.push(() => pool.putFilesBack());
        return;
      case "auto-paused":
        await pauseAuto(this.people, null);
        this.holds.push(async () => void (await resumeAuto(this.people, null)));
        return;
      default:
        return;
    }
  }

  /** Null when agents can be started again. */
  private letStart(noStart: NoStart | null): void {
    this.noStart = noStart;
    this.machine.notReady = noStart?.at === "runtime" ? noStart.reason : null;
    if (!noStart) this.say("agents can be started again");
  }

  /** Long enough for somebody to be silent meanwhile. */
  private spoilPulse(agents: readonly VirtualAgent[], number: number): void {
    this.machine.spoiledPulse = agents[number % Math.max(1, agents.length)]?.attempt ?? null;
    this.spoiledUntil = this.step + 6 + (number % 25);
  }

  /** Until that step; null when there is room again. */
  private fillDisk(untilStep: number | null): void {
    this.diskLowUntil = untilStep;
    this.machine.isDiskShort = untilStep !== null;
    this.invariants.noteDisk();
    if (untilStep === null) this.say("the disk has room again");
  }

  private async hold(
    fault: Fault,
    take: (goal: Goal) => Promise<unknown>,
    release: ((goal: Goal) => Promise<unknown>) | undefined,
  ): Promise<void> {
    const { all } = await this.machine.store.read({ all: goalsForTick(Number.MAX_SAFE_INTEGER) });
    const active = all.filter(({ status }) => status === "active");
    const goal = active[fault.number % Math.max(1, active.length)];
    if (!goal) return;
    await take(goal);
    if (release) this.holds.push(async () => void (await release(goal)));
  }

  /** All at once; or noticed a few at a time, in looks that follow each other closely. */
  private async endAll(agents: readonly VirtualAgent[], inTurn: boolean): Promise<void> {
    for (const [index, agent] of agents.entries()) {
      agent.vanish();
      if (inTurn && index % 3 === 2) await this.daemon();
    }
  }

  /** People take back what they held, at the latest when the storm has ended. */
  private async letGo(): Promise<void> {
    for (const release of this.holds.splice(0)) {
      try {
        await release();
      } catch (error) {
        if (!(error instanceof OverseerError)) throw error; // it ended meanwhile
      }
    }
  }

  private async answers(): Promise<void> {
    if (this.holds.length > 0 && this.chance.next() < 0.15) await this.letGo();
    const { open } = await this.machine.store.read({ open: openQuestions() });
    for (const question of open) {
      const { questionId } = question;
      const due = this.patience.get(questionId) ?? this.step + Math.floor(this.chance.next() * 60);
      this.patience.set(questionId, due);
      const asked = Math.min(due, Math.max(this.step, this.scenario.stormy) + (this.isCalm ? 0 : 5));
      if (this.step < (this.isCalm ? Math.min(due, this.scenario.stormy + 5) : asked)) continue;
      try {
        await giveAnswer(this.people, questionId, this.answerTo(question.options));
      } catch (error) {
        if (!(error instanceof OverseerError)) throw error;
        this.invariants.reportUnanswerable(questionId, error.message);
        return;
      }
      this.say(`answered ${questionId}`);
    }
  }

  /** A budget is raised by a little, which is asked about again, or by enough. */
  private answerTo(options: readonly string[]): string {
    if (options.includes(CONTINUE_ANSWER)) return this.chance.next() < 0.5 ? CONTINUE_ANSWER : "raise by $1";
    return options.includes("try again") ? "try again" : "1";
  }

  /** What waits for a review is accepted or sent back, late. */
  private async reviews(): Promise<void> {
    if (this.scenario.review !== true) return;
    const { working } = await this.machine.store.read({ working: nodesInStatus("in_progress", MOST_NODES) });
    for (const { goalId, workNodeId, claim } of working) {
      if (!claim?.verdict || claim.branch === null || claim.approvedBy !== null) continue;
      const what = nodeKey(goalId, workNodeId);
      if (!this.isTimeFor(`review ${what} ${claim.claimedAt}`, 90)) continue;
      const sendBack = !this.isCalm && this.chance.next() < 0.2;
      try {
        if (sendBack) await rejectLanding(this.people, { what }, "Not like this.");
        else await this.accept({ goalId, nodeId: workNodeId }, claim);
      } catch (error) {
        if (!(error instanceof OverseerError)) throw error; // it went away, or nothing may land now
      }
      this.say(`${sendBack ? "sent back" : "accepted"} ${what}`);
    }
  }

  /** Nobody but a person looks after those that are not supervised: one that did nothing for long, or nothing but the same, is killed by hand. */
  private async endUnsupervised(): Promise<void> {
    const { living } = await this.machine.store.read({ living: livingAttempts() });
    for (const attempt of living) {
      const agent = this.agents.get(attempt.attempt);
      if (isSupervised(attempt) || !agent?.alive || attempt.status !== "running") continue;
      const { lastActAt, asking, stuck } = agent.truth;
      const isSilent = this.machine.clock.monotonic() - lastActAt >= LONG_SILENCE_MS;
      if (asking || !(isSilent || (stuck && this.isCalm))) continue;
      this.say(`a person kills #${attempt.attempt}`);
      agent.vanish();
    }
  }

  /** A person's word; the landing itself is left to the daemon. */
  private accept(place: NodeRef, claim: Claim): Promise<string> {
    const { people } = this;
    return decideClaim(people, place, claim, ({ node }, { now }) =>
      approveLanding(node, null, { now, actor: people.actor }),
    );
  }

  /** People take their time, up to so many steps; in the calm they hurry. */
  private isTimeFor(what: string, most: number): boolean {
    const due = this.patience.get(what) ?? this.step + Math.floor(this.chance.next() * most);
    this.patience.set(what, due);
    return this.step >= (this.isCalm ? Math.min(due, this.scenario.stormy + 5) : due);
  }

  /** One look of the daemon's, with all that follows; it may be its last. */
  private async daemon(isTickDue = true): Promise<void> {
    const { auto } = this.scenario;
    const began = this.life === undefined;
    const { life, observer, pool, sync, watcher } = this.living();
    if (auto && began) await this.startAuto(life, auto);
    const tolerate = (error: unknown) => {
      if (life.isOver()) return;
      const isForeseen = error instanceof OverseerError || /ENOSPC/.test(messageOf(error));
      if (!isForeseen && this.machine.spoiledPulse === null) throw error;
      this.say(`the tick failed: ${messageOf(error)}`);
    };
    const tickNow = (causes: readonly string[]) => this.oneTick(life.world, observer, causes);
    let work = (watcher ? watchAndTick(watcher, isTickDue, tickNow, tolerate) : tickNow([])).catch(tolerate);
    // A loop of its own: what keeps the tick from working does not keep it from looking.
    if (auto) work = work.then(() => this.turnThePool(life, pool)).catch(tolerate);
    if (this.scenario.learning) work = work.then(() => this.passOn(life, sync)).catch(tolerate);
    if (auto?.postAccept) work = work.then(() => this.endHolds(life)).catch(tolerate);
    if ((await Promise.race([work, life.over])) !== "died") return;
    this.deaths += 1;
    this.life = undefined;
  }

  /** A loop of its own beside the tick. */
  private async passOn({ world }: Life, memory: SyncMemory): Promise<void> {
    await this.subject.turnSync(world, memory);
  }

  /** As the daemon does it when it reads of it in the log. */
  private async endHolds({ world }: Life): Promise<void> {
    if (this.machine.fresh.some(mayEndHold)) await hastenHeldLandings(world);
  }

  /** A daemon that was started by `up --auto` leaves word of itself, and says in the log that it works on the pool. */
  private async startAuto({ identity, world }: Life, { workers, command, directory }: PoolPlan): Promise<void> {
    const { clock, files, store } = this.machine;
    const run = runFiles(world.root.state);
    const instance = `life-${identity.pid}`;
    const registration: Registration = {
      ...{ ...identity, instance, version: "simulated", socket: "none", log: run.log, since: clock.now() },
      ...{ supervision: true, auto: true, flags: {} },
    };
    for (const path of [run.registration, run.log]) await files.makeDir(dirname(path));
    await files.write(run.registration, JSON.stringify(registration));
    const sources: PoolSource[] = [
      ...(directory === null ? [] : (["directory"] as const)),
      ...(command === null ? [] : (["command"] as const)),
    ];
    const data = { instance, sources, concurrency: workers, tasks: null, budgetUsd: null };
    await store.commit({
      at: clock.now(),
      reads: {},
      decide: () => accept([{ type: "auto.started", actor: "overseer", because: "asked-for", data }], null),
    });
  }

  /** Until it takes nothing more. What its pool stands on may be broken: then this life ends, and the next comes later. */
  private async turnThePool(life: Life, memory: PoolMemory): Promise<void> {
    for (let turn = 0; turn < MOST_TURNS; turn += 1) {
      const { took, failure } = await this.subject.turnPool(life.world, memory);
      if (failure) {
        this.say(`auto mode ends: ${failure.problem}`);
        await this.machine.store.commit({
          at: this.machine.clock.now(),
          reads: {},
          decide: () =>
            accept([{ type: "auto.failed", actor: "overseer", because: "hard-failure", data: failure }], null),
        });
        this.skipTicks = 3;
        life.end();
        return;
      }
      if (!took) return;
    }
  }

  private async oneTick(world: World, observer: Observer, causes: readonly string[]): Promise<void> {
    if ((await listHalts(world)).length > 0) return;
    const { judged } = await this.subject.tick(world, observer, causes.join(", ") || "its time has come");
    this.invariants.watch.noteJudged(judged);
    await Promise.all(LANES.map((kinds) => this.lane(world, kinds)));
    this.ticked = true;
  }

  private async lane(world: World, kinds: (typeof LANES)[number]): Promise<void> {
    if (await this.subject.isLaneHeld(world, kinds)) return;
    for (let round = 0; round < 4; round += 1) {
      const { done } = await this.subject.drain(world, this.subject.registry, {
        only: ({ kind }) => kinds.includes(kind),
        parallel: limitLane(kinds),
      });
      if (done === 0) return;
    }
  }

  private living() {
    if (this.life) return this.life;
    const strikers = new Map<number, ReturnType<typeof strikerOf>>();
    const { death } = this.scenario;
    const life = this.machine.begin((call) => {
      this.calls += 1;
      if (this.calls === death?.call) {
        this.say(`dies ${death.when} call ${this.calls} of all, ${call}`);
        return { kind: "die", when: death.when };
      }
      let striker = strikers.get(this.step);
      if (!striker) {
        striker = strikerOf(this.faultsNow, (what) => this.say(what));
        strikers.clear();
        strikers.set(this.step, striker);
      }
      const struck = striker(call);
      if (struck || call !== "terminal.open" || this.noStart?.at !== "terminal") return struck;
      return failTerminal(this.noStart);
    }, this.subject.store);
    const { world } = life;
    const observer = machineObserver(world, { periodMs: STEP_MS });
    this.invariants.noteWatcherStart();
    this.say(`overseer begins as ${life.identity.pid}`);
    const seenBy = this.subject.observer(observer, world);
    this.life = {
      life,
      observer: seenBy,
      pool: new PoolMemory(),
      sync: new SyncMemory(),
      watcher: this.scenario.watching ? this.watcherOf(life, seenBy) : null,
    };
    this.machine.flakes = () => this.has("check-flakes");
    return this.life;
  }

  private watcherOf(life: Life, observer: Observer): Watcher {
    return new Watcher({
      ...{ life, observer, rounds: this.subject.rounds },
      speak: async (world) => {
        for (const kinds of LANES) if (kinds.includes("deliver")) await this.lane(world, kinds);
      },
      onTold: (health) => this.invariants.watch.noteTold(health),
      say: (what) => this.say(what),
    });
  }

  /** Undefined: it thinks for longer than anybody waits. While it thinks, agents and people go on. */
  private async answerModel(prompt: string): Promise<string | undefined> {
    const mood = drawMood(this.model);
    this.say(`the model is asked, and is ${mood}`);
    if (mood === "silent" || mood === "late") await this.goOnMeanwhile(1 + Math.floor(this.model.next() * 6), prompt);
    else await this.machine.pass(1_000);
    if (mood === "silent") return undefined;
    if (mood === "broken") throw new Error("The model's program broke.");
    return printSaid(answerPrompt(prompt, this.model, mood), this.machine.clock.now() + 10 * STEP_MS);
  }

  /** Agents act, and sometimes a person ends the very task that is thought about. */
  private async goOnMeanwhile(steps: number, prompt: string): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      // What was written so far is held against what is true now, not against what becomes of it.
      await this.invariants.look(this.step);
      this.note();
      await this.machine.pass(STEP_MS);
      for (const agent of this.agents.values()) await agent.step();
    }
    if (this.isCalm || this.model.next() >= 0.3) return;
    const task = /--- BEGIN the task\n(\S+):/.exec(prompt)?.[1] ?? "";
    const { working } = await this.machine.store.read({ working: nodesInStatus("in_progress", MOST_NODES) });
    const node = working.find(({ workNodeId, claim }) => workNodeId === task && !claim);
    if (!node) return;
    const words = { node: nodeKey(node.goalId, node.workNodeId) };
    this.say(`a person ends ${words.node}`);
    try {
      if (this.model.next() < 0.5) await finishWork(this.people, words, { summary: "Done by hand." });
      else await cancelWork(this.people, words, "Not needed.");
    } catch (error) {
      if (!(error instanceof OverseerError)) throw error; // it ended by itself
    }
  }

  /** A terminal was opened for a runner: from here on it lives by itself. */
  private runnerStarts(mark: string): void {
    const number = Number(mark.split("@")[0]);
    const process = this.machine.processes.withEnvironment(RUNNER_MARK, mark).at(-1);
    if (!process) throw new Error("A runner has no process.");
    // A terminal that goes away is no reason to stop; being told to end is.
    this.machine.processes.onSignal(process, (signal) => {
      if (signal === "SIGTERM") this.machine.processes.end(process);
    });
    const chance = makeSeededChance(this.scenario.seed * 1_000 + number);
    const agent = new VirtualAgent(
      this.machine,
      this.people,
      number,
      process,
      this.kindOf(chance, number),
      chance,
      this.subject.say,
      this.scenario.learning === true,
    );
    this.agents.set(number, agent);
    this.invariants.noteRunner(number, process);
    void agent.attend();
  }

  private kindOf(chance: Chance, number: number): Behaviour {
    // Drawn from a row of its own: a course without such agents is as it was before there were any.
    const apart = makeSeededChance((this.scenario.seed * 1_000 + number) ^ 0xb10c);
    if (this.scenario.blocking && !this.isCalm && apart.next() < 0.3) return "blocked";
    if (this.scenario.replanning && !this.isCalm && apart.next() < 0.4) return "silent";
    if (this.isCalm || chance.next() < 0.35) return "diligent";
    return BEHAVIOURS[Math.floor(chance.next() * BEHAVIOURS.length)] ?? "diligent";
  }

  private async isOver(): Promise<boolean> {
    // While there is no room nothing is taken from the pool, so what lies there is not over.
    if (this.machine.pool && this.machine.isDiskShort) return false;
    const { all, living, open } = await this.machine.store.read({
      all: goalsForTick(Number.MAX_SAFE_INTEGER),
      living: livingAttempts(),
      open: openActions(),
    });
    return all.length === 0 && living.length === 0 && open.length === 0 && this.machine.pool?.isEmpty() !== false;
  }

  /** What people want: goals of a few tasks each, some of which wait for others. */
  private async want(): Promise<void> {
    const now = this.machine.clock.now();
    await this.machine.store.commit({
      at: now,
      reads: {},
      decide: () =>
        accept(
          [
            {
              type: "overseer.initialised",
              actor: "human:ada",
              because: "init",
              data: { version: "simulated", targetBranch: "main" },
            },
          ],
          null,
        ),
    });
    const tasks = countPlanned(this.scenario);
    const perGoal = 4;
    for (let first = 0; first < tasks; first += perGoal) {
      const goalId = `goal_${String(first / perGoal).padStart(5, "0")}`;
      await this.wantOne(goalId, Math.min(perGoal, tasks - first));
    }
  }

  private async wantOne(goalId: string, count: number): Promise<void> {
    const moment = { now: this.machine.clock.now(), actor: "human:ada" } as const;
    const { store } = this.machine;
    const wish = {
      goalId,
      definition: { ...BLANK_DEFINITION, title: goalId },
      // From a session, so that every outcome is told to it.
      origin: { kind: "cli" as const, session: "ada" },
      repo: {},
    };
    await store.commit({
      at: moment.now,
      reads: { taken: goalById(goalId) },
      decide: ({ taken }) => createGoal(taken, wish, moment),
    });
    const outcome = await store.commit({
      at: moment.now,
      reads: { goal: goalById(goalId), nodes: nodesOfGoal(goalId) },
      decide: ({ goal, nodes }) => {
        if (!goal) throw new Error("no goal");
        const way = { source: "file" as const, rejected: [], raw: "", change: "first plan" };
        const { auto, budget, exempting } = this.scenario;
        const helper = auto ? `helper${Number(goalId.slice("goal_".length))}` : undefined;
        const plan = planOf(count, this.chance, { budget, helper, exempting });
        return settleDecision({ goal, nodes }, acceptPlan(goal, nodes, plan, DEFAULT_PLAN_LIMITS, way, moment), moment);
      },
    });
    if (!outcome.ok) throw new Error(outcome.refusal.message);
  }

  private say(what: string): void {
    if (this.traced) this.trace.push(`${this.step} ${what}`);
  }

  private note(): void {
    if (!this.traced) return;
    for (const event of this.invariants.taken) {
      const { seq, at, type, goalId, nodeId, agent, attempt, because, data } = event;
      const about = [goalId, nodeId, agent, attempt].filter((part) => part !== undefined).join(" ");
      this.trace.push(`${this.step} #${seq} ${at} ${type} ${about} (${because}) ${JSON.stringify(data)}`);
    }
  }
}

/** The watch first, in the same moment: what it tells is held against what the tick thinks. */
async function watchAndTick(
  watcher: Watcher,
  isTickDue: boolean,
  tickNow: (causes: readonly string[]) => Promise<void>,
  tolerate: (error: unknown) => void,
): Promise<void> {
  let causes: readonly string[] = [];
  try {
    causes = await watcher.turn();
  } catch (error) {
    tolerate(error);
  }
  if (!isTickDue && causes.length === 0) return;
  try {
    await tickNow(causes);
    watcher.noteTick(null);
  } catch (error) {
    watcher.noteTick(messageOf(error));
    throw error;
  }
}

function wasTaken(said: unknown): boolean {
  return typeof said === "object" && said !== null && "kind" in said && said.kind === "taken";
}
