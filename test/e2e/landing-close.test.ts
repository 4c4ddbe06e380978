/**
 * Landing closes node, assignment and claim in one transaction, with the commit as evidence. A process is killed just
 * before the branch moves, between that and the transaction, and in the middle of it: all three are open or all three
 * are closed, never one of them, and doing it again closes what has landed without landing it twice.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { landClaim } from "#act/landing/land.ts";
import { assignmentById } from "#store/assignments.ts";
import { foundLanding, GOAL, landingWorld, tasks } from "../support/landing-world.ts";
import { gitIn, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const HARNESS = join(import.meta.dir, "../support/landing-harness.ts");
const CONFIG = { landing: { mode: "auto" } };

async function claimed(): Promise<string> {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(2, true));
  const world = await landingWorld(repo.path, { config: CONFIG });
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n" });
  await world.report(attempt);
  await world.close();
  return repo.path;
}

function harness(repo: string, ...fault: string[]) {
  return Bun.spawnSync([process.execPath, HARNESS, repo, JSON.stringify(CONFIG), ...fault], { stdin: "ignore" });
}

/** What is closed, and how often that was said. */
async function closed(repo: string, again: boolean) {
  const world = await landingWorld(repo, { config: CONFIG });
  if (again) await landClaim(world.parts, { goalId: GOAL, nodeId: "T1" });
  const node = await world.node("T1");
  const { assignment } = await world.store.read({ assignment: assignmentById("A_1") });
  const events = await world.store.log({ after: 0, limit: 1_000 });
  const next = await world.node("T2");
  await world.close();
  const main = gitIn(repo, "rev-parse", "main");
  return {
    moved: gitIn(repo, "ls-tree", "--name-only", "main").includes("b.txt"),
    node: node.status === "done",
    evidence: node.evidence?.commits.includes(main) ?? false,
    claim: node.claim === undefined,
    assignment: assignment?.status === "done",
    next: next.status === "queued",
    told: ["landing.landed", "work.done", "assignment.done"].map(
      (type) => events.filter((event) => event.type === type && event.nodeId === "T1").length,
    ),
  };
}

const ALL = { moved: true, node: true, evidence: true, claim: true, assignment: true, next: true, told: [1, 1, 1] };
const NONE = { node: false, evidence: false, claim: false, assignment: false, next: false, told: [0, 0, 0] };

test("WORK-3: killed around the closing transaction, node, assignment and claim are all open or all closed", async () => {
  const { calls } = JSON.parse(harness(await claimed()).stdout.toString()) as { calls: string[] };
  const closing = calls.lastIndexOf("store.commit") + 1;
  const moving = calls.slice(0, closing - 1).lastIndexOf("exec.run") + 1;
  const FAULTS: [mode: string, at: number, moved: boolean | undefined][] = [
    ["kill", closing, true],
    ["kill-during", closing, true],
    ["kill", closing - 1, undefined],
    ["kill", moving, undefined],
  ];
  for (const [mode, at, moved] of FAULTS) {
    const repo = await claimed();
    expect(harness(repo, mode, String(at)).signalCode).toBe("SIGKILL");
    const left = await closed(repo, false);
    if (moved !== undefined) expect(left.moved).toBe(moved);
    expect(left).toEqual(left.node ? ALL : { ...NONE, moved: left.moved });
    expect(await closed(repo, true)).toEqual(ALL);
  }
});
