/** PROC-1: which processes that stand in a worktree may be ended: only what an agent or a check left there. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import { judgeStrays, type SeenProcess, type StandingProcess, strayLine, type Tenant } from "./stray.ts";

const OVER: Tenant = { label: "a#1", over: true, since: "100" };
const LIVING: Tenant = { label: "b#2", over: false, since: "500" };

function standing(more: Partial<StandingProcess> = {}): StandingProcess {
  const pid = more.pid ?? 50;
  const plain = { start: "200", parent: 1, session: pid, command: "sleep 600", place: "/w", terminal: false };
  return { pid, ...plain, personal: false, ...more };
}

const init: SeenProcess = { pid: 1, start: "0", parent: 0, session: 1, command: "init" };
const shell: SeenProcess = { pid: 40, start: "150", parent: 1, session: 40, command: "bash" };
const manager: SeenProcess = { ...shell, pid: 41, command: "/usr/lib/systemd/systemd --user" };

function fate(
  all: readonly StandingProcess[],
  tenants: readonly Tenant[] = [OVER],
  others: readonly SeenProcess[] = [],
) {
  const table = new Map([init, ...others, ...all].map((one) => [one.pid, one]));
  return judgeStrays(all, table, () => tenants);
}

describe("PROC-1", () => {
  const rows: [why: string, one: Partial<StandingProcess>, ends: boolean, because: RegExp, tenants?: Tenant[]][] = [
    ["left by one that has ended", {}, true, /a#1 has ended/],
    ["taken over by the manager of the user's session", { parent: 41 }, true, /has ended/],
    ["its session's leader is gone", { session: 49 }, true, /has ended/],
    ["on a terminal", { terminal: true }, false, /terminal/],
    ["an editor of the desktop", { personal: true }, false, /person's session/],
    ["in the session of a shell", { session: 40 }, false, /pid 40 leads/],
    ["started by a shell that runs", { parent: 40 }, false, /pid 40 started it/],
    ["older than the agent", { start: "99" }, false, /older than any agent/],
    ["of one at work", { start: "600" }, false, /b#2 is at work/, [OVER, LIVING]],
    ["of the one before, while another is at work in the same place", {}, true, /a#1 has ended/, [OVER, LIVING]],
    ["of nobody whose runner is known", {}, false, /older than any agent/, [{ ...OVER, since: null }]],
    ["with stamps that cannot be compared", { start: "Mon Nov 16" }, false, /older than any agent/],
    ["left by a check", {}, true, /a check has ended/, [{ label: "a check", over: true, since: "0" }]],
    ["of a check that runs", {}, false, /a check is at work/, [{ label: "a check", over: false, since: "0" }]],
  ];
  test.each(rows)("%s", (_why, one, ends, because, tenants = [OVER]) => {
    const [judged] = fate([standing(one)], tenants, [shell, manager]);
    expect(judged).toMatchObject({ ends, because: expect.stringMatching(because) });
    expect(judged && strayLine(judged)).toContain("pid 50 (sleep 600) in /w");
  });

  test("what belongs to one that stays, stays; what belongs to one that goes, goes", () => {
    const editor = standing({ pid: 60, personal: true });
    const server = standing({ pid: 61, parent: 60, session: 60 });
    const below = standing({ pid: 62, parent: 61, session: 60 });
    expect(fate([editor, server, below]).map(({ ends }) => ends)).toEqual([false, false, false]);
    const left = standing({ pid: 70 });
    const child = standing({ pid: 71, parent: 70, session: 70 });
    expect(fate([left, child]).map(({ ends }) => ends)).toEqual([true, true]);
  });

  test("whatever the table looks like, nobody on a terminal, of a person, or older than its agent is ended", () => {
    const some = fc.record({
      start: fc.nat(400).map(String),
      parent: fc.constantFrom(1, 40, 50, 51, 52, 53),
      session: fc.constantFrom(40, 50, 51, 52, 53, 99),
      terminal: fc.boolean(),
      personal: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(some, { minLength: 1, maxLength: 4 }), (all) => {
        const made = all.map((one, index) => standing({ ...one, pid: 50 + index }));
        const judged = fate(made, [OVER, LIVING], [shell]);
        expect(judged).toHaveLength(made.length);
        for (const one of judged.filter(({ ends }) => ends)) {
          expect(one.terminal || one.personal || Number(one.start) < 100).toBe(false);
          expect([one.parent, one.session]).not.toContain(40);
          const above = judged.filter(({ pid }) => pid === one.parent || pid === one.session);
          expect(above.every(({ ends }) => ends)).toBe(true);
        }
      }),
      { numRuns: scaled(200) },
    );
  });
});
