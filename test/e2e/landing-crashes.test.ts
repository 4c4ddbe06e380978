/**
 * Random fleets that finish at once, with good, bad and conflicting branches, landed by the queue while the machine dies
 * at a random moment: from some call on nothing works any more, and another process begins again from what is on disk. The
 * target has only ever been where a gate had passed, no commit is lost, the user's checkout follows or is untouched,
 * and nothing is left in limbo.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { workOffQueue } from "#act/landing/queue.ts";
import { listQueuedMerges } from "#store/merges.ts";
import { mortal, untilDeath } from "../support/dying-ports.ts";
import { foundLanding, landingWorld, tasks } from "../support/landing-world.ts";
import { scaled } from "../support/scale.ts";
import { snapshot } from "../support/snapshot.ts";
import { tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(1_200_000);

const BRANCHES = ["adds", "edits", "edits-the-same", "renames", "removes", "bad", "empty-too", "unicode"] as const;

const fleet = fc.record({
  branches: fc.array(fc.constantFrom(...BRANCHES), { minLength: 2, maxLength: 8 }),
  batch: fc.constantFrom(1, 3, 8),
  strategy: fc.constantFrom("merge" as const, "squash" as const),
  /** The call at which the machine dies; beyond the last one, it does not. */
  crashes: fc.array(fc.nat(400), { maxLength: 2 }),
  /** What the user has lying around, in the way of nobody. */
  untracked: fc.boolean(),
});
type Fleet = typeof fleet extends fc.Arbitrary<infer T> ? T : never;

function filesOf(kind: (typeof BRANCHES)[number], index: number): Record<string, string | null> {
  switch (kind) {
    case "adds":
      return { [`new/${index}.txt`]: `${index}\n` };
    case "edits":
      return { [`own/${index}.txt`]: `edited by ${index}\n` };
    case "edits-the-same":
      return { "shared.txt": `written by ${index}\n` };
    case "renames":
      return { [`own/${index}.txt`]: null, [`moved/${index}.txt`]: `own ${index}\n` };
    case "removes":
      return { [`own/${index}.txt`]: null };
    case "bad":
      return { [`bad-${index}.txt`]: "bad\n" };
    case "empty-too":
      return { [`empty/${index}`]: "" };
    case "unicode":
      return { [`größe ☃ ${index}.txt`]: "zß\r\n" };
  }
}

async function live({ branches, batch, strategy, crashes, untracked }: Fleet): Promise<void> {
  const own = branches.map((_, index) => [`own/${index}.txt`, `own ${index}\n`]);
  const repo = tempRepo({ files: { "shared.txt": "shared\n", ...Object.fromEntries(own) } });
  const home = tempDir("home-");
  await foundLanding(repo.path, tasks(branches.length));
  const checks = { gate: { command: "! ls bad-* 2>/dev/null", on: ["land"], timeout: "60s" } };
  const landing = { mode: "auto", batch, strategy, tiers: { aiResolve: false, reimagine: false } };
  const config = { landing, checks };
  const world = await landingWorld(repo.path, { config });
  const commits: string[] = [];
  for (const [index, kind] of branches.entries()) {
    const attempt = await world.attempt(`T${index + 1}`);
    commits.push(world.commit(attempt, filesOf(kind, index)));
    await world.report(attempt);
  }
  if (untracked) writeFileSync(join(repo.path, "mine.txt"), "mine\n");
  const start = repo.git("rev-parse", "main");
  for (const crash of crashes) {
    const dying = await landingWorld(repo.path, { config, wrap: mortal(crash + 1, "all").wrap });
    await untilDeath(() => workOffQueue(dying.parts));
    await dying.store.close();
  }
  await workOffQueue(world.parts);

  const been = repo.git("reflog", "show", "--format=%H", "main").split("\n");
  for (const commit of been.slice(0, been.indexOf(start))) {
    expect(repo.git("ls-tree", "--name-only", commit)).not.toContain("bad-");
  }
  const reachable = new Set(repo.git("rev-list", "--all").split("\n"));
  for (const commit of commits) expect(reachable.has(commit)).toBe(true);
  expect(repo.git("status", "--porcelain")).toBe(untracked ? "?? mine.txt" : "");
  expect(repo.git("rev-parse", "HEAD")).toBe(repo.git("rev-parse", "main"));
  for (const [index, kind] of branches.entries()) {
    const node = await world.node(`T${index + 1}`);
    const landed = node.status === "done";
    if (kind === "bad") expect([node.status, node.claim]).toEqual(["in_progress", undefined]);
    else if (kind !== "edits-the-same") expect([kind, index, node.status]).toEqual([kind, index, "done"]);
    if (!landed) continue;
    for (const [name, text] of Object.entries(filesOf(kind, index))) {
      if (text !== null) expect(repo.git("show", `main:${name}`).trim()).toBe(text.trim());
    }
  }
  const same = branches.flatMap((kind, index) => (kind === "edits-the-same" ? [`T${index + 1}`] : []));
  const done = await Promise.all(same.map(async (id) => (await world.node(id)).status === "done"));
  expect(done.filter(Boolean).length).toBe(Math.min(1, same.length));
  expect((await world.store.read({ left: listQueuedMerges() })).left).toEqual([]);
  // A second look finds nothing to do.
  const after = snapshot(repo.path, home);
  await workOffQueue(world.parts);
  expect(snapshot(repo.path, home)).toEqual(after);
  await world.close();
}

test("MERGE-3: whatever dies whenever, the target has only ever been where a gate had passed, and no work is lost", async () => {
  await fc.assert(fc.asyncProperty(fleet, live), { numRuns: scaled(5), endOnFailure: true });
});
