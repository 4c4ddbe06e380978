/** Who may be started: each limit as a table, and the pace of starts in virtual time. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Assignment } from "#domain/model/assignment.ts";
import { applyToAssignment } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { applyToAttempt, NO_USAGE } from "#domain/model/attempt.ts";
import type { Decision } from "#domain/model/decision.ts";
import type { EventOf } from "#domain/model/event.ts";
import { listTouched } from "#domain/model/fold.ts";
import { startPlan } from "../../../test/support/attempts.ts";
import { workerWith } from "../../../test/support/auto.ts";
import { ADA, T0 } from "../../../test/support/samples.ts";
import { scaled } from "../../../test/support/scale.ts";
import { allowed, assignmentWith, nodeWith, placed, refused, typesOf } from "../../../test/support/tree.ts";
import type { Admission, FleetLimits, FleetSeen, Room, Wanted } from "./admission.ts";
import { admit } from "./admission.ts";

const LIMITS: FleetLimits = { maxConcurrent: 5, maxDepth: 2, startsPerMinute: 10, staggerMs: 2_000 };
const GB = 1024 ** 3;
const ROOM: Room = {
  load: 0.5,
  maxLoad: 8,
  memoryBytes: 8 * GB,
  minMemoryBytes: GB,
  diskBytes: 50 * GB,
  minDiskBytes: 2 * GB,
};
const NODE = nodeWith("queued");

function wanted(plan: Partial<Wanted["plan"]> = {}): Wanted {
  return {
    plan: startPlan(plan),
    assignmentId: "A_NEW",
    dispatchId: "D_NEW",
    messageId: "m_NEW",
    instruction: "Do it.",
    instructionHash: "h",
    idleAfterMs: 600_000,
  };
}

function judged(
  seen: Partial<FleetSeen>,
  wish = wanted(),
  limits = LIMITS,
  room = ROOM,
  now = T0,
): Decision<Admission> {
  const fleet: FleetSeen = {
    node: NODE,
    history: [],
    living: [],
    promised: [],
    workers: [],
    recent: [],
    lastAttempt: 0,
    earlier: [],
    later: [],
    unseen: [],
    ...seen,
    atWork: seen.atWork ?? seen.living?.length ?? 0,
  };
  const places = (attempt: number, earlier: number) => ({
    branch: `overseer/${wish.plan.agent}/T1${earlier > 0 ? `-${attempt}` : ""}`,
    worktree: `/w/${attempt}`,
    logDir: `/l/${attempt}`,
  });
  return admit(fleet, wish, limits, room, places, { ...ADA, now });
}

function attempt(number: number, parts: Partial<Attempt> = {}): Attempt {
  const slung = allowed(judged({ lastAttempt: number - 1 }, wanted({ agent: `other-${number}` })));
  const event = slung.find((one) => one.type === "agent.slung");
  const made = event && applyToAttempt(undefined, placed(event));
  if (!made) throw new Error("no attempt");
  return { ...made, status: "running", ...parts };
}

function failed(number: number, endedAt: number): Attempt {
  const end = {
    cause: "failed_to_start",
    detail: "",
    exitCode: null,
    signal: null,
    usage: NO_USAGE,
    wip: null,
  } as const;
  return attempt(number, { status: "ended", end, endedAt, createdAt: endedAt });
}

function answer(decision: Decision<Admission>): Admission {
  if (!decision.ok) throw new Error(decision.refusal.message);
  return decision.value;
}

describe("an agent that may start", () => {
  test("SLING-1: the claim is one decision: assignment, node, attempt, dispatch and first instruction", () => {
    const decision = judged({ lastAttempt: 46 });
    expect(answer(decision)).toEqual({ admitted: true, attempt: 47 });
    expect(typesOf(decision)).toEqual([
      "assignment.created",
      "work.started",
      "agent.slung",
      "assignment.dispatched",
      "message.queued",
    ]);
    for (const event of allowed(decision).slice(2)) expect(event).toMatchObject({ attempt: 47, agent: "builder-1" });
  });

  test("DISP-2, DISP-3: in a session that did other work before, the dispatch is a send to that session", () => {
    const follows = { agent: "other-3", attempt: 3, session: "s3" };
    const before = attempt(3, { status: "ended", session: "s3" });
    const decision = judged({ lastAttempt: 3 }, wanted({ follows }));
    const [dispatched] = allowed(decision).filter((one) => one.type === "assignment.dispatched");
    expect(dispatched).toMatchObject({ because: "next-piece", data: { mode: "send", target: "other-3#3" } });
    const others: [Partial<FleetSeen>, boolean][] = [
      [{ later: [attempt(4, { session: "s4" })] }, true],
      [{ living: [{ ...before, status: "running" }] }, false],
      [{ later: [attempt(4, { status: "ended", session: "s3" })] }, false],
      [{ later: [attempt(4, { status: "ended", session: null, follows })] }, false],
    ];
    for (const [seen, isFree] of others) {
      const judgement = judged({ lastAttempt: 4, ...seen }, wanted({ follows }));
      expect([judgement.ok, judgement.ok || judgement.refusal.code]).toEqual([isFree, isFree || "SESSION_TAKEN"]);
    }
  });

  test("ASG-1, UPD-1: what the plan says of recovery and updates is in the assignment; an update moves the next one on", () => {
    const node = nodeWith("queued", { hints: { recoveryPolicy: "reassign" } });
    const events = allowed(judged({ node }, { ...wanted(), dueEveryMs: 60_000 })).map((one) => placed(one));
    const fold = (known: Assignment | undefined, event: EventOf) => applyToAssignment(known, event) ?? known;
    const made = events.filter(({ type }) => type.startsWith("assignment.")).reduce(fold, undefined);
    expect(made).toMatchObject({ recoveryPolicy: "reassign", dueEveryMs: 60_000, expectedNextUpdateAt: T0 + 60_000 });
    const update = { type: "update.taken", actor: "agent:a#1", assignmentId: "A_NEW", because: "reported" } as const;
    const taken = placed({ ...update, data: { via: "command", status: null, changed: true } }, T0 + 5_000);
    expect(fold(made, taken)).toMatchObject({ expectedNextUpdateAt: T0 + 65_000 });
    expect(listTouched(taken)).toEqual([{ kind: "assignment", id: "A_NEW" }]);
    const plain = allowed(judged({}))
      .map((one) => placed(one))
      .reduce(fold, undefined);
    expect(plain && fold(plain, taken)).toBe(plain);
  });

  test("FAIL-5: one that continues with an earlier attempt says so, and is given what that one never saw", () => {
    const message = { messageId: "m_OLD", kind: "instruction", from: "human:ada", body: "Mind the draught." } as const;
    const decision = judged({ lastAttempt: 46 }, { ...wanted({ continues: 46 }), carried: [message] });
    const events = allowed(decision);
    expect(events.find((event) => event.type === "agent.slung")).toMatchObject({
      because: "restarted",
      data: { continues: 46 },
    });
    const queued = events.filter((event) => event.type === "message.queued");
    expect(queued).toMatchObject([
      { attempt: 47, because: "restarted", data: { dispatchId: "D_NEW" } },
      { attempt: 47, because: "carried-over", data: { ...message, dispatchId: null } },
    ]);
  });

  test("SLING-1: the branch carries the number from the second attempt on", () => {
    const branchOf = (decision: Decision<Admission>) =>
      allowed(decision).flatMap((event) => (event.type === "agent.slung" ? [event.data.branch] : []));
    expect(branchOf(judged({ lastAttempt: 1 }))).toEqual(["overseer/builder-1/T1"]);
    expect(branchOf(judged({ lastAttempt: 1, earlier: [attempt(1, { status: "ended" })] }))).toEqual([
      "overseer/builder-1/T1-2",
    ]);
  });
});

describe("an agent that may not", () => {
  const promised = (workNodeId: string) => ({ agent: "builder-1", goalId: NODE.goalId, workNodeId });
  const scoped = (number: number, scope: string[]) => attempt(number, { scope });
  test.each<[string, string, Partial<FleetSeen>, Partial<Wanted["plan"]>, Partial<Room>]>([
    ["a name with odd characters", "NAME_INVALID", {}, { agent: "Bob!" }, {}],
    ["an empty name", "NAME_INVALID", {}, { agent: "" }, {}],
    ["a name that begins with a digit", "NAME_INVALID", {}, { agent: "1a" }, {}],
    ["a name of 32 characters", "NAME_INVALID", {}, { agent: "a".repeat(32) }, {}],
    ["a name somebody living has", "NAME_TAKEN", { living: [attempt(1, { agent: "builder-1" })] }, {}, {}],
    ["a name that is to be started again elsewhere", "NAME_TAKEN", { promised: [promised("T9")] }, {}, {}],
    ["a third level", "TOO_DEEP", {}, { depth: 2 }, {}],
    ["a full fleet", "FLEET_FULL", { living: [1, 2, 3, 4, 5].map((number) => attempt(number)) }, {}, {}],
    ["files of another", "SCOPE_TAKEN", { living: [scoped(1, ["src"])] }, { scope: ["src/a.ts"] }, {}],
    ["a busy machine", "NO_ROOM", {}, {}, { load: 8.1 }],
    ["short memory", "NO_ROOM", {}, {}, { memoryBytes: GB - 1 }],
    ["a full disk", "NO_ROOM", {}, {}, { diskBytes: 2 * GB - 1 }],
    ["a node that is done", "NODE_NOT_READY", { node: nodeWith("done") }, {}, {}],
    ["a node that somebody has", "NODE_TAKEN", { history: [assignmentWith()], node: nodeWith("in_progress") }, {}, {}],
  ])("CAP-1: %s is refused with %s and a next step", (_what, code, seen, plan, room) => {
    const refusal = refused(judged(seen, wanted(plan), LIMITS, { ...ROOM, ...room }));
    expect(refusal.code).toBe(code);
    expect(refusal.hint).not.toBe("");
  });

  test.each<[string, Partial<FleetSeen>, Partial<Wanted["plan"]>, Partial<Room>]>([
    ["the longest name", {}, { agent: "a".repeat(31) }, {}],
    ["a name promised to this very node", { promised: [promised(NODE.workNodeId)] }, {}, {}],
    [
      "AUTO-3: a worker's place, whoever is to come back under its name",
      { promised: [{ ...promised("T9"), agent: "auto-1" }] },
      { agent: "auto-1" },
      {},
    ],
    [
      "AUTO-3: a worker's place beside a full fleet, a standing one's too",
      { living: [1, 2, 3, 4, 5].map((number) => attempt(number)), workers: [workerWith("ben")] },
      { agent: "ben" },
      {},
    ],
    ["a name whose owner has ended", { living: [], recent: [] }, { agent: "builder-1" }, {}],
    ["depth 0", {}, { depth: 0 }, {}],
    ["depth 1", {}, { depth: 1 }, {}],
    ["the last free place", { living: [1, 2, 3, 4].map((number) => attempt(number)) }, {}, {}],
    ["files beside another's", { living: [scoped(1, ["src/a"])] }, { scope: ["src/b"] }, {}],
    ["no scope beside a scope", { living: [scoped(1, ["src"])] }, { scope: null }, {}],
    ["a scope beside one without", { living: [attempt(1)] }, { scope: ["src"] }, {}],
    ["exactly as much as must stay free", {}, {}, { load: 8, memoryBytes: GB, diskBytes: 2 * GB }],
  ])("CAP-1: %s is allowed", (_what, seen, plan, room) => {
    expect(answer(judged(seen, wanted(plan), LIMITS, { ...ROOM, ...room })).admitted).toBe(true);
  });

  test("SLING-2: with maxDepth 3 a third level is allowed and a fourth is not", () => {
    const deep = { ...LIMITS, maxDepth: 3 };
    expect(answer(judged({}, wanted({ depth: 2 }), deep)).admitted).toBe(true);
    expect(refused(judged({}, wanted({ depth: 3 }), deep)).code).toBe("TOO_DEEP");
  });
});

describe("the pace of starts", () => {
  test.each([
    ["right after another", [0], 2_000],
    ["half-way through the pause", [1_500], 500],
    ["when the pause has ended", [2_000], 0],
    ["ten within a minute", [50_000, 40_000, 30_000, 25_000, 20_000, 15_000, 12_000, 9_000, 6_000, 3_000], 10_000],
    [
      "the tenth of them a minute ago",
      [60_000, 40_000, 30_000, 25_000, 20_000, 15_000, 12_000, 9_000, 6_000, 3_000],
      0,
    ],
    ["in the same moment as another process", [-1], 2_000],
    ["after the clock was set back by a day", [-86_400_000], 0],
    ["after ten were started under a clock that was a year ahead", Array<number>(10).fill(-31_536_000_000), 0],
    ["nine within a minute", [40_000, 30_000, 25_000, 20_000, 15_000, 12_000, 9_000, 6_000, 3_000], 0],
  ])("SLING-2: %s it waits as long as it must", (_when, ages, waitMs) => {
    const recent = ages.map((age, index) => attempt(index + 1, { createdAt: T0 - age }));
    const decision = judged({ recent });
    if (waitMs === 0) expect(answer(decision).admitted).toBe(true);
    else {
      expect(answer(decision)).toMatchObject({ admitted: false, waitMs, because: expect.any(String) });
      expect(allowed(decision)).toEqual([]);
    }
  });

  test("SLING-2: whoever waits as told is admitted in the end, never too close, never too many in a minute", () => {
    const limits = fc.record({
      maxConcurrent: fc.constant(1000),
      maxDepth: fc.constant(2),
      startsPerMinute: fc.integer({ min: 1, max: 12 }),
      staggerMs: fc.integer({ min: 0, max: 9_000 }),
    });
    fc.assert(
      fc.property(limits, fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 25 }), (limit, gaps) => {
        const starts: number[] = [];
        let now = T0;
        for (const gap of gaps) {
          now += gap;
          for (let asked = 0; ; asked += 1) {
            expect(asked).toBeLessThan(3);
            const recent = starts
              .filter((at) => at >= now - 60_000)
              .map((createdAt, index) => attempt(index + 1, { createdAt }));
            const said = answer(judged({ recent }, wanted(), limit, ROOM, now));
            if (said.admitted) break;
            expect(said.waitMs).toBeGreaterThan(0);
            now += said.waitMs;
          }
          const last = starts.at(-1);
          if (last !== undefined) expect(now - last).toBeGreaterThanOrEqual(limit.staggerMs);
          starts.push(now);
          expect(starts.filter((at) => at > now - 60_000).length).toBeLessThanOrEqual(limit.startsPerMinute);
        }
      }),
      { numRuns: scaled(100) },
    );
  });

  test.each([
    [1, 0],
    [2, 2_000],
    [3, 4_000],
    [4, 8_000],
    [12, 60_000],
  ])("SLING-2: after %p failed starts on a task the next one waits %p ms", (failures, waitMs) => {
    const earlier = Array.from({ length: failures }, (_, index) => failed(index + 1, T0));
    const said = answer(judged({ earlier }));
    expect(said.admitted).toBe(waitMs === 0);
    if (!said.admitted) expect(said.waitMs).toBe(waitMs);
    expect(answer(judged({ earlier }, wanted(), LIMITS, ROOM, T0 + waitMs)).admitted).toBe(true);
  });

  test("SLING-2: a start that worked, and failures of other tasks, end the waiting", () => {
    const worked = attempt(3, { status: "ended", endedAt: T0, createdAt: T0 });
    expect(answer(judged({ earlier: [failed(1, T0), failed(2, T0), worked] })).admitted).toBe(true);
    const elsewhere = [failed(1, T0), failed(2, T0)].map((one) => ({ ...one, goalId: "goal_B" }));
    expect(answer(judged({ earlier: elsewhere })).admitted).toBe(true);
  });
});
