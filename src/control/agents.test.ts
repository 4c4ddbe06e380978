/** The verbs that act on an agent, each beside an end that is recorded while the verb is under way. */
import { describe, expect, test } from "bun:test";
import { recordEnd } from "#act/attempt-end/record-end.ts";
import { OverseerError } from "#errors.ts";
import { virtualProcesses } from "#sim/virtual-processes.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { memoryStore } from "#store/memory.ts";
import type { Store } from "#store/store.ts";
import { FakeProcesses, FakeTerminal } from "#terminals/fake.ts";
import { addRunning } from "../../test/support/attempts.ts";
import { worldOn } from "../../test/support/world.ts";
import { agent, agents, attachCommand, findAgent, nukeAgent, pauseAgent, resumeAgent, stopAgent } from "./agents.ts";
import { nudge } from "./mail/send.ts";
import { restart } from "./restart.ts";
import { readFleetStatus } from "./status.ts";
import type { World } from "./world.ts";

/** A world with one agent at work, which ends after so many calls of the store, and when somebody waits for it. */
async function worldWhereItEnds(afterCalls: number): Promise<World> {
  const store = memoryStore();
  const base = worldOn(store);
  const processes = virtualProcesses();
  const runner = processes.spawn();
  await addRunning(store, 1, runner);
  const end = async () => {
    const { one } = await store.read({ one: attemptByNumber(1) });
    if (one) await recordEnd(base, one, "finished", "It was done.", null);
    processes.exit(runner.pid);
  };
  let calls = 0;
  const after = async <T>(outcome: Promise<T>): Promise<T> => {
    const value = await outcome;
    calls += 1;
    if (calls === afterCalls) await end();
    return value;
  };
  const racing: Store = {
    ...store,
    read: (reads) => after(store.read(reads)),
    commit: (commit) => after(store.commit(commit)),
  };
  const terminal = new FakeTerminal({ clock: base.clock, processes: new FakeProcesses(), program: () => {} });
  return {
    ...base,
    processes,
    clock: { ...base.clock, sleep: end },
    terminal: async () => terminal,
    reader: async () => racing,
    writer: async () => racing,
  };
}

const named = async (world: World) => (await findAgent(world, "agent-0")).attempt;

const VERBS: readonly (readonly [string, (world: World) => Promise<unknown>, readonly string[]])[] = [
  ["stop", async (world) => stopAgent(world, await named(world), null), []],
  ["pause", async (world) => pauseAgent(world, await named(world), { now: false, reason: null }), ["AGENT_ENDED"]],
  ["resume", async (world) => resumeAgent(world, await named(world), null), ["AGENT_ENDED", "ATTEMPT_MOVE_FORBIDDEN"]],
  ["nudge", (world) => nudge(world, "agent-0", { text: "Look.", severity: "hint" }), ["AGENT_ENDED"]],
  ["attach", (world) => attachCommand(world, "agent-0"), ["AGENT_ENDED", "NO_TERMINAL"]],
  // There is no git here to take a worktree away or to continue in it; whom it is about is known all the same.
  ["nuke", async (world) => nukeAgent(world, await named(world), { reason: null, discard: false }), ["GIT_MISSING"]],
  ["restart", (world) => restart(world, "agent-0", null), ["NOTHING_TO_GO_ON_WITH"]],
];

describe("FAIL-5: an agent that ends between the moment it is named and the moment something is done to it", () => {
  test.each(VERBS)("%s knows whom it means, at whatever point that happens", async (_verb, act, allowed) => {
    for (const afterCalls of [1, 2, 3, 4, 5, 6]) {
      const world = await worldWhereItEnds(afterCalls);
      const failed = await act(world).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failed === undefined) continue;
      if (!(failed instanceof OverseerError)) throw failed;
      expect([afterCalls, failed.code, allowed.includes(failed.code)]).toEqual([afterCalls, failed.code, true]);
    }
  });
});

test("STATUS-1: what an agent does is said in the same words by status, agents and one agent", async () => {
  const world = await worldWhereItEnds(0);
  const [listed] = await agents(world);
  expect(listed).toMatchObject({ seen: "idle", doing: "waiting for its first answer" });
  expect((await agent(world, "agent-0")).current?.doing).toBe(listed?.doing);
  expect((await readFleetStatus(world)).agents[0]?.doing).toBe(listed?.doing);
});

test("DEAD-1: an agent that ends while it is looked at is never told as dead", async () => {
  for (const afterCalls of [1, 2, 3]) {
    const { agents: rows, standstills } = await readFleetStatus(await worldWhereItEnds(afterCalls));
    expect(rows.map(({ seen }) => seen)).not.toContain("dead");
    expect(standstills.map(({ kind }) => kind)).not.toContain("agent-dead");
    const listed = await agents(await worldWhereItEnds(afterCalls), { all: true });
    expect(listed.map(({ seen }) => seen)).not.toContain("dead");
  }
});
