/**
 * The tiers of MERGE-2 with real git: what is mechanical, what a model may resolve, and everything a model may answer
 * that must not land. The model is a command here.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { landClaim } from "#act/landing/land.ts";
import { workOffQueue } from "#act/landing/queue.ts";
import { metrics } from "#control/metrics.ts";
import { acceptWork, review } from "#control/review.ts";
import { why } from "#control/why.ts";
import type { Action } from "#domain/model/action.ts";
import landAction from "#engine/actions/land.ts";
import { openQuestions } from "#store/assignments.ts";
import { listLandedMerges, listQueuedMerges } from "#store/merges.ts";
import { asPerson, endOf } from "../support/landing-observations.ts";
import { foundLanding, GOAL, type LandingWorld, landingWorld, tasks } from "../support/landing-world.ts";
import { snapshot } from "../support/snapshot.ts";
import { gitIn, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const BASE = "# Title\n\nfirst\n\nlast\n";
const OURS = "# Title\n\nfirst\nours one\nours two\n\nlast\n";
const THEIRS = "# Title\n\nfirst\ntheirs one\ntheirs two\n\nlast\n";
const BOTH = "# Title\n\nfirst\nours one\nours two\ntheirs one\ntheirs two\n\nlast\n";

/** A model that answers this, and counts how often it was asked. */
function model(answer: string): { readonly command: string; asked(): number; heard(): string } {
  const dir = tempDir("model-");
  const [script, said, heard] = [join(dir, "model.sh"), join(dir, "answer"), join(dir, "heard")];
  writeFileSync(said, answer);
  writeFileSync(script, `#!/bin/sh\ncat >> ${heard}\nprintf '\\n=== asked\\n' >> ${heard}\ncat ${said}\n`);
  chmodSync(script, 0o755);
  const all = () => (existsSync(heard) ? readFileSync(heard, "utf8") : "");
  return { command: script, asked: () => all().split("=== asked").length - 1, heard: all };
}

async function conflicting(
  more: { landing?: object; [group: string]: object | undefined } = {},
  files: { base?: Record<string, string>; ours?: Record<string, string>; theirs?: Record<string, string> } = {},
  living = false,
) {
  const repo = tempRepo({ files: files.base ?? { "doc.md": BASE } });
  await foundLanding(repo.path, tasks(3));
  const config = { ...more, landing: { mode: "auto", ...more.landing } };
  const world = await landingWorld(repo.path, { config });
  const attempt = await world.attempt("T1");
  world.commit(attempt, files.theirs ?? { "doc.md": THEIRS });
  repo.write(files.ours ?? { "doc.md": OURS });
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "-m", "Ours");
  await world.report(attempt);
  if (!living) await endOf(world, attempt.attempt);
  return { repo, world, attempt, land: () => landClaim(world.parts, { goalId: GOAL, nodeId: "T1" }) };
}

const asked = async (world: LandingWorld) =>
  (await world.store.log({ after: 0, limit: 1000 })).flatMap((event) =>
    event.type === "model.asked" ? [event.data] : [],
  );

test("MERGE-2: in files that are declared so both sections survive, by git's own union", async () => {
  const { repo, world, land } = await conflicting({ landing: { unionFiles: ["doc.md"] } });
  expect(await land()).toEqual({ kind: "done" });
  const text = repo.git("show", "main:doc.md");
  for (const line of ["ours one", "ours two", "theirs one", "theirs two"]) expect(text).toContain(line);
  expect(text).not.toContain("<<<<");
  await world.close();
});

test("MERGE-2: a lockfile in conflict is made again by its own tool from the merged files", async () => {
  const base = { "parts/a": "a\n", "app.lock": "a\n" };
  const { repo, world, land } = await conflicting(
    { landing: { lockfiles: { "app.lock": "cat parts/* > app.lock" } } },
    { base, ours: { "parts/b": "b\n", "app.lock": "a\nb\n" }, theirs: { "parts/c": "c\n", "app.lock": "a\nc\n" } },
  );
  expect(await land()).toEqual({ kind: "done" });
  expect(repo.git("show", "main:app.lock")).toBe("a\nb\nc");
  expect(repo.git("status", "--porcelain")).toBe("");
  await world.close();
});

const LOCK_TOOLS: [what: string, command: string][] = [
  ["does nothing", "true"],
  ["takes the other side", "printf 'a\\nc\\n' > app.lock"],
  ["empties it", ": > app.lock"],
  ["leaves markers", "printf '<<<<<<< x\\na\\nb\\nc\\n' > app.lock"],
  ["removes it", "rm app.lock"],
];
test.each(LOCK_TOOLS)("MERGE-2: a lockfile's tool that %s drops no side: nothing lands", async (_what, command) => {
  const { repo, world, land } = await conflicting(
    { landing: { lockfiles: { "app.lock": command }, tiers: { aiResolve: false, reimagine: false } } },
    { base: { "app.lock": "a\n" }, ours: { "app.lock": "a\nb\n" }, theirs: { "app.lock": "a\nc\n" } },
  );
  expect(await land()).toEqual({ kind: "requeued" });
  expect(repo.git("show", "main:app.lock")).toBe("a\nb");
  await world.close();
});

test("MERGE-2: a lockfile that is no text lands byte for byte as its tool made it", async () => {
  const { repo, world, land } = await conflicting(
    { landing: { lockfiles: { "app.lockb": "printf '\\377\\000both' > app.lockb" } } },
    { base: { "app.lockb": "\0a" }, ours: { "app.lockb": "\0b" }, theirs: { "app.lockb": "\0c" } },
  );
  expect(await land()).toEqual({ kind: "done" });
  expect([...readFileSync(join(repo.path, "app.lockb"))].slice(0, 3)).toEqual([255, 0, 98]);
  expect(repo.git("status", "--porcelain")).toBe("");
  await world.close();
});

test("MERGE-2: while its author lives and has rounds left, the conflict is the author's; the model is not asked", async () => {
  const one = model(JSON.stringify({ content: BOTH }));
  const { world, land } = await conflicting({ model: { command: one.command } }, {}, true);
  expect(await land()).toEqual({ kind: "returned" });
  expect(one.asked()).toBe(0);
  await world.close();
});

/** Merges the target into the agent's branch, with this as the answer to the conflict. */
function resolveByHand(
  attempt: { readonly worktree: string },
  text: string,
  how: "merge" | "rebase" = "merge",
  file = "doc.md",
): void {
  Bun.spawnSync(["git", how, ...(how === "merge" ? ["--no-edit"] : []), "main"], { cwd: attempt.worktree });
  writeFileSync(join(attempt.worktree, file), text);
  gitIn(attempt.worktree, "add", "--all");
  if (how === "merge") gitIn(attempt.worktree, "commit", "--quiet", "--no-edit");
  else gitIn(attempt.worktree, "-c", "core.editor=true", "rebase", "--continue");
}

test.each(["merge", "rebase"] as const)(
  "MERGE-2: what its author resolves (by %s) lands as tier author, and the same conflict is mechanical from then on",
  async (how) => {
    const { repo, world, attempt } = await conflicting({}, {}, true);
    await workOffQueue(world.parts);
    expect(await world.node("T1")).toMatchObject({ rounds: 1, conflict: { files: ["doc.md"] } });
    resolveByHand(attempt, BOTH, how);
    await world.report(attempt);
    expect((await review(asPerson(world), { what: "T1" })).conflict).toEqual({ files: ["doc.md"], tier: "author" });
    await workOffQueue(world.parts);
    expect((await world.node("T1")).status).toBe("done");
    const { sessions } = await metrics(asPerson(world), 9);
    expect(sessions).toMatchObject([{ attempt: attempt.attempt, mergeTier: "author" }]);
    expect((await why(asPerson(world), "T1")).story.map(({ text }) => text).join("\n")).toContain("by its author");
    // The same conflict again, from the same place, with nothing left that was taken back: nobody is asked.
    repo.git("reset", "--quiet", "--hard", repo.git("log", "--format=%H", "--grep=^Ours$", "-1", "main"));
    repo.git("reflog", "expire", "--expire=now", "--all");
    const again = await world.attempt("T2");
    gitIn(again.worktree, "reset", "--quiet", "--hard", attempt.base);
    world.commit(again, { "doc.md": THEIRS });
    await world.report(again);
    await workOffQueue(world.parts);
    expect((await world.node("T2")).status).toBe("done");
    expect(repo.git("show", "main:doc.md")).toBe(BOTH.trimEnd());
    expect((await world.store.read({ landed: listLandedMerges(1) })).landed).toMatchObject([{ tier: "auto-resolve" }]);
    await world.close();
  },
);

test("MERGE-2: an author that drops a side while resolving asks a person, told to or by itself", async () => {
  const { repo, world, attempt, land } = await conflicting({}, {}, true);
  expect(await land()).toEqual({ kind: "returned" });
  resolveByHand(attempt, THEIRS);
  await world.report(attempt);
  expect(await land()).toEqual({ kind: "asked" });
  expect(repo.git("show", "main:doc.md")).toBe(OURS.trimEnd());
  const { open } = await world.store.read({ open: openQuestions() });
  expect(open.map(({ text }) => text)).toEqual([
    expect.stringContaining("nothing of what one side had added (doc.md)"),
  ]);
  expect(await acceptWork(asPerson(world), { what: "T1" })).toMatchObject({ outcome: "done" });
  expect(repo.git("show", "main:doc.md")).toBe(THEIRS.trimEnd());
  // One that met the target before anybody told it to is looked at in the same way.
  const early = await world.attempt("T2");
  repo.write({ "doc.md": `${OURS}more of ours\n` });
  repo.git("commit", "--quiet", "--all", "-m", "More");
  world.commit(early, { "doc.md": `${THEIRS}more of theirs\n` });
  resolveByHand(early, `${THEIRS}more of theirs\n`);
  await world.report(early);
  expect(await landClaim(world.parts, { goalId: GOAL, nodeId: "T2" })).toEqual({ kind: "asked" });
  await world.close();
});

test("MERGE-2: an author that takes one of two images asks a person too", async () => {
  const images = { base: { "logo.png": "\0base" }, ours: { "logo.png": "\0ours" }, theirs: { "logo.png": "\0theirs" } };
  const { repo, world, attempt, land } = await conflicting({}, images, true);
  expect(await land()).toEqual({ kind: "returned" });
  resolveByHand(attempt, "\0theirs", "merge", "logo.png");
  await world.report(attempt);
  expect(await land()).toEqual({ kind: "asked" });
  expect(repo.git("show", "main:logo.png")).toBe("\0ours");
  await world.close();
});

const SECTIONS = {
  base: "# Guide\n\nIntro.\n",
  one: "# Guide\n\nIntro.\n\n## Install\nRun the installer.\n",
  other: "# Guide\n\nIntro.\n\n## Upgrade\nRun it again.\n",
  both: "# Guide\n\nIntro.\n\n## Install\nRun the installer.\n\n## Upgrade\nRun it again.\n",
};
const WAYS: [by: string, config: object, ends: { tier?: string; asked?: true; author?: string }][] = [
  ["both are kept mechanically", { landing: { unionFiles: ["*.md"] } }, { tier: "auto-resolve" }],
  ["its author", {}, { tier: "author", author: SECTIONS.both }],
  ["an author that forgets the other, so a person", {}, { asked: true, author: SECTIONS.other }],
  [
    "a model",
    {
      landing: { tiers: { author: false } },
      model: { command: model(JSON.stringify({ content: SECTIONS.both })).command },
    },
    { tier: "ai-resolve" },
  ],
  [
    "a model that forgets the other, so a person",
    { landing: { authorRounds: 1 }, model: { command: model(JSON.stringify({ content: SECTIONS.one })).command } },
    { asked: true },
  ],
];
test.each(WAYS)(
  "MERGE-2, FAIL-13, FAIL-14: two agents adding different sections at the same spot: both survive, by a tier or by a person, never one silently: %s",
  async (_by, config, ends) => {
    const repo = tempRepo({ files: { "guide.md": SECTIONS.base } });
    await foundLanding(repo.path, tasks(2));
    const { landing } = config as { landing?: object };
    const world = await landingWorld(repo.path, { config: { ...config, landing: { mode: "auto", ...landing } } });
    const [one, other] = [await world.attempt("T1"), await world.attempt("T2")];
    world.commit(one, { "guide.md": SECTIONS.one });
    world.commit(other, { "guide.md": SECTIONS.other });
    await world.report(one);
    await world.report(other);
    await workOffQueue(world.parts);
    if (ends.author !== undefined) {
      resolveByHand(other, ends.author, "merge", "guide.md");
      await world.report(other);
      await workOffQueue(world.parts);
    }
    expect((await world.node("T1")).status).toBe("done");
    const text = repo.git("show", "main:guide.md");
    expect(text).toContain("## Install\nRun the installer.");
    expect(text).not.toContain("<<<<");
    const { landed, open } = await world.store.read({ landed: listLandedMerges(9), open: openQuestions() });
    if (ends.tier !== undefined) {
      expect(text).toContain("## Upgrade\nRun it again.");
      expect(landed.find((merge) => merge.workNodeId === "T2")?.tier).toBe(ends.tier as never);
    } else {
      expect(text).not.toContain("## Upgrade");
      expect(open.map(({ workNodeId }) => workNodeId)).toEqual(["T2"]);
      expect(repo.git("show", `${other.branch}:guide.md`)).toContain("## Upgrade\nRun it again.");
    }
    await world.close();
  },
);

const TIERS: [tier: string, tiers: object][] = [
  ["ai-resolve", {}],
  ["reimagine", { aiResolve: false }],
];
test.each(TIERS)(
  "MERGE-2: %s lands with both sides in it, gated, and is remembered for the same three files",
  async (tier, tiers) => {
    const one = model(`\`\`\`json\n${JSON.stringify({ content: BOTH, superseded: [] })}\n\`\`\``);
    const { repo, world, attempt } = await conflicting({ landing: { tiers }, model: { command: one.command } });
    await workOffQueue(world.parts);
    expect((await world.node("T1")).status).toBe("done");
    expect(repo.git("show", "main:doc.md")).toBe(BOTH.trimEnd());
    expect(one.asked()).toBe(1);
    expect(one.heard()).toContain("Reach T1");
    expect(await asked(world)).toMatchObject([
      { purpose: tier, ok: true, tries: 1, promptHash: expect.stringMatching(/^\w{16}$/) },
    ]);
    expect((await world.store.read({ landed: listLandedMerges(9) })).landed).toMatchObject([{ tier }]);
    // The same conflict again, from the same place, with nothing left that was taken back: nobody is asked.
    const before = repo.git("rev-parse", "main^1");
    repo.git("reset", "--quiet", "--hard", before);
    repo.git("reflog", "expire", "--expire=now", "--all");
    const again = await world.attempt("T2");
    Bun.spawnSync(["git", "reset", "--quiet", "--hard", attempt.base], { cwd: again.worktree });
    world.commit(again, { "doc.md": THEIRS });
    await world.report(again);
    await endOf(world, again.attempt);
    await workOffQueue(world.parts);
    expect((await world.node("T2")).status).toBe("done");
    expect(repo.git("show", "main:doc.md")).toBe(BOTH.trimEnd());
    expect(one.asked()).toBe(1);
    await world.close();
  },
);

const REFUSED: [what: string, answer: string, problem: RegExp][] = [
  ["prose", "Sure! I kept both sections.", /not one JSON object/],
  ["prose around the right answer", `Here you are: ${JSON.stringify({ content: BOTH })}`, /not one JSON object/],
  ["conflict markers", JSON.stringify({ content: `<<<<<<< ours\n${BOTH}=======\n>>>>>>> theirs\n` }), /markers/],
  ["a side dropped", JSON.stringify({ content: OURS }), /Nothing of what the other branch added is left/],
  [
    "a side dropped with reasons",
    JSON.stringify({
      content: OURS,
      superseded: ["theirs one", "theirs two"].map((line) => ({ side: "theirs", line, reason: "not needed" })),
    }),
    /Nothing of what the other branch added is left/,
  ],
  ["a line dropped", JSON.stringify({ content: BOTH.replace("ours two\n", "") }), /is missing, and no reason is given/],
  ["another shape", JSON.stringify({ text: BOTH }), /content/],
];
test.each(REFUSED)(
  "MERGE-2: a model that answers with %s is refused, and nothing lands",
  async (_what, answer, problem) => {
    const one = model(answer);
    const { repo, world, land } = await conflicting({ model: { command: one.command } });
    const home = tempDir("home-");
    const before = snapshot(repo.path, home);
    expect(await land()).toEqual({ kind: "requeued" });
    expect(snapshot(repo.path, home)).toEqual(before);
    const calls = await asked(world);
    expect(calls.map(({ purpose, ok, tries }) => [purpose, ok, tries])).toEqual([
      ["ai-resolve", false, 3],
      ["reimagine", false, 3],
    ]);
    expect(calls[0]?.problems.join("\n")).toMatch(problem);
    expect(one.heard()).toContain("Your last answer could not be used");
    await world.close();
  },
);

test("MERGE-2: with every tier off, or a model that cannot be reached, the work continues without it", async () => {
  const off = await conflicting({ landing: { tiers: { mechanical: false, aiResolve: false, reimagine: false } } });
  expect(await off.land()).toEqual({ kind: "requeued" });
  expect(await asked(off.world)).toEqual([]);
  await off.world.close();
  const gone = await conflicting({ model: { command: "exit 9" } });
  expect(await gone.land()).toEqual({ kind: "requeued" });
  expect((await asked(gone.world)).map(({ ok }) => ok)).toEqual([false, false]);
  await gone.world.close();
});

test("MERGE-2: what has no lines to compare is nothing for a model: a deleted file, a binary one", async () => {
  const one = model(JSON.stringify({ content: BOTH }));
  const deleted = await conflicting({ model: { command: one.command } }, { theirs: { "doc.md": null as never } });
  expect(await deleted.land()).toEqual({ kind: "requeued" });
  await deleted.world.close();
  expect(one.asked()).toBe(0);
});

test("BUDGET-1: with the day's budget used up no model is asked; it waits in the open, and lands when there is budget", async () => {
  const one = model(JSON.stringify({ content: BOTH }));
  const config = { model: { command: one.command }, budgets: { day: { cost: 0 } } };
  const { repo, world, land } = await conflicting(config);
  await workOffQueue(world.parts);
  expect(await land()).toEqual({ kind: "waiting" });
  expect(one.asked()).toBe(0);
  const { queue } = await world.store.read({ queue: listQueuedMerges() });
  expect(queue).toMatchObject([{ status: "waiting", detail: expect.stringContaining("budget of the day is used up") }]);
  expect(queue[0]?.notBefore).toBeGreaterThan(Date.now());
  const told = await why(asPerson(world), "T1");
  expect(told.now.join(" ")).toContain("the budget of the day is used up");
  expect((await world.store.read({ open: openQuestions() })).open).toEqual([]);
  await world.close();
  const raised = await landingWorld(repo.path, { config: { ...config, landing: { mode: "auto" }, budgets: {} } });
  const again = { kind: "land", goalId: GOAL, workNodeId: "T1" } as Action<"land">;
  expect(await landAction(again, raised.parts)).toMatchObject({ ok: true, result: "done" });
  expect(one.asked()).toBe(1);
  await raised.close();
});

test("MERGE-2: one call in one tick: the second conflict waits for the next", async () => {
  const one = model(JSON.stringify({ content: BOTH }));
  const config = { model: { command: one.command } };
  const { repo, world } = await conflicting(config, {
    base: { "doc.md": BASE, "other.md": `${BASE}x\n` },
    ours: { "doc.md": OURS, "other.md": `${OURS}x\n` },
  });
  const second = await world.attempt("T2");
  gitIn(second.worktree, "reset", "--quiet", "--hard", "main~1");
  world.commit(second, { "other.md": `${THEIRS}x\n` });
  await world.report(second);
  await endOf(world, second.attempt);
  await workOffQueue(world.parts);
  expect((await world.node("T1")).status).toBe("done");
  expect(one.asked()).toBe(1);
  const { queue } = await world.store.read({ queue: listQueuedMerges() });
  expect(queue).toMatchObject([{ workNodeId: "T2", detail: expect.stringContaining("just now") }]);
  expect(repo.git("show", "main:other.md")).toBe(`${OURS}x`);
  await world.close();
});

test("MERGE-2: a conflict that is too long for a model is not given to one, and the log says so", async () => {
  const one = model(JSON.stringify({ content: BOTH }));
  const long = Array.from({ length: 200 }, (_, line) => `line ${line}`).join("\n");
  const { world, land } = await conflicting(
    { model: { command: one.command }, planner: { maxInput: "4KB" } },
    {
      base: { "doc.md": `${BASE}${long}\n` },
      ours: { "doc.md": `${OURS}${long}\n` },
      theirs: { "doc.md": `${THEIRS}${long}\n` },
    },
  );
  expect(await land()).toEqual({ kind: "requeued" });
  expect(one.asked()).toBe(0);
  expect((await asked(world)).map(({ tries, problems }) => [tries, problems[0]])).toEqual([
    [0, expect.stringMatching(/too long: \d+ of 4096 bytes/)],
    [0, expect.stringMatching(/too long/)],
  ]);
  await world.close();
});
