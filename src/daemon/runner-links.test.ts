import { describe, expect, test } from "bun:test";
import type { Attempt } from "#domain/model/attempt.ts";
import { virtualProcesses } from "#sim/virtual-processes.ts";
import type { ProcessIdentity } from "#sys/processes.ts";
import { adoptionOf } from "./adoption.ts";
import type { Peer } from "./rpc-server.ts";
import { RunnerLinks } from "./runner-links.ts";

function stage() {
  const processes = virtualProcesses();
  const poked: number[] = [];
  const lost: number[] = [];
  const looks: string[] = [];
  const links = new RunnerLinks({
    processes,
    wake: async (attempt) => poked.push(attempt),
    onRunnerLost: (attempt) => lost.push(attempt),
    lookSoon: () => looks.push("soon"),
  });
  return { processes, links, poked, lost, looks };
}

function peer(): Peer & { readonly told: string[] } {
  const told: string[] = [];
  return { backlog: 0, told, notify: (method) => told.push(method), close: () => {} };
}

const living = (attempt: number, runner: ProcessIdentity | null) =>
  ({ attempt, agent: `agent-${attempt}`, runner, slinger: { pid: 1, start: "0" } }) as unknown as Attempt;

describe("a runner's line", () => {
  test("its end is the news of its death, told once", async () => {
    const { processes, links, lost } = stage();
    const runner = processes.spawn();
    const line = peer();
    expect(links.join(line, { attempt: 4, ...runner })).toBe(true);
    links.expect([living(4, runner)]);
    processes.exit(runner.pid);
    links.leave(line);
    await links.look();
    expect(lost).toEqual([4]);
  });

  test("a line that ends before its process does is no death yet; the next look after it is", async () => {
    const { processes, links, lost, looks } = stage();
    const runner = processes.spawn();
    const line = peer();
    links.join(line, { attempt: 4, ...runner });
    links.expect([living(4, runner)]);
    links.leave(line);
    await links.look();
    expect([lost, looks]).toEqual([[], ["soon"]]);
    processes.exit(runner.pid, { zombie: true });
    await links.look();
    await links.look();
    expect(lost).toEqual([4]);
  });

  test("whoever claims to be a process that is not there is turned away", () => {
    const { links } = stage();
    expect(links.join(peer(), { attempt: 4, pid: 4_000, start: "x" })).toBe(false);
    expect(links.connected).toBe(0);
  });

  test("one that connected twice is not gone with the first of its lines", () => {
    const { processes, links, lost } = stage();
    const runner = processes.spawn();
    const [first, second] = [peer(), peer()];
    links.join(first, { attempt: 4, ...runner });
    links.join(second, { attempt: 4, ...runner });
    links.leave(first);
    expect(lost).toEqual([]);
    expect(links.tell(4)).toBe(true);
    expect(second.told).toEqual(["look"]);
    expect(links.tell(5)).toBe(false);
  });
});

describe("a runner without a line", () => {
  test("is poked now and then, and its death is seen by its pid, once", async () => {
    const { processes, links, poked, lost } = stage();
    const runner = processes.spawn();
    links.expect([living(4, runner), living(5, null)]);
    for (let look = 0; look < 61; look += 1) await links.look();
    expect(poked).toEqual([4, 4, 4]);
    processes.exit(runner.pid);
    await links.look();
    await links.look();
    expect(lost).toEqual([4]);
  });

  test("a pid that belongs to somebody else now is not it", async () => {
    const { processes, links, lost } = stage();
    const runner = processes.spawn();
    links.expect([living(4, runner)]);
    processes.exit(runner.pid);
    processes.spawn({ pid: runner.pid });
    await links.look();
    expect(lost).toEqual([4]);
  });
});

test("ADOPT-1: who lives is adopted by pid and start time, who does not is named", () => {
  const { processes } = stage();
  const here = processes.spawn();
  const gone = processes.spawn();
  processes.exit(gone.pid);
  processes.spawn({ pid: gone.pid });
  expect(adoptionOf([living(1, here), living(2, gone)], processes)).toEqual({
    agents: [{ agent: "agent-1", attempt: 1, pid: here.pid }],
    lost: [{ agent: "agent-2", attempt: 2 }],
  });
});
