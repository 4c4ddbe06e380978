/** Where messages go, and what becomes of them: the rules of the inbox, row by row. */
import { describe, expect, test } from "bun:test";
import { endAttempt } from "#domain/agents/attempt-end.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { applyToAttempt, NO_USAGE } from "#domain/model/attempt.ts";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import type { Letter, Message, MessageKind, MessageStatus } from "#domain/model/message.ts";
import { applyToMessage, MESSAGE_KINDS } from "#domain/model/message.ts";
import { addressOf, membersOf } from "./addresses.ts";
import type { KnownRecipient } from "./mailing.ts";
import {
  afterEnd,
  beginWaiting,
  expiryEvents,
  handOver,
  inherit,
  MOST_HANDS,
  markSeen,
  overdue,
  requeueEvents,
  routeTo,
} from "./mailing.ts";
import { outcomeId } from "./outcome.ts";

const MOMENT = { now: 1_000, actor: "human:ada" } as const;

function attempt(parts: Partial<Attempt> = {}): Attempt {
  const base = {
    agent: "worker",
    attempt: 7,
    goalId: "goal_x",
    workNodeId: "T1",
    assignmentId: "A_1",
    capability: "builder",
  };
  const life = { status: "running", startedAt: 1, parent: null, stopRequested: null, waiting: null, branch: "b/1" };
  return { ...base, ...life, ...parts } as unknown as Attempt;
}

function message(parts: Partial<Message> = {}): Message {
  const data: Letter = { messageId: "m_1", kind: "mail", from: "lead", body: "Hello.", dispatchId: null };
  const event = { type: "message.queued", seq: 1, at: 1, agent: "worker", attempt: 7, data } as unknown as EventOf;
  const made = applyToMessage(undefined, event);
  if (!made) throw new Error("no message");
  return { ...made, ...parts };
}

const typesOf = (events: readonly NewEvent[]) => events.map((event) => event.type);

describe("MAIL-1: an address", () => {
  const rows: [typed: string, kind: string | undefined][] = [
    ["builder-1", "agent"],
    ["builder-1#47", "agent"],
    ["human", "person"],
    ["orchestrator", "person"],
    ["@all", "group"],
    ["@builders", "group"],
    ["@", undefined],
    ["Builder", undefined],
    ["", undefined],
    ["a b", undefined],
  ];
  test.each(rows)("%p is of the kind %p", (typed, kind) => {
    expect(addressOf(typed)?.kind).toBe(kind as "agent");
  });

  test("MAIL-4: a group means those at work, by capability, and never the sender", () => {
    const fleet = [
      attempt(),
      attempt({ agent: "lead", capability: "lead" }),
      attempt({ agent: "b", capability: "builder" }),
    ];
    const names = (group: string) => membersOf(group, fleet, "b").map((one) => one.agent);
    expect(names("all")).toEqual(["worker", "lead"]);
    expect(names("builders")).toEqual(["worker"]);
    expect(names("leads")).toEqual(["lead"]);
    expect(names("scouts")).toEqual([]);
  });
});

describe("MAIL-1: a name that is written to", () => {
  const living = attempt();
  const over = attempt({ status: "ended" });
  const heir = attempt({ agent: "heir", attempt: 9 });
  const lead = attempt({ agent: "lead", attempt: 2 });
  const nobody: KnownRecipient = {
    last: undefined,
    holder: undefined,
    parent: undefined,
    node: undefined,
    livingNames: ["worker"],
  };
  const open = { status: "queued" };
  const rows: [why: string, known: Partial<KnownRecipient>, to: string, note: RegExp | null][] = [
    ["the living one gets it", { last: living, node: open }, "worker", null],
    [
      "of one that has ended, whoever works on its node",
      { last: over, holder: heir, parent: lead, node: open },
      "heir",
      /continues/,
    ],
    [
      "of one that died, whoever will continue with its node",
      { last: over, parent: lead, node: open },
      "worker",
      /whoever continues/,
    ],
    [
      "of one that finished, whoever asked for it",
      { last: over, parent: lead, node: { status: "done" } },
      "lead",
      /asked for it/,
    ],
  ];
  test.each(rows)("%s", (_why, known, to, note) => {
    const route = routeTo("worker", { ...nobody, ...known });
    if (!route.ok) throw new Error(route.refusal.message);
    expect(route.value.box.agent).toBe(to);
    if (note === null) expect(route.value.note).toBeNull();
    else expect(route.value.note).toMatch(note);
  });

  test("of one that finished and was asked for by nobody who lives, it is refused with the next step", () => {
    const route = routeTo("worker", { ...nobody, last: over, node: { status: "done" } });
    expect(route).toMatchObject({ ok: false, refusal: { kind: "conflict", code: "RECIPIENT_FINISHED" } });
  });

  test("a name that nobody ever had is refused, and the nearest is named", () => {
    const route = routeTo("worke", nobody);
    expect(route).toMatchObject({ ok: false, refusal: { kind: "not-found", hint: expect.stringContaining("worker") } });
  });
});

describe("RCPT-1: receipts", () => {
  test("each message handed over has its own, under the one id of that handing", () => {
    const events = handOver(
      attempt(),
      { messages: [message(), message({ messageId: "m_2" })], handedAs: "u", left: 0 },
      "x",
    );
    expect(events.map((event) => event.data)).toEqual([
      { messageId: "m_1", handedAs: "u" },
      { messageId: "m_2", handedAs: "u" },
    ]);
  });

  test("INJ-4: what did not fit is announced, so that it is not told again at once", () => {
    const [, announced] = handOver(attempt(), { messages: [message()], handedAs: "u", left: 3 }, "x");
    expect(announced).toMatchObject({ type: "agent.announced", data: { left: 3 } });
    const known = applyToAttempt(attempt(), { ...announced, seq: 40, at: 1, v: 1 } as EventOf);
    expect(known?.announced).toBe(40);
  });

  test("seen is written once", () => {
    const all = (["queued", "handed", "seen", "expired"] as MessageStatus[]).map((status) => message({ status }));
    expect(markSeen(all, "overseer", "echoed")).toHaveLength(2);
  });

  test("EDGE-2: what was handed over without a trace waits again, and after too many times is a dead letter", () => {
    const rows = [1, MOST_HANDS - 1, MOST_HANDS].map((hands) => message({ status: "handed", hands }));
    expect(typesOf(requeueEvents(rows, "x"))).toEqual([
      "message.requeued",
      "message.requeued",
      "message.dead_lettered",
    ]);
    expect(requeueEvents([message()], "x")).toEqual([]);
  });

  test("only what has a time to live expires, and never while it is in somebody's hands", () => {
    const old = { expiresAt: 500 };
    const all = [message(), message(old), message({ ...old, status: "handed" }), message({ expiresAt: 2_000 })];
    expect(overdue(all, 1_000)).toEqual([all[1] as Message]);
    expect(typesOf(expiryEvents(overdue(all, 1_000)))).toEqual(["message.expired"]);
  });
});

describe("when an attempt ends", () => {
  const fate = (kind: MessageKind, status: MessageStatus, node: string | undefined) =>
    typesOf(afterEnd([message({ kind, status })], node === undefined ? undefined : { status: node }, "overseer"));

  test.each(MESSAGE_KINDS)("RCPT-1, EDGE-2: %s", (kind) => {
    const stays = kind === "mail" || kind === "sync";
    expect(fate(kind, "queued", "in_progress")).toEqual(stays ? [] : ["message.expired"]);
    expect(fate(kind, "handed", "in_progress")).toEqual([stays ? "message.requeued" : "message.expired"]);
    expect(fate(kind, "queued", "done")).toEqual([stays ? "message.dead_lettered" : "message.expired"]);
    expect(fate(kind, "seen", "done")).toEqual([]);
  });

  test("whoever continues with the work gets the mail and the syncs that nobody saw", () => {
    const all = MESSAGE_KINDS.map((kind) => message({ kind, messageId: `m_${kind}` }));
    const heir = attempt({ agent: "heir", attempt: 9 });
    const events = inherit(heir, [...all, message({ messageId: "m_h", status: "handed" })], "overseer");
    expect(events.map((event) => ("messageId" in event.data ? event.data.messageId : ""))).toEqual([
      "m_mail",
      "m_sync",
    ]);
    expect(events[0]).toMatchObject({ type: "message.moved", agent: "heir", attempt: 9 });
  });
});

describe("TELL-1: whoever asked for work hears how it ended", () => {
  const END = { cause: "died", detail: "Gone.", exitCode: null, signal: null, usage: NO_USAGE, wip: null } as const;
  const lead = attempt({ agent: "lead", attempt: 2 });
  const child = attempt({ parent: { agent: "lead", attempt: 2 } });
  const around = { node: { status: "in_progress" }, assignment: { status: "active" }, waiting: [], parent: lead };
  const told = (events: Parameters<typeof endAttempt>) => {
    const decision = endAttempt(...events);
    return decision.ok ? decision.events.filter((event) => event.type === "message.queued") : [];
  };

  test("the lead gets one mail from Overseer, in the commit that ends the assignment", () => {
    const [mail, ...more] = told([child, around, END, MOMENT]);
    expect(more).toEqual([]);
    expect(mail).toMatchObject({
      agent: "lead",
      attempt: 2,
      data: { messageId: outcomeId("A_1"), kind: "mail", from: "overseer", type: "error", subject: "worker#7 died" },
    });
  });

  const rows: [why: string, parts: Partial<Attempt>, around: object, to: string | undefined][] = [
    [
      "nobody of one that a person started: people see it in status",
      { parent: null },
      { parent: undefined },
      undefined,
    ],
    [
      "nobody of what was reported done: that is told when it has landed",
      {},
      { node: { status: "in_progress", claim: { attempt: 7 } } },
      undefined,
    ],
    ["where the lead has ended, the person", {}, { parent: { ...lead, status: "ended" } }, "human"],
    ["nobody twice: an assignment that has ended was told of", {}, { assignment: { status: "done" } }, undefined],
    ["nobody of one that never came up: its starter heard it", { startedAt: null }, {}, undefined],
    [
      "the lead, also when a person stopped it",
      { stopRequested: { by: "human:ada", reason: null, at: 1 } },
      {},
      "lead",
    ],
  ];
  test.each(rows)("%s", (_why, parts, more, to) => {
    const events = told([
      attempt({ parent: { agent: "lead", attempt: 2 }, ...parts }),
      { ...around, ...more },
      END,
      MOMENT,
    ]);
    expect(events.map((event) => event.agent)).toEqual(to === undefined ? [] : [to]);
  });

  test("done work is told as done, whatever became of the session", () => {
    const [mail] = told([child, { ...around, node: { status: "done" } }, { ...END, cause: "stopped" }, MOMENT]);
    expect(mail?.data).toMatchObject({ type: "result", subject: "worker#7 is done" });
  });
});

describe("WAIT-1: waiting is a state, and the arrival ends it", () => {
  const wish = { on: ["b"], unseen: 0, living: ["worker", "b"] };
  test("it waits on those it names", () => {
    const decision = beginWaiting(attempt(), 7, wish, MOMENT);
    expect(decision).toMatchObject({ ok: true, value: { waits: true } });
    const [event] = decision.ok ? decision.events : [];
    const known = applyToAttempt(attempt(), { ...event, seq: 1, at: 5, v: 1 } as EventOf);
    expect(known?.waiting).toEqual({ on: ["b"], since: 5 });
    const woken = handOver(known ?? attempt(), { messages: [message()], handedAs: "u", left: 0 }, "x").at(-1);
    expect(woken).toMatchObject({ type: "agent.woken", data: { by: "m_1" } });
    expect(applyToAttempt(known, { ...woken, seq: 2, at: 6, v: 1 } as EventOf)?.waiting).toBeNull();
  });
  test("what is there already is not waited for", () => {
    expect(beginWaiting(attempt(), 7, { ...wish, unseen: 1 }, MOMENT)).toMatchObject({
      ok: true,
      events: [],
      value: { waits: false },
    });
  });
  test("nor is somebody who is gone", () => {
    expect(beginWaiting(attempt(), 7, { ...wish, living: [] }, MOMENT)).toMatchObject({
      ok: false,
      refusal: { code: "NOBODY_TO_WAIT_FOR" },
    });
  });
  test("FENCE-1: an attempt that has ended waits for nothing", () => {
    expect(beginWaiting(attempt({ status: "ended" }), 7, wish, MOMENT).ok).toBe(false);
  });
});
