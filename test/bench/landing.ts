/**
 * What landing costs beside git itself: clean branches without a gate, worked off as the daemon does it, against the
 * three commands that no way leads around; once in a small repository and once in one of 20,000 files.
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claimDone } from "#domain/landing/report-done.ts";
import { NO_EVIDENCE } from "#domain/model/crystallization.ts";
import { assignmentById } from "#store/assignments.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { openForWriting, prepareStore } from "#store/open.ts";
import { nodesOfGoal } from "#store/work.ts";
import { systemProcesses } from "#sys/processes.ts";
import { addRunning } from "../support/attempts.ts";
import { gitIn } from "../support/git-in.ts";
import { ADA } from "../support/samples.ts";
import { cpuOf, type Measure, type Options, type Turns, turnAbout } from "./row.ts";

interface Size {
  readonly branches: number;
  readonly files: number;
}

const floorScript = ({ branches }: Size) => `set -e
n=1
old=$(git rev-parse refs/heads/main)
while [ $n -le ${branches} ]; do
  tree=$(git merge-tree --write-tree $old b/$n)
  new=$(git commit-tree -p $old -p b/$n -m "Merge" $tree)
  git update-ref refs/heads/main $new $old
  old=$new
  n=$((n+1))
done
`;

/** A hundred of them, in a repository of so many files. */
export const landing =
  (files: number): Measure =>
  (options) =>
    measure(`landing-${files}`, { branches: 100, files }, options);

async function measure(name: string, size: Size, { quick, scratch, until }: Options): Promise<Turns> {
  const repo = join(scratch, name);
  makeBranches(repo, size);
  await claimAll(repo, size);
  const base = gitIn(repo, "rev-parse", "main");
  const state = join(repo, ".git/overseer");
  cpSync(state, `${state}-before`, { recursive: true });
  const script = join(scratch, `${name}-floor.sh`);
  writeFileSync(script, floorScript(size));
  const reset = () => {
    gitIn(repo, "update-ref", "refs/heads/main", base);
    rmSync(state, { recursive: true });
    cpSync(`${state}-before`, state, { recursive: true });
  };
  const all = join(import.meta.dir, "landing-all.ts");
  const landed = (count: number) => cpuOf([process.execPath, all, repo, String(count)], repo);
  return turnAbout(
    { turns: quick ? 2 : 5, until },
    () => {
      reset();
      // Whoever lands has been running for long: starting it is not part of the price.
      return landed(size.branches) - landed(0);
    },
    () => {
      reset();
      return cpuOf(["sh", script], repo);
    },
  );
}

/** Each branch adds a file and edits one that no other branch edits. */
function makeBranches(repo: string, { branches: count, files }: Size): void {
  mkdirSync(repo, { recursive: true });
  gitIn(repo, "init", "--quiet", "--initial-branch", "main");
  const who = "committer Bench <bench@example.invalid> 1700000000 +0000\n";
  const blob = (path: string, text: string) => `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
  const commit = (ref: string, from: string, files: string) =>
    `commit ${ref}\n${who}data 1\nx\n${from === "" ? "" : `from ${from}\n`}${files}\n`;
  const path = (index: number) => `src/part-${index % Math.ceil(files / 30)}/file-${index}.txt`;
  const first = Array.from({ length: files }, (_, index) => blob(path(index), `file ${index}\n`)).join("");
  const branches = Array.from({ length: count }, (_, index) =>
    commit(
      `refs/heads/b/${index + 1}`,
      "refs/heads/main",
      blob(path(index), `edited ${index}\n`) + blob(`new/file-${index}.txt`, `new ${index}\n`),
    ),
  );
  const stream = commit("refs/heads/main", "", first) + branches.join("");
  const done = Bun.spawnSync(["git", "fast-import", "--quiet"], { cwd: repo, stdin: Buffer.from(stream) });
  if (done.exitCode !== 0) throw new Error(done.stderr.toString());
  gitIn(repo, "symbolic-ref", "HEAD", "refs/heads/elsewhere");
  gitIn(repo, "config", "user.name", "Bench");
  gitIn(repo, "config", "user.email", "bench@example.invalid");
}

async function claimAll(repo: string, { branches }: Size): Promise<void> {
  const state = join(repo, ".git/overseer");
  mkdirSync(state, { recursive: true });
  await prepareStore({ address: join(state, "overseer.db"), backupDir: join(state, "backups"), now: 0 });
  const store = await openForWriting({ address: join(state, "overseer.db") });
  const base = gitIn(repo, "rev-parse", "main");
  for (const number of await addRunning(store, branches, systemProcesses().self())) {
    const { attempt } = await store.read({ attempt: attemptByNumber(number) });
    if (!attempt) throw new Error("no attempt");
    const branch = `b/${number}`;
    const work = { kind: "commit", commit: gitIn(repo, "rev-parse", branch), base, branch } as const;
    await store.commit({
      at: ADA.now,
      reads: { nodes: nodesOfGoal(attempt.goalId), assignment: assignmentById(attempt.assignmentId) },
      decide: ({ nodes, assignment }) => {
        const node = nodes.find((one) => one.workNodeId === attempt.workNodeId);
        if (!node) throw new Error("no node");
        const evidence = { ...NO_EVIDENCE, externalRefs: ["bench"] };
        const said = { summary: "Done", evidence, crystallizationId: null, noChangeReason: null, checks: [] };
        return claimDone({ node, nodes, attempt, assignment }, { attempt: number, work, ...said }, ADA);
      },
    });
  }
  await store.close();
}
