/** Who leads, as a table: on and off, first come, and what frees the place. */
import { expect, test } from "bun:test";
import type { EventOf } from "#domain/model/event.ts";
import { applyToLead, type LeadCondition, type LeadSession, nameHand, readHand } from "#domain/model/lead.ts";
import type { Message } from "#domain/model/message.ts";
import { ADA } from "../../../test/support/samples.ts";
import { claimLead, findCli, isLongSilent, type LeadClaim, releaseLead, switchLeadOff, switchLeadOn } from "./lead.ts";

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

const unseen = (name: string) => lead({ holder: { ...session(name), process: null, at: 5 } });

test.each<[what: string, known: LeadCondition | undefined, isGone: boolean, claim: LeadClaim, events: string[]]>([
  ["nobody ever said so", undefined, false, { leads: false, other: null }, []],
  ["it is off", lead({ active: false }), false, { leads: false, other: null }, []],
  ["the place is free", lead(), false, { leads: true, anew: true }, ["first"]],
  ["it leads already", held("a"), false, { leads: true, anew: false }, []],
  ["it was resumed by another process", held("a", 8), true, { leads: true, anew: true }, ["resumed"]],
  ["it is open twice", held("a", 8), false, { leads: false, other: { ...session("a", 8), at: 5 } }, []],
  ["its process was not known", unseen("a"), false, { leads: true, anew: true }, ["resumed"]],
  ["its process had another", held("b"), false, { leads: true, anew: true }, ["in-its-place"]],
  ["another leads", held("b", 8), false, { leads: false, other: { ...session("b", 8), at: 5 } }, []],
  ["one leads that cannot be seen", unseen("b"), false, { leads: false, other: unseen("b").holder as never }, []],
  ["another led and is dead", held("b", 8), true, { leads: true, anew: true }, ["the-other-is-gone"]],
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
  expect(releaseLead(held("a"), session("b"), ADA)).toMatchObject({ value: false, events: [] });
  expect(releaseLead(held("a"), session("a", 8), ADA)).toMatchObject({ value: false, events: [] });
  expect(releaseLead(held("a"), session("a"), ADA)).toMatchObject({ value: true, events: [{ type: "lead.released" }] });
  expect(releaseLead(unseen("a"), session("a"), ADA)).toMatchObject({ value: true });
});

test.each([
  [0, undefined, 3_599_999, false],
  [0, undefined, 3_600_000, true],
  [0, 2_000_000, 3_600_000, false],
  [0, 2_000_000, 5_600_000, true],
])("ORCH-1: heard of at %p, written at %p, at %p it is silent: %p", (heard, written, now, silent) => {
  expect(isLongSilent(heard, written, now)).toBe(silent);
});

test.each([
  ["claude --resume", 3],
  ["/home/ada/.local/bin/claude", 3],
  ["node /usr/bin/claude -c", 3],
  ["/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe -c", 3],
  ["node /lib/@anthropic-ai/claude-code/cli.js", 3],
  ["bash /home/ada/claude/run", undefined],
  ["vim claude", undefined],
  ["claude-monitor", undefined],
])("ORCH-1: the CLI of a hook below %p", (command, found) => {
  const processes = [
    { pid: 1, parent: 0, command: "init" },
    { pid: 2, parent: 1, command: "zsh" },
    { pid: 3, parent: 2, command },
    { pid: 4, parent: 3, command: "/bin/sh -c claude-hook" },
    { pid: 5, parent: 4, command: "overseer lead hook Stop" },
    { pid: 6, parent: 2, command: "claude" },
  ];
  expect(findCli(processes, 5)).toBe(found as number | undefined);
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
  expect(fold(released, "lead.off", {}).before?.session).toBe("b");
  expect(fold(taken, "lead.off", {}).before?.session).toBe("b");
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
