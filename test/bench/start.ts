/** How fast the program is there: the command as a person types it, against Bun with nothing to do. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openForWriting } from "#store/open.ts";
import { systemProcesses } from "#sys/processes.ts";
import { addRunning } from "../support/attempts.ts";
import { gitIn } from "../support/git-in.ts";
import { addGoal, addPlan } from "../support/samples.ts";
import { FIFTY_NODES } from "./long-log.ts";
import { cpuOf, type Measure, turnAbout } from "./row.ts";

const project = join(import.meta.dir, "../..");
const OVERSEER = join(project, "bin/overseer");

export function emptyScript(scratch: string): string[] {
  const script = join(scratch, "empty.js");
  writeFileSync(script, "");
  return [process.execPath, script];
}

export const version: Measure = async ({ quick, scratch, until }) => {
  const empty = emptyScript(scratch);
  return turnAbout(
    { turns: quick ? 20 : 200, until },
    () => cpuOf([OVERSEER, "--version"], scratch),
    () => cpuOf(empty, scratch),
  );
};

export const status: Measure = async ({ quick, scratch, until }) => {
  const repo = join(scratch, "hundred-goals");
  mkdirSync(repo, { recursive: true });
  gitIn(repo, "init", "--quiet");
  gitIn(repo, "-c", "user.name=Bench", "-c", "user.email=bench@example.invalid", "commit", "-qm", "x", "--allow-empty");
  cpuOf([OVERSEER, "init"], repo);
  // A command that writes leaves the checked copy of the configuration behind, as in every repository in use.
  cpuOf([OVERSEER, "goal", "create", "The first"], repo);
  const store = await openForWriting({ address: join(repo, ".git/overseer/overseer.db") });
  for (let goal = 1; goal < 100; goal += 1) {
    const goalId = `goal_${String(goal).padStart(10, "0")}`;
    await addGoal(store, goalId);
    await addPlan(store, goalId, FIFTY_NODES);
  }
  await addRunning(store, 20, systemProcesses().self());
  await store.close();
  const empty = emptyScript(scratch);
  return turnAbout(
    { turns: quick ? 20 : 200, until },
    () => cpuOf([OVERSEER, "status", "--json"], repo),
    () => cpuOf(empty, repo),
  );
};
