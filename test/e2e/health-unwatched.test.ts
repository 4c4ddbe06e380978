/** What `health`, `diagnoses`, `stats` and `status` say of agents that have ended, and while nobody looks at agents. */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { bundled } from "../support/cli.ts";
import { Fleet } from "../support/fleet.ts";
import { tail } from "../support/nine-tasks.ts";
import { say } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let fleet: Fleet;
afterEach(() => fleet.end());

interface Told {
  readonly agent: string;
  readonly unwatched: string | null;
  readonly judgedAt: string;
}

const told = async () => JSON.parse(await fleet.ok("health", "--json")) as Told[];

test("HEALTH-1, WATCH-1, STAT-1: one that has ended is told as ended, and judgements that nobody renews say how old they are", async () => {
  fleet = await Fleet.make({ more: "watch: {every: 100ms}\n" });
  const quiet = await fleet.sling("quiet", [
    { kind: "run", command: "echo a word" },
    { kind: "edit", file: "a.txt", content: "a\n" },
    say("I think about it."),
  ]);
  const spared = await fleet.sling("spared", [say("I think, too.")], "--no-nudge");
  for (const { attempt } of [quiet, spared]) await fleet.turns(attempt, 1);
  await fleet.ok("up");
  for (const until = Date.now() + 60_000; (await told()).length < 2; await Bun.sleep(50)) {
    if (Date.now() > until) throw new Error(`the first look\n${tail(fleet)}`);
  }
  expect((await told()).map(({ agent, unwatched }) => [agent, unwatched])).toEqual([
    ["quiet", null],
    ["spared", null],
  ]);
  const all = await fleet.ok("health");
  expect(all).toMatch(/^AGENT +STATE/);
  expect(all).toContain("(not nudged: it was slung so)");
  expect(await fleet.ok("health", "spared")).toContain("It is not nudged: it was slung so.");

  // Which commands it ran, and what of its work was progress.
  const one = await fleet.ok("health", "quiet");
  expect(one).toContain("“echo a word”");
  expect(one).toMatch(/last completed step .* ago, last progress .* ago/);
  const { snapshot } = JSON.parse(await fleet.ok("health", "quiet", "--json")) as {
    snapshot: { lastProgressAt: string; lastChangeAt: string; lastStepAt: string };
  };
  expect(snapshot.lastProgressAt).toBe(snapshot.lastChangeAt);
  const still = JSON.parse(await fleet.ok("health", "spared", "--json")) as { snapshot: object };
  expect(still.snapshot).toMatchObject({ lastProgressAt: null, lastStepAt: expect.any(String) });

  const { daemon } = JSON.parse(await fleet.ok("status", "--json")) as {
    daemon: { lastTickAt: string; rings: { ring: string; lastAt: string }[] };
  };
  expect(daemon.rings.find(({ ring }) => ring === "tick")?.lastAt).toBe(daemon.lastTickAt);

  await fleet.ok("stop", "quiet", "--reason", "not needed");
  expect(await fleet.ok("health", "quiet")).toMatch(/ended at .* UTC \(not needed\); this was the last look:/);
  expect(JSON.parse(await fleet.ok("health", "quiet", "--json"))).toMatchObject({
    ...{ status: "ended", phase: "terminated", recommendation: null },
    ended: { at: expect.any(String), why: "not needed" },
  });

  await fleet.ok("down");
  expect(await fleet.ok("health")).toMatch(/^No daemon runs; judged last at \d{4}-.* UTC\.\nAGENT/);
  expect(await fleet.ok("health", "spared")).toMatch(/^No daemon runs; judged last at /);
  expect(await fleet.ok("diagnoses")).toMatch(/^No daemon runs; judged last at /);
  expect(await told()).toMatchObject([{ agent: "spared", unwatched: "No daemon runs", judgedAt: expect.any(String) }]);
  for (const [limit, said] of [
    ["0", "--limit is 0."],
    ["-3", "not negative"],
  ] as const) {
    const refused = await fleet.run("diagnoses", `--limit=${limit}`);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(said)]);
  }

  await fleet.ok("up", "--no-supervision");
  expect(await fleet.ok("health")).toMatch(/^The daemon runs without supervision: nobody is watched; judged last at /);
  expect(await fleet.ok("status")).toContain("without supervision: nothing is dispatched, watched or recovered");
  expect(await fleet.ok("stats")).toMatch(/ {2}watch +off/);
});
