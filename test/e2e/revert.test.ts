/** `revert` with real git: a landing is taken back through the same gate, and nothing else changes. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { workOffQueue } from "#act/landing/queue.ts";
import { land } from "#control/landing.ts";
import { mergeBranch, queue } from "#control/merge.ts";
import { takeBackLanding } from "#control/revert.ts";
import { readFleetStatus } from "#control/status.ts";
import { why } from "#control/why.ts";
import { eventsMatching } from "#store/events.ts";
import { nodeById } from "#store/work.ts";
import { asPerson } from "../support/landing-observations.ts";
import { foundLanding, GOAL, landingWorld, tasks } from "../support/landing-world.ts";
import { tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const GATE = { gate: { command: "! test -f needs-b.txt || test -f b.txt", on: ["land"], timeout: "20s" } };

async function scene(strategy: "merge" | "squash", count = 2, chained = false) {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(count, chained));
  const world = await landingWorld(repo.path, { config: { landing: { strategy }, checks: GATE } });
  const ada = asPerson(world);
  const landed = async (id: string, files: Record<string, string | null>) => {
    const attempt = await world.attempt(id);
    world.commit(attempt, files);
    await world.report(attempt);
    expect(await land(ada, { node: id })).toMatchObject({ outcome: "done" });
    return attempt.branch;
  };
  const revert = (what: string, more: object = {}) =>
    takeBackLanding(ada, { what, force: false, reopen: false, ...more });
  return { repo, world, ada, landed, revert };
}

test.each(["merge", "squash"] as const)(
  "REV-1: what landed by a %s is taken back as one commit that says what and why; what came after it stays",
  async (strategy) => {
    const { repo, world, landed, revert } = await scene(strategy);
    await landed("T1", { "b.txt": "b\n", "a.txt": "changed\n" });
    const [first, tree] = [repo.git("rev-parse", "main"), repo.git("rev-parse", "main~1^{tree}")];
    await landed("T2", { "c.txt": "c\n" });
    const tip = repo.git("rev-parse", "main");
    repo.write({ "untracked.txt": "mine\n" });
    const taken = await revert("T1", { reason: "it breaks the import" });
    expect(taken).toMatchObject({ outcome: "taken-back", target: "main", landed: first });
    expect(repo.git("rev-parse", "main", "main^")).toBe(`${taken.commit}\n${tip}`);
    expect(repo.git("log", "-1", "--format=%B", "main")).toContain(
      `it breaks the import\n\nThis reverts commit ${first}.\n\nOverseer-Reverts: ${GOAL}/T1`,
    );
    expect(repo.git("ls-files").split("\n")).toEqual(["a.txt", "c.txt"]);
    expect(repo.git("diff", "--name-only", tree, "main")).toBe("c.txt");
    expect(repo.git("status", "--porcelain")).toBe("?? untracked.txt");
    expect((await world.node("T1")).takenBack).toMatchObject({ by: "human:ada", commit: taken.commit, landed: first });
    expect((await world.node("T1")).status).toBe("done");
    const told = await why(asPerson(world), `${GOAL}/T1`);
    expect(told.cause?.text).toContain(`took it back, saying "it breaks the import"`);
    const { events } = await world.store.read({ events: eventsMatching({ type: "work.taken_back", limit: 9 }) });
    expect(events).toMatchObject([{ actor: "human:ada", data: { reason: "it breaks the import" } }]);
    expect((await readFleetStatus(asPerson(world))).landings.map(({ workNodeId, back }) => [workNodeId, back])).toEqual(
      [
        ["T1", "reverts"],
        ["T2", null],
        ["T1", "reverted"],
      ],
    );
    const [goal] = (await readFleetStatus(asPerson(world))).goals;
    expect(goal?.progress).toMatchObject({ done: 2, takenBack: 1 });
    await expect(revert("T1")).rejects.toMatchObject({ code: "TAKEN_BACK_ALREADY", kind: "conflict" });
    await world.close();
  },
);

test("REV-1: what would fail the gate, conflicts, is depended on or has not landed is not taken back, and nothing changes", async () => {
  const { repo, world, landed, revert } = await scene("merge", 5, true);
  await landed("T1", { "b.txt": "b\n" });
  await landed("T2", { "a.txt": "second\n" });
  const tip = repo.git("rev-parse", "main");
  await expect(revert("T1")).rejects.toMatchObject({
    code: "LANDED_WORK_DEPENDS",
    message: expect.stringContaining("T2"),
  });
  await landed("T3", { "a.txt": "third\n", "needs-b.txt": "yes\n" });
  const third = repo.git("rev-parse", "main");
  expect(await revert("T1", { force: true })).toMatchObject({
    outcome: "refused",
    detail: expect.stringContaining("gate"),
  });
  expect(await revert("T2", { force: true })).toMatchObject({
    outcome: "refused",
    detail: "it conflicts with the target in a.txt",
    dependents: { landed: ["T3"], open: ["T4", "T5"] },
  });
  await expect(revert("T4")).rejects.toMatchObject({ code: "NOT_LANDED_YET" });
  expect(repo.git("rev-parse", "main")).toBe(third);
  expect(repo.git("status", "--porcelain")).toBe("");
  repo.git("reset", "--quiet", "--hard", tip);
  await expect(revert("T3")).rejects.toMatchObject({ code: "LANDING_GONE" });
  await world.close();
});

test("REV-1: a revert waits for a changed file of mine; the queue continues with it; then the branch is not merged for nothing", async () => {
  const { repo, world, ada, landed, revert } = await scene("merge");
  const branch = await landed("T1", { "b.txt": "b\n", "a.txt": "changed\n" });
  const mine = join(repo.path, "a.txt");
  writeFileSync(mine, "mine\n");
  expect(await revert("T1")).toMatchObject({ outcome: "waiting" });
  expect(await revert("T1")).toMatchObject({ outcome: "waiting" });
  expect(readFileSync(mine, "utf8")).toBe("mine\n");
  expect((await world.node("T1")).takenBack).toBeUndefined();
  repo.git("checkout", "--quiet", "a.txt");
  const [entry, ...others] = await queue(ada);
  expect([entry?.branch, others]).toEqual([`revert of ${GOAL}/T1`, []]);
  await workOffQueue(world.parts, { now: entry?.mergeId ?? "" });
  expect((await world.node("T1")).takenBack).toMatchObject({ by: "human:ada" });
  expect(readFileSync(mine, "utf8")).toBe("a\n");
  await expect(mergeBranch(ada, branch)).rejects.toMatchObject({
    code: "BRANCH_TAKEN_BACK",
    hint: expect.stringContaining("git revert"),
  });
  const anew = await revert("T1", { reopen: true });
  const [goalId = "", nodeId = ""] = (anew.again ?? "").split("/");
  const { node } = await world.store.read({ node: nodeById(goalId, nodeId) });
  expect(node).toMatchObject({
    status: "queued",
    name: (await world.node("T1")).name,
    objective: expect.stringContaining("taken back"),
  });
  await expect(revert("T1", { reopen: true })).rejects.toMatchObject({
    hint: expect.stringContaining(anew.again ?? "?"),
  });
  // A branch that knows of the revert lands like any other.
  repo.git("checkout", "--quiet", "-b", "again", "main");
  repo.git("revert", "--no-edit", "HEAD");
  repo.git("checkout", "--quiet", "main");
  expect(await mergeBranch(ada, "again")).toMatchObject({ outcome: "done" });
  expect(readFileSync(mine, "utf8")).toBe("changed\n");
  await world.close();
});
