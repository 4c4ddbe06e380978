/**
 * MULCH-1, LEARN-1 and PRIME-1 as agents meet them: what they are told when they begin and when they ask again, by a real mulch and
 * our own store; and that a broken mulch is seen and holds nobody up.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { noteOffered, offerExpertise } from "#act/expertise.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { memoryStore } from "#store/memory.ts";
import { bundled, OVERSEER } from "../support/cli.ts";
import type { Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { bodyWith, foundEvent } from "../support/learnings.ts";
import { tempDir } from "../support/temp.ts";
import { worldOn } from "../support/world.ts";

setDefaultTimeout(60_000);
beforeAll(bundled);

const TOOLS = join(import.meta.dir, "../../node_modules/.bin");
const fleetOf = endedFleets({ terminal: "detached" });

const pageOf = (fleet: Fleet, { attempt }: Attempt) =>
  readFileSync(`${fleet.state}/run/attempts/${attempt}/system-prompt.md`, "utf8");
const sling = (fleet: Fleet, name: string, file: string) =>
  fleet.sling(name, [{ kind: "say", text: "Here." }], "--files", file);

test("MULCH-1, LEARN-1, PRIME-1: an agent is told what belongs to its files, by mulch and by us, and nothing else", async () => {
  const broken = tempDir("bin-");
  const PATH = `${broken}:${TOOLS}:${process.env.PATH}`;
  const fleet = await fleetOf({ more: "mulch: {enabled: true}\n", env: { PATH } });
  const mulch = (...words: string[]) => {
    const done = Bun.spawnSync(["mulch", ...words], { cwd: fleet.repo.path, env: { ...process.env, PATH } });
    if (done.exitCode !== 0) throw new Error(done.stderr.toString());
  };
  mulch("init");
  mulch("record", "auth", "--type", "convention", "Tokens are hashed, ask mulch.");
  await fleet.ok("learnings", "add", "Sessions live in redis, ask ada.", "--path", "src/auth/session.ts");

  const ann = await sling(fleet, "ann", "src/auth/login.ts");
  expect(pageOf(fleet, ann)).toContain("Tokens are hashed, ask mulch.");
  expect(pageOf(fleet, ann)).toContain("Sessions live in redis, ask ada.");
  expect(await fleet.ok("prime", "ann")).toContain("Tokens are hashed, ask mulch.");
  const [offer] = fleet.events(ann.attempt, "learning.offered");
  expect(offer?.because).toBe("with-its-assignment");
  const bob = await sling(fleet, "bob", "src/ui/button.ts");
  expect(pageOf(fleet, bob)).not.toMatch(/hashed|redis/);
  expect(await fleet.ok("expertise", "query", "hashed")).toContain("ask mulch");

  // What an agent records is a learning: the checkout is the person's.
  const clean = fleet.repo.git("status", "--porcelain");
  const recorded = Bun.spawnSync([OVERSEER, "expertise", "record", "auth", "Salt is per user, says ann."], {
    cwd: ann.worktree,
    env: { ...fleet.environment(ann.attempt), PATH },
  });
  expect(recorded.stderr.toString()).toBe("");
  expect(recorded.stdout.toString()).toContain("Kept in own as L_");
  expect(fleet.repo.git("status", "--porcelain")).toBe(clean);
  expect(readFileSync(join(fleet.repo.path, ".mulch/expertise/auth.jsonl"), "utf8")).not.toContain("says ann");
  expect(await fleet.ok("expertise", "query", "salt")).toContain("own, auth, convention");

  // One that talks nonsense is seen, and the rest is told all the same.
  writeFileSync(join(broken, "mulch"), "#!/bin/sh\necho 'All good'\n", { mode: 0o755 });
  const cy = await sling(fleet, "cy", "src/auth/logout.ts");
  expect(pageOf(fleet, cy)).toContain("ask ada");
  expect(pageOf(fleet, cy)).not.toContain("ask mulch");
  expect(await fleet.ok("status")).toContain("Agents begin without expertise: mulch answered with something");
});

const WEEK = 7 * 24 * 3_600_000;

test("LEARN-1: a learning of one goal is offered to an agent of another a week later in the same place, and not elsewhere; one that was refuted is not", async () => {
  const store = memoryStore();
  const world = worldOn(store);
  const write = (...events: NewEvent[]) =>
    store.commit({ at: world.clock.now(), reads: {}, decide: () => accept(events, null) });
  const learning = bodyWith({ near: ["src/auth"], text: "`npm test` needs the database." });
  const refuted = bodyWith({ near: ["src/auth"], text: "The cache must be cleared.", key: "other", fix: "x" });
  await write(foundEvent(learning), foundEvent(refuted));
  const offered = async (path: string) =>
    (await offerExpertise(world, { domains: [], paths: [path], node: "goal_B/T1" })).text;
  expect(await offered("src/auth/login.ts")).toContain("cache must be cleared");

  const about = { actor: "overseer", because: "test" } as const;
  const { learningId } = refuted;
  const to = [{ agent: "eve", attempt: 9, node: "goal_A/T9", messageId: "m_9", urgency: "helpful" }] as const;
  const verdicts = [{ attempt: 9, outcome: "repeated", seen: true, saved: false }] as const;
  await write(
    { type: "learning.relayed", ...about, data: { learningId, to } } as NewEvent,
    { type: "learning.judged", ...about, data: { learningId, verdicts } } as NewEvent,
  );
  await world.clock.advance(WEEK);
  const told = await offered("src/auth/login.ts");
  expect(told).toContain("`npm test` needs the database.");
  expect(told).not.toContain("cache must be cleared");
  expect(await offered("src/ui/button.ts")).toBe("");
  await noteOffered(world, 77, [learningId]); // nobody of that number: nothing is written
});

test("LEARN-1: a record of mulch under the id of a learning counts as none of ours", async () => {
  const world = worldOn(memoryStore());
  const config = await world.config();
  const records = [{ id: "L_1", type: "convention", content: "Tokens are hashed." }];
  const stdout = JSON.stringify({ success: true, domains: [{ domain: "auth", records }] });
  const done = { code: 0, signal: null, stdout, stderr: "", timedOut: false, truncated: false };
  const parts = {
    ...world,
    exec: { run: async () => done },
    config: async () => ({ ...config, mulch: { ...config.mulch, enabled: true } }),
  };
  const offered = await offerExpertise(parts, { domains: ["auth"], paths: [], node: null });
  expect(offered.text).toContain("Tokens are hashed.");
  expect(offered.learningIds).toEqual([]);
});
