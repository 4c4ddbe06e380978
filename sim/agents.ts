/**
 * Agents that are played: each is a short script of beats, one for every step of the simulation, chosen by its kind:
 * diligent, slow, thinking, silent, looping, lying, repeating, flooding, crashing, out of quota, asking, forgetful,
 * leaving, wedged in a command, blocked by what only a person can solve. They speak as real ones do, by signals, reports and commits, and take their messages by the real way. Each
 * keeps beside it what is true of it, so that the invariants can compare what Overseer believes with what is.
 */

import { dirname } from "node:path";
import { findBroken, keepUncommitted, recordBroken, type WorkPlace } from "#act/attempt-end/keep-work.ts";
import { launchFilePath, wipLimits } from "#act/attempt-files.ts";
import { takeForAttempt } from "#act/messages/take-messages.ts";
import { takeFields } from "#act/updates/take-update.ts";
import type { World } from "#control/world.ts";
import { endAttempt } from "#domain/agents/attempt-end.ts";
import type { ToolKind } from "#domain/core/tools.ts";
import type { Attempt, EndCause } from "#domain/model/attempt.ts";
import { attemptEvent, confirmStart, isLiving, NO_USAGE, recordLeg } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import type { Message } from "#domain/model/message.ts";
import { isWorthTurn } from "#domain/model/message.ts";
import type { AgentUpdate } from "#domain/reports/update.ts";
import { blockerOf } from "#domain/signals/reflex.ts";
import { NEW_COURSE } from "#domain/signals/reflex-course.ts";
import type { Signal, SignalData, SignalKind } from "#domain/signals/signal.ts";
import { OverseerError } from "#errors.ts";
import { assignmentById } from "#store/assignments.ts";
import { attemptByNumber, parentAttemptOf } from "#store/attempts.ts";
import { waitingMessages } from "#store/messages.ts";
import { pulseOf } from "#store/signals.ts";
import { nodeById } from "#store/work.ts";
import type { Chance } from "#sys/chance.ts";
import type { ProcessIdentity } from "#sys/processes.ts";
import { type Machine, type ProviderDown, sessionPath } from "./machine.ts";

export const BEHAVIOURS = [
  "diligent",
  "slow",
  "thinking",
  "silent",
  "looping",
  "lying",
  "repeating",
  "flooding",
  "crashing",
  "quota",
  "asking",
  "forgetful",
  "leaving",
  "wedged",
] as const;
/** The last is not drawn among the others but apart (run.ts), so that courses without it stay as they are. */
export type Behaviour = (typeof BEHAVIOURS)[number] | "blocked";

type Beat =
  | "work"
  | "share"
  | "rest"
  | "think"
  | "spoil"
  | "commit"
  | "merge"
  | "done"
  | "ask"
  | "quota"
  | "crash"
  | "hang"
  | "wedge"
  | "loop"
  | "flood"
  | "refuse"
  | "insist"
  | "turn-over"
  | "leave";

const MINUTE = 60_000;
const NOTHING_TAKEN = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const THINGS_TO_LEARN = 12;
/** So many times a CLI tries again where nobody answers. */
const PATIENCE_OF_CLI = 10;

/** What any of them does once it was told again: this time it does it right. */
const AFRESH = (): Beat[] => ["work", "commit", "merge", "done"];
/** How often one that repeats itself says done again before it does anything else. */
const MOST_REPEATS = 5;

/** What is true of an agent, whatever Overseer believes. */
export interface Truth {
  /** By the clock that never jumps: when it last did something. */
  lastActAt: number;
  /** The latest moment of the wall clock at which it did something. */
  lastActWall: number;
  /** It has put a question and was not answered yet. */
  asking: boolean;
  /** Its provider answers it again from then on, by the clock of the machine's boot: providers have clocks of their own. */
  parkedUntil: number | null;
  /** It has met again what only a person can solve, as its runner wrote down, and no person has. */
  blocked: boolean;
  /** It met the failing of its provider, and has had no answer since. */
  failedByProvider: boolean;
  /** It never will do anything again by itself. */
  stuck: boolean;
  readonly commits: string[];
}

export type Say = (world: World, attempt: number, update: AgentUpdate) => Promise<unknown>;

export class VirtualAgent {
  readonly truth: Truth = {
    lastActAt: 0,
    lastActWall: 0,
    asking: false,
    blocked: false,
    parkedUntil: null,
    failedByProvider: false,
    stuck: false,
    commits: [],
  };
  private beats: Beat[];
  private up = false;
  private inTurn = false;
  private told = false;
  private repeats = 0;
  private heardInterrupt = 0;
  private signals = 0;
  private busy = false;
  private known: Attempt | undefined;
  /** It has met a refusal; and what its runner wrote down of it. */
  private refused = false;
  private blocker: string | null = null;
  /** The session it is in: its own, or one that others were in before. */
  session: string | null = null;

  constructor(
    private readonly machine: Machine,
    private readonly world: World,
    readonly attempt: number,
    readonly process: ProcessIdentity,
    readonly kind: Behaviour,
    private readonly chance: Chance,
    /** How it reports; the real way unless a test of the simulator says otherwise. */
    private readonly say: Say = takeFields,
    /** It finds out while it works that something fails, and what works instead. */
    private readonly isLearning = false,
  ) {
    this.beats = script(kind, chance);
  }

  /** Its process is there. */
  get alive(): boolean {
    return this.machine.processes.alive(this.process);
  }

  /** A tool of it runs. */
  get isInCall(): boolean {
    return this.thinking !== null;
  }

  /** What cannot wait for its next step: to say hello, and to stop. */
  async attend(): Promise<void> {
    if (this.busy || !this.alive) return;
    this.busy = true;
    try {
      const attempt = await this.now();
      if (attempt && !this.up) await this.hello();
      else if (!attempt || !isLiving(attempt)) this.vanish();
      else if (attempt.stopRequested !== null) await this.end("stopped", "Stopped.");
    } finally {
      this.busy = false;
    }
  }

  async step(): Promise<void> {
    await this.attend();
    if (!this.alive || !this.up || this.busy) return;
    this.busy = true;
    try {
      const attempt = this.known;
      if (attempt && isLiving(attempt)) await this.live(attempt);
    } finally {
      this.busy = false;
    }
  }

  private async now(): Promise<Attempt | undefined> {
    this.known = (await this.machine.store.read({ one: attemptByNumber(this.attempt) })).one;
    return this.known;
  }

  private async hello(): Promise<void> {
    const outcome = await this.machine.store.commit({
      at: this.machine.clock.now(),
      reads: { attempt: attemptByNumber(this.attempt) },
      decide: ({ attempt }) =>
        confirmStart(attempt, this.attempt, { runner: this.process, launchHash: attempt?.launchHash }, this.moment()),
    });
    this.up = outcome.ok;
    if (!outcome.ok) return this.vanish();
    await this.enterSession();
  }

  /** Its CLI begins or resumes the session that its runner was told of, and keeps it on disk; some get lost there. */
  private async enterSession(): Promise<void> {
    const { files, store } = this.machine;
    const launch = files.readNow(launchFilePath(this.world, this.attempt));
    if (launch === undefined) return;
    const { session } = JSON.parse(launch) as { readonly session: string };
    this.session = session;
    const path = sessionPath(session);
    await files.makeDir(dirname(path));
    if (this.attempt % 5 !== 0) await files.write(path, `${session}\n`);
    await store.commit({
      at: this.machine.clock.now(),
      reads: { attempt: attemptByNumber(this.attempt) },
      decide: ({ attempt }) => recordLeg(attempt, this.attempt, { process: this.process, session }, this.moment()),
    });
  }

  private async live(attempt: Attempt): Promise<void> {
    if ((attempt.interruptRequestedAt ?? 0) > this.heardInterrupt) {
      this.heardInterrupt = attempt.interruptRequestedAt ?? 0;
      this.breakOff();
      await this.compareWorktree(attempt);
    }
    if (attempt.status === "paused") {
      if (this.inTurn && attempt.pausedNow) this.breakOff();
      return;
    }
    if (this.truth.parkedUntil !== null && this.machine.clock.monotonic() >= this.truth.parkedUntil) {
      this.truth.parkedUntil = null;
    }
    await this.hear(attempt);
    if (!this.inTurn) return;
    if (this.truth.parkedUntil !== null) return this.giveUpTurn(this.truth.parkedUntil);
    // One that hangs, or whose tool runs, asks its model nothing.
    const asks = this.beats[0] !== "hang" && this.thinking === null;
    const down = asks ? this.machine.provider : null;
    if (down) return this.failByProvider(down);
    this.truth.failedByProvider = false;
    this.retries = 0;
    await this.play(attempt, this.beats.shift() ?? "turn-over");
    if (this.refused) await this.noteBlocker();
    if (!this.inTurn) await this.compareWorktree(attempt);
  }

  /** What its runner writes down of its course (runner/course-watch.ts). */
  private async noteBlocker(): Promise<void> {
    const { pulse } = await this.machine.store.read({ pulse: pulseOf(this.attempt) });
    const met = blockerOf(pulse?.course ?? NEW_COURSE);
    const what = met?.what ?? null;
    if (what === this.blocker) return;
    const data = { what, fact: met?.fact ?? "" };
    const outcome = await this.machine.store.commit({
      at: this.machine.clock.now(),
      reads: { now: attemptByNumber(this.attempt) },
      decide: ({ now }) =>
        now && isLiving(now)
          ? accept([attemptEvent(now, "overseer", "agent.blocked", what ?? "past", data)], true)
          : accept([], false),
    });
    if (!outcome.ok || !outcome.value) return;
    this.blocker = what;
    this.truth.blocked = what !== null;
  }

  /** Takes what waits, at a boundary; one that hangs is only woken by what is said loudest. */
  private async hear(attempt: Attempt): Promise<void> {
    const { waiting } = await this.machine.store.read({ waiting: waitingMessages(this.attempt) });
    if (this.inTurn ? waiting.length === 0 : !waiting.some(isWorthTurn)) return;
    if (this.truth.stuck) {
      const loud = waiting.some((message) => message.tone === "critical");
      if (!loud || this.chance.next() < 0.5) return;
      this.truth.stuck = false;
      this.beats = AFRESH();
    }
    const { handed } = await takeForAttempt(this.machine.store, this.attempt, {
      handedAs: this.machine.ids.next("h_"),
      because: "at-a-boundary",
      capBytes: this.machine.config.inbox.injectionCap,
      now: this.machine.clock.now(),
      midTurn: this.inTurn,
    });
    if (handed.length === 0) return;
    await this.recordSeen(attempt, handed);
    const answered = handed.some((message) => message.body.includes("was answered"));
    if (answered) this.truth.asking = false;
    if (answered && this.truth.blocked) {
      this.truth.blocked = false;
      this.beats = AFRESH();
    }
    if (this.inTurn) return;
    if (this.truth.asking) return;
    this.emit("turn.started", { by: "message" });
    this.inTurn = true;
    if (this.told && this.beats.length === 0) this.beats = this.reply();
    this.told = true;
  }

  /** What it does about what it was told: it does it right, or says once more that it is done. */
  private reply(): Beat[] {
    if (this.kind !== "repeating" || this.repeats >= MOST_REPEATS) return AFRESH();
    this.repeats += 1;
    return ["done"];
  }

  /** What it was handed it has seen: its stream echoes it. */
  private async recordSeen(attempt: Attempt, handed: readonly Message[]): Promise<void> {
    await this.machine.store.commit({
      at: this.machine.clock.now(),
      reads: { now: attemptByNumber(this.attempt), assignment: assignmentById(attempt.assignmentId) },
      decide: ({ now, assignment }) => {
        if (!now || !isLiving(now)) return accept([], null);
        const events = handed.flatMap((message) => {
          const receipt = attemptEvent(now, "overseer", "message.seen", "echoed", { messageId: message.messageId });
          if (message.dispatchId === null) return [receipt];
          const data = { dispatchId: message.dispatchId, result: "ok", runId: "session", notes: "" } as const;
          return [receipt, attemptEvent(now, "overseer", "assignment.delivered", "echoed", data)];
        });
        if (assignment?.status === "dispatched") {
          events.push(attemptEvent(now, "overseer", "assignment.active", "agent-answered", { reason: null }));
        }
        return accept(events, null);
      },
    });
  }

  /** Its provider has no more for it, and says until when by the clock on the wall. */
  private giveUpTurn(parkedUntil: number): void {
    const { clock } = this.machine;
    const resetsAt = clock.now() + parkedUntil - clock.monotonic();
    this.emit("api.failed", { cause: "quota", detail: "limit", resetsAt });
    this.emit("turn.ended", { ok: false, reason: "api_error", text: "", costUsd: null });
    this.inTurn = false;
    this.beats = AFRESH();
  }

  /** Its CLI tries again a few times and gives the turn up, or goes on trying where nobody answers. */
  private failByProvider({ cause, answers }: ProviderDown): void {
    this.truth.failedByProvider = true;
    this.retries += 1;
    if (this.retries < (answers ? 1 + (this.attempt % 3) : PATIENCE_OF_CLI)) {
      this.emit("api.retry", { attempt: this.retries, cause: answers ? cause : "unknown", delayMs: 1_000 });
      return;
    }
    this.retries = 0;
    this.emit("api.failed", { cause, detail: `It says: ${cause}.`, resetsAt: null });
    this.emit("turn.ended", { ok: false, reason: "api_error", text: "", costUsd: null });
    this.inTurn = false;
    this.truth.stuck = false;
    if (this.beats.length === 0) this.beats = AFRESH();
  }

  private async play(attempt: Attempt, beat: Beat): Promise<void> {
    const { git } = this.machine;
    // Whatever it was to do, it cannot commit before a person has seen to it.
    if (this.truth.blocked && (beat === "commit" || beat === "merge" || beat === "done")) {
      this.beats = ["turn-over"];
      return this.meetRefusal();
    }
    // A part keeps to the files that the whole had to itself.
    const named = attempt.scope === null ? attempt.workNodeId : attempt.workNodeId.split(".")[0];
    const file = `src/${attempt.goalId}-${named}.txt`;
    switch (beat) {
      case "work":
      case "share":
        if (this.isLearning) this.findOut();
        this.tool("edit", `${this.signals}`);
        // Whoever has files to itself keeps to them.
        git.edit(
          attempt.worktree,
          beat === "share" && attempt.scope === null ? "src/shared.txt" : file,
          `good ${this.attempt} ${this.signals}`,
        );
        return;
      case "spoil":
        this.tool("edit", `${this.signals}`);
        git.edit(attempt.worktree, file, `broken ${this.attempt} ${this.signals}`);
        return;
      case "rest":
        return;
      case "think":
        if (this.beats[0] !== "think") this.endTool();
        else if (this.thinking === null) this.startTool("shell", "long");
        return;
      case "commit":
        this.tool("shell", `${this.refused ? "git commit -m" : "commit"} ${this.signals}`);
        return this.commit(attempt);
      case "merge": {
        this.tool("shell", `merge ${this.signals}`);
        const merged = git.mergeMain(attempt.worktree);
        if (merged !== undefined) this.truth.commits.push(merged);
        return;
      }
      case "done":
        await this.report(attempt, { status: "done", summary: `It works, says #${this.attempt}.` });
        return this.turnOver();
      case "ask":
        this.truth.asking = true;
        await this.report(attempt, {
          status: "blocked",
          summary: "It waits.",
          question: { text: `Which way, asks #${this.attempt}?`, options: ["left", "right"] },
        });
        return this.turnOver();
      case "quota":
        this.truth.parkedUntil = this.machine.clock.monotonic() + 15 * MINUTE;
        return this.giveUpTurn(this.truth.parkedUntil);
      case "crash":
        return this.vanish();
      case "hang":
        this.truth.stuck = true;
        this.beats.unshift("hang");
        return;
      case "wedge":
        // Its command never ends, and does nothing.
        if (this.thinking === null) this.startTool("shell", "for ever");
        this.truth.stuck = true;
        this.beats.unshift("wedge");
        return;
      case "loop":
        this.truth.stuck = true;
        this.beats.unshift("loop");
        this.tool("shell", "the same");
        return;
      case "flood":
        for (let count = 0; count < 40; count += 1) this.emit("noise", { text: "…" });
        this.tool("edit", `${this.signals}`);
        git.edit(attempt.worktree, file, `good ${this.attempt} ${this.signals}`);
        return;
      case "refuse":
        return this.meetRefusal();
      case "insist":
        if (this.truth.blocked) this.beats.unshift("insist");
        return this.meetRefusal();
      case "turn-over":
        return this.turnOver();
      case "leave":
        return this.end("finished", "It left.");
    }
  }

  private retries = 0;
  private thinking: string | null = null;
  private does: ToolKind = "shell";

  private commit(attempt: Attempt): void {
    const commit = this.machine.git.commitAll(attempt.worktree, `${attempt.workNodeId} by #${this.attempt}`);
    if (commit === undefined) return;
    this.truth.commits.push(commit);
    const commits = [{ commit, subject: attempt.workNodeId }];
    this.emit("committed", { from: attempt.base, to: commit, count: 1, commits });
  }

  private async report(attempt: Attempt, update: AgentUpdate): Promise<void> {
    await this.say(this.world, this.attempt, { ...update, goalId: attempt.goalId, workNodeId: attempt.workNodeId });
    this.noteActivity();
  }

  /** A report of it that comes when everybody else has moved on. */
  async reportLate(): Promise<unknown> {
    const attempt = this.known;
    if (!attempt) return undefined;
    const update: AgentUpdate = { status: "done", summary: `Late, says #${this.attempt}.` };
    return this.say(this.world, this.attempt, { ...update, goalId: attempt.goalId, workNodeId: attempt.workNodeId });
  }

  private turnOver(): void {
    this.emit("usage", { ...NOTHING_TAKEN, contextTokens: (this.attempt % 4) * 40_000, contextWindow: 200_000 });
    this.emit("turn.ended", { ok: true, reason: "completed", text: "So far.", costUsd: 0.01 });
    this.inTurn = false;
  }

  private breakOff(): void {
    if (!this.inTurn) return;
    this.endTool();
    this.emit("turn.ended", { ok: false, reason: "aborted", text: "", costUsd: null });
    this.inTurn = false;
    this.truth.stuck = false;
    this.retries = 0;
    this.beats = this.chance.next() < 0.5 ? AFRESH() : script(this.kind, this.chance);
  }

  private tool(does: ToolKind, args: string): void {
    this.startTool(does, args);
    this.endTool();
  }

  private startTool(does: ToolKind, args: string): void {
    this.thinking = `t${this.signals}`;
    this.does = does;
    this.emit("tool.started", { tool: does, does, argsHash: args, args, sub: null }, this.thinking);
  }

  private finds = 0;

  /** Others find out the same. */
  private findOut(): void {
    const name = `gen-${(this.attempt * 3 + this.finds) % THINGS_TO_LEARN}`;
    this.finds += 1;
    this.startTool("shell", JSON.stringify({ command: `npm run ${name}` }));
    this.endTool(`Error: ${name} wants MODE to be set`);
    this.tool("shell", JSON.stringify({ command: `MODE=${name} npm run ${name}` }));
  }

  /** A person would have to unlock a key for it; it finds other words each time. */
  private meetRefusal(): void {
    this.refused = true;
    this.startTool("shell", `git commit -m ${this.signals}`);
    this.endTool("error: gpg failed to sign the data");
  }

  private endTool(failure?: string): void {
    if (this.thinking === null) return;
    const how = { ok: failure === undefined, errorClass: failure === undefined ? null : "exit 128" };
    const data = { tool: this.does, does: this.does, ...how, ms: 5, result: failure ?? "ok" };
    this.emit("tool.ended", data, this.thinking);
    this.thinking = null;
  }

  private emit<K extends SignalKind>(kind: K, data: SignalData[K], source = `s${this.signals}`): void {
    this.signals += 1;
    const signal = { kind, source, phase: kind, at: this.machine.clock.now(), data } as unknown as Signal;
    void this.machine.store.signals.record(this.attempt, this.known?.agent ?? "", [signal, signal]);
    if (kind !== "api.retry") this.noteActivity();
  }

  private noteActivity(): void {
    this.machine.processes.work(this.process);
    this.truth.lastActAt = this.machine.clock.monotonic();
    this.truth.lastActWall = Math.max(this.truth.lastActWall, this.machine.clock.now());
  }

  /** The process is gone, without a word. */
  vanish(): void {
    this.machine.processes.end(this.process);
  }

  private async end(cause: EndCause, detail: string): Promise<void> {
    const attempt = this.known;
    if (!attempt) return this.vanish();
    const wip = await this.keep(attempt);
    const end = { cause, detail, exitCode: 0, signal: null, usage: NO_USAGE, wip };
    await this.machine.store.commit({
      at: this.machine.clock.now(),
      reads: {
        now: attemptByNumber(this.attempt),
        node: nodeById(attempt.goalId, attempt.workNodeId),
        assignment: assignmentById(attempt.assignmentId),
        waiting: waitingMessages(this.attempt),
        parent: parentAttemptOf(this.attempt),
      },
      decide: ({ now, ...around }) => endAttempt(now, around, end, this.moment()),
    });
    this.vanish();
  }

  /** Somebody spoils git's own files of its worktree. */
  loseWorktree(): void {
    if (this.known) this.machine.git.breakWorktree(this.known.worktree);
  }

  /** What its runner looks at after a turn (runner/run.ts). */
  private async compareWorktree(attempt: Attempt): Promise<void> {
    if (attempt.brokenWorktree || !this.machine.git.isBroken(attempt.worktree)) return;
    const broken = await findBroken(this.world.git, this.placeOf(attempt), false);
    if (broken) await recordBroken(this.world, this.attempt, broken);
  }

  private placeOf(attempt: Attempt): WorkPlace {
    return { ...attempt, commonDir: this.world.root.gitCommonDir, limits: wipLimits(this.machine.config) };
  }

  private async keep(attempt: Attempt): Promise<string | null> {
    try {
      const { wip, broken } = await keepUncommitted(this.world.git, this.placeOf(attempt));
      if (broken) await recordBroken(this.world, this.attempt, broken);
      return wip;
    } catch (error) {
      if (error instanceof OverseerError) return null; // its worktree is not there any more
      throw error;
    }
  }

  private moment() {
    return { now: this.machine.clock.now(), actor: "overseer" } as const;
  }
}

/** What one of that kind does, beat by beat. */
function script(kind: Behaviour, chance: Chance): Beat[] {
  const some = (beat: Beat, least: number, most: number): Beat[] =>
    Array.from({ length: least + Math.floor(chance.next() * (most - least + 1)) }, () => beat);
  const finish: Beat[] = ["commit", "done"];
  /** It stops and waits, tries on and on, or does other things until it is long ago and then finds a way of its own. */
  const afterRefusal = (): Beat[] => {
    const how = chance.next();
    return how < 0.4 ? ["turn-over"] : how < 0.75 ? ["insist"] : [...some("work", 7, 9), ...finish];
  };
  switch (kind) {
    case "diligent":
      return [...some("work", 1, 4), ...(chance.next() < 0.2 ? (["share"] as const) : []), ...finish];
    case "slow":
      return ["work", ...some("rest", 1, 3), "work", ...some("rest", 1, 3), "work", ...finish];
    case "thinking":
      return ["work", ...some("think", 8, 20), "work", ...finish];
    case "silent":
      return [...some("work", 0, 2), "hang"];
    case "looping":
      return ["work", "loop"];
    case "lying":
      return chance.next() < 0.5 ? ["done"] : ["spoil", ...finish];
    case "repeating":
      return [chance.next() < 0.5 ? "spoil" : "share", ...finish];
    case "flooding":
      return [...some("flood", 1, 3), ...finish];
    case "crashing":
      return [...some("work", 1, 2), ...(chance.next() < 0.5 ? (["commit"] as const) : []), "crash"];
    case "quota":
      return ["work", "quota"];
    case "asking":
      return ["work", "ask", "work", ...finish];
    case "forgetful":
      return ["work", "commit", "turn-over"];
    case "leaving":
      return ["work", "leave"];
    case "wedged":
      return ["work", "wedge"];
    case "blocked":
      return ["work", "refuse", ...some("work", 0, 2), "refuse", ...afterRefusal()];
  }
}
