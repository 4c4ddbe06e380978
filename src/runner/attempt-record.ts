/**
 * The attempt's own entry in the store, as its runner reads and writes it. Every write is fenced here: to an attempt
 * that has ended nothing can be added, except that somebody tried (FENCE-1).
 */
import { type BrokenWorktree, recordBroken } from "#act/attempt-end/keep-work.ts";
import { type FencedBecause, recordFenced } from "#act/fence.ts";
import { endAttempt } from "#domain/agents/attempt-end.ts";
import type { Actor, Moment } from "#domain/core/actor.ts";
import type { Refusal } from "#domain/core/refusal.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import type { Attempt, AttemptEnd, ProcessMark, StartedRunner } from "#domain/model/attempt.ts";
import { confirmStart, recordLeg } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { EventData } from "#domain/model/event.ts";
import type { Message } from "#domain/model/message.ts";
import { noteCheckoutChange } from "#domain/reports/checkout-change.ts";
import { findUnpermitted } from "#domain/reports/unpermitted.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import { assignmentById, openQuestions } from "#store/assignments.ts";
import { attemptByNumber, parentAttemptOf } from "#store/attempts.ts";
import { eventsMatching } from "#store/events.ts";
import { theFleet } from "#store/fleet.ts";
import { waitingMessages } from "#store/messages.ts";
import type { PlacedSignal } from "#store/signals.ts";
import { pulseOf, signalsAfter } from "#store/signals.ts";
import type { Store } from "#store/store.ts";
import { nodeById } from "#store/work.ts";
import type { Clock } from "#sys/clock.ts";
import type { LaunchFile } from "./launch-file.ts";

/** More than land during one turn. */
const LANDINGS_LOOKED_AT = 50;

type Which = Pick<LaunchFile, "attempt" | "goalId" | "nodeId" | "assignmentId">;

export interface AttemptNow {
  readonly attempt: Attempt | undefined;
  readonly waiting: readonly Message[];
  /** FREEZE-1: nothing is handed over until the fleet is thawed. */
  readonly frozen: boolean;
}

export class AttemptRecord {
  private known: { readonly mark: number; readonly now: AttemptNow } | undefined;
  private followed: { readonly mark: number; readonly place: number } | undefined;

  constructor(
    private readonly store: Pick<Store, "commit" | "read" | "changeMark">,
    private readonly clock: Clock,
    private readonly which: Which,
  ) {}

  /** IDLE-1: looked at again and again, so it is read only when something was written since. */
  async now(): Promise<AttemptNow> {
    const mark = await this.store.changeMark();
    if (this.known?.mark === mark) return this.known.now;
    const { fleet, ...seen } = await this.store.read({
      attempt: attemptByNumber(this.which.attempt),
      waiting: waitingMessages(this.which.attempt),
      fleet: theFleet(),
    });
    const now = { ...seen, frozen: fleet?.status === "frozen" };
    this.known = { mark, now }; // the mark is older than what was read, never younger
    return now;
  }

  /** The pulse as hooks and runner have written it. */
  async pulse(): Promise<Pulse | undefined> {
    return (await this.store.read({ pulse: pulseOf(this.which.attempt) })).pulse;
  }

  /** What anybody recorded of it after that place, a page at a time. */
  async signalsAfter(place: number): Promise<readonly PlacedSignal[]> {
    const mark = await this.store.changeMark();
    if (this.followed?.mark === mark && this.followed.place === place) return [];
    const { signals } = await this.store.read({ signals: signalsAfter(this.which.attempt, place, 500) });
    if (signals.length === 0) this.followed = { mark, place };
    return signals;
  }

  /** Says hello; a refusal when it comes too late. */
  async confirm(hello: StartedRunner): Promise<Refusal | undefined> {
    const outcome = await this.store.commit({
      at: this.clock.now(),
      reads: { attempt: attemptByNumber(this.which.attempt) },
      decide: ({ attempt }) => confirmStart(attempt, this.which.attempt, hello, this.moment()),
    });
    return outcome.ok ? undefined : outcome.refusal;
  }

  async legStarted(process: ProcessMark, session: string): Promise<void> {
    await this.store.commit({
      at: this.clock.now(),
      reads: { attempt: attemptByNumber(this.which.attempt) },
      decide: ({ attempt }) => recordLeg(attempt, this.which.attempt, { process, session }, this.moment()),
    });
  }

  /** False when the attempt has ended, and then nothing was written. */
  async commit(
    decide: (
      attempt: Attempt,
      seen: { readonly assignment: Assignment | undefined; readonly waiting: readonly Message[] },
    ) => Decision<null>,
  ): Promise<boolean> {
    let living = false;
    const outcome = await this.store.commit({
      at: this.clock.now(),
      reads: {
        attempt: attemptByNumber(this.which.attempt),
        assignment: assignmentById(this.which.assignmentId),
        waiting: waitingMessages(this.which.attempt),
      },
      decide: ({ attempt, ...seen }): Decision<null> => {
        living = attempt !== undefined && attempt.status !== "ended";
        return living && attempt ? decide(attempt, seen) : accept([], null);
      },
    });
    return outcome.ok && living;
  }

  /** Comes back when the store can be written again: what is still in memory is lost once the attempt has ended. */
  async writable(): Promise<void> {
    await this.commit(() => accept([], null));
  }

  /** FENCE-1: somebody spoke for this attempt who may not. */
  async recordFence(what: string, because: FencedBecause): Promise<void> {
    await recordFenced(this.store, { attempt: this.which.attempt, what, because, now: this.clock.now() });
  }

  /** SERENA-2: the user's checkout is another than before its turn. */
  async checkoutChanged(
    changed: EventData["checkout.changed"],
    found: Parameters<typeof noteCheckoutChange>[2],
  ): Promise<"noted" | "ours" | undefined> {
    const lately = { newest: true, limit: LANDINGS_LOOKED_AT } as const;
    const outcome = await this.store.commit({
      at: this.clock.now(),
      reads: {
        attempt: attemptByNumber(this.which.attempt),
        questions: openQuestions(),
        landings: eventsMatching({ type: "landing.landed", ...lately }),
        // The branch is moved before that is written down, and prepared before it is moved.
        preparations: eventsMatching({ type: "landing.prepared", ...lately }),
      },
      decide: ({ attempt, questions, landings, preparations }): Decision<"noted" | "ours" | undefined> => {
        if (!attempt || attempt.status === "ended") return accept([], undefined);
        const landed = [...landings, ...preparations].flatMap((event) =>
          event.type === "landing.landed" || event.type === "landing.prepared" ? [event.data.to] : [],
        );
        return noteCheckoutChange({ attempt, questions, landed }, changed, found, this.moment());
      },
    });
    return outcome.ok ? outcome.value : undefined;
  }

  /** FAIL-11: nobody can work in its worktree. */
  async recordBroken(broken: BrokenWorktree): Promise<void> {
    await recordBroken({ writer: async () => this.store, clock: this.clock }, this.which.attempt, broken);
  }

  /** HOOK-3: it made a call that nobody had judged. */
  async recordUnpermitted(call: { readonly id: string; readonly tool: string }, questionId: string): Promise<void> {
    const { attempt: number, goalId, nodeId } = this.which;
    await this.store.commit({
      at: this.clock.now(),
      reads: { attempt: attemptByNumber(number), node: nodeById(goalId, nodeId), questions: openQuestions() },
      decide: ({ attempt, ...around }): Decision<null> =>
        attempt && attempt.status !== "ended"
          ? findUnpermitted({ attempt, ...around }, call, questionId, this.moment())
          : accept([], null),
    });
  }

  async end(end: AttemptEnd): Promise<void> {
    const { attempt: number, goalId, nodeId, assignmentId } = this.which;
    await this.store.commit({
      at: this.clock.now(),
      reads: {
        attempt: attemptByNumber(number),
        node: nodeById(goalId, nodeId),
        assignment: assignmentById(assignmentId),
        waiting: waitingMessages(number),
        parent: parentAttemptOf(number),
      },
      decide: ({ attempt, ...around }) => endAttempt(attempt, around, end, this.moment()),
    });
  }

  private moment(actor: Actor = "overseer"): Moment {
    return { now: this.clock.now(), actor };
  }
}
