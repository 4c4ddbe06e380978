/** Who leads, as a table: on and off, first come, and what frees the place. */
import { expect, test } from "bun:test";
import type { EventOf } from "#domain/model/event.ts";
import { applyToLead, type LeadCondition, type LeadSession, nameHand, readHand } from "#domain/model/lead.ts";
import type { Message } from "#domain/model/message.ts";
import { ADA } from "../../../test/support/samples.ts";
import { claimLead, type LeadClaim, releaseLead, switchLeadOff, switchLeadOn } from "./lead.ts";

const session = (name: string, pid = 7): LeadSession => ({
  session: name,
  transcript: `/t/${name}.jsonl`,
  process: { pid, start: "1" },
});
const lead = (parts: Partial<LeadCondition> = {}): LeadCondition => ({
  ...{ conditionId: "lead", active: true, since: 1, updatedAt: 1, kind: "lead", cursor: 3, holder: null, before: null },
  ...parts,
});
const held = (name: string, pid = 7) => lead({ holder: { ...session(name, pid), at: 5 } });

test.each<[what: string, known: LeadCondition | undefined, isGone: boolean, claim: LeadClaim, events: string[]]>([
  ["nobody ever said so", undefined, false, { leads: false, other: null }, []],
  ["it is off", lead({ active: false }), false, { leads: false, other: null }, []],
  ["the place is free", lead(), false, { leads: true, anew: true }, ["first"]],
  ["it leads already", held("a"), false, { leads: true, anew: false }, []],
  ["it was resumed by another process", held("a", 8), false, { leads: true, anew: true }, ["resumed"]],
  ["another leads", held("b"), false, { leads: false, other: { ...session("b"), at: 5 } }, []],
  ["another led and is dead", held("b"), true, { leads: true, anew: true }, ["the-other-is-gone"]],
])("ORCH-1: a session that comes when %s", (_what, known, isGone, claim, because) => {
  const decided = claimLead(known, session("a"), isGone, ADA);
  expect(decided).toMatchObject({ ok: true, value: claim });
  expect(decided.ok && decided.events.map((event) => event.because)).toEqual(because);
});

test("ORCH-1: on is said once and begins at the end of the log; off takes Overseer's unseen letters along, not others'", () => {
  expect(switchLeadOn(undefined, 41, ADA)).toMatchObject({ value: true, events: [{ data: { cursor: 41 } }] });
  expect(switchLeadOn(lead(), 41, ADA)).toMatchObject({ value: false, events: [] });
  expect(switchLeadOff(undefined, [], ADA)).toMatchObject({ value: false, events: [] });
  const letters = [
    { messageId: "m_1", from: "overseer" },
    { messageId: "m_2", from: "builder-1" },
  ] as Message[];
  const off = switchLeadOff(held("a"), letters, ADA);
  expect(off.ok && off.events.map(({ type, data }) => [type, (data as { messageId?: string }).messageId])).toEqual([
    ["lead.off", undefined],
    ["message.expired", "m_1"],
  ]);
});

test("ORCH-1: only its own end frees the place", () => {
  expect(releaseLead(held("a"), "b", ADA)).toMatchObject({ value: false, events: [] });
  expect(releaseLead(held("a"), "a", ADA)).toMatchObject({ value: true, events: [{ type: "lead.released" }] });
});

test("ORCH-1: the session before is remembered until another has led, for what it was handed", () => {
  const fold = (known: LeadCondition, type: string, data: object) =>
    applyToLead(known, { type, data, at: 9 } as unknown as EventOf<"lead.taken">);
  const taken = fold(held("a"), "lead.taken", session("b"));
  expect([taken.holder?.session, taken.before?.session]).toEqual(["b", "a"]);
  const resumed = fold(taken, "lead.taken", session("b", 9));
  expect([resumed.holder?.process?.pid, resumed.before?.session]).toEqual([9, "a"]);
  const released = fold(taken, "lead.released", { session: "b" });
  expect([released.holder, released.before?.session]).toEqual([null, "b"]);
  expect(fold(released, "lead.taken", session("c")).before?.session).toBe("b");
});

test.each([
  [session("s-1", 12), { process: { pid: 12, start: "1" } }],
  [{ ...session("s-1"), process: null }, { process: null }],
])("RCPT-1: whom a letter was handed to is read from what it was handed as", (one, hand) => {
  expect(readHand(nameHand(one))).toEqual(hand);
});

test.each([null, "cli:12", "hook:Stop:1"])("RCPT-1: %p is no hand of a session that leads", (handedAs) => {
  expect(readHand(handedAs)).toBeUndefined();
});
