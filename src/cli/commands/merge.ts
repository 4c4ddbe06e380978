/** `overseer merge`: the queue of finished branches, a look ahead, and landing by a person's word. */

import type { Call, Command } from "#cli/command.ts";
import { tellLandings } from "#cli/landing-line.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, moment, plural, table } from "#cli/text.ts";
import {
  listFinishedBranches,
  listHeldLandings,
  listRecentLandings,
  mergeAll,
  mergeBranch,
  type Prediction,
  predict,
  queue,
} from "#control/merge.ts";
import { presentLanded, presentLandings, presentPredictions, presentQueue } from "#control/present.ts";
import type { Merge } from "#domain/model/merge.ts";
import { OverseerError } from "#errors.ts";

const command: Command<Parts> = {
  name: "merge",
  summary: "Show the landing queue, forecast conflicts, land a branch.",
  details:
    "--branch accepts that branch, even one that no agent made. The merged tree is checked before the target moves; your checkout moves only forward and only when it is clean. --dry-run forecasts conflicts and the tier that would resolve them, and touches nothing. With --json the queue is printed as {queue, held, landed}. If a branch does not land, the exit code is 4; while it waits for something temporary, 7.",
  options: [
    { name: "branch", value: "name", summary: "Land this branch." },
    { name: "all", summary: "Land everything that is finished." },
    { name: "dry-run", summary: "Only forecast what would happen." },
    { name: "status", summary: "Show the queue (the default)." },
    { name: "reason", value: "text", summary: "The reason; kept in the log." },
  ],
  examples: [
    { line: "overseer merge --branch feature/dates --dry-run", why: "would it conflict?" },
    { line: "overseer merge --all", why: "land everything that is finished" },
  ],
  async run(call, parts) {
    const world = await parts.world();
    const branch = call.text("branch");
    if (branch !== undefined && call.has("all")) {
      throw new OverseerError("usage", "TWO_WISHES", "--branch and --all exclude each other.", "Leave one out.");
    }
    if (call.has("dry-run")) {
      const branches = branch === undefined ? (await listFinishedBranches(world)).map((one) => one.branch) : [branch];
      return printPredictions(call, await predict(world, branches));
    }
    if (branch === undefined && !call.has("all")) {
      const [waiting, held] = [await queue(world), await listHeldLandings(world)];
      const landed = await listRecentLandings(world);
      if (call.json) return call.out.json(presentQueue({ queue: waiting, held, landed }));
      if (waiting.length > 0 || held.length === 0) printQueue(call, waiting);
      for (const { node, why } of held) call.out.line(`${inert(node)} is finished and held: ${inert(why)}`);
      return printLanded(call, landed);
    }
    const reason = call.text("reason");
    const landed = branch === undefined ? await mergeAll(world, reason) : [await mergeBranch(world, branch, reason)];
    if (landed.length === 0 && !call.json) call.out.line("Nothing is finished.");
    const [one] = landed;
    // A branch that nobody's work stands behind is the person's own to put right.
    const next = one?.node === branch ? `Put that right, then 'overseer merge --branch ${branch}' again.` : undefined;
    const isOne = branch !== undefined && one !== undefined;
    tellLandings(call, landed, isOne ? presentLanded(one) : presentLandings(landed), next);
  },
};

function printPredictions(call: Call, found: readonly Prediction[]): void {
  if (call.json) call.out.json(presentPredictions(found));
  else if (found.length === 0) call.out.line("Nothing is finished.");
  else
    table(
      call.out,
      found.map((one) => [
        one.branch,
        one.outcome,
        one.tier === null ? "" : `by ${one.tier}`,
        one.outcome === "conflict" ? one.conflicts.join(", ") : plural(one.changes, "file"),
        inert(one.how ?? ""),
      ]),
    );
}

function printLanded(call: Call, merges: readonly Merge[]): void {
  if (merges.length === 0) return;
  call.out.line("Landed lately:");
  table(
    call.out,
    merges.map((one) => [`  ${moment(one.endedAt ?? one.updatedAt)}`, one.branch, `by ${one.tier ?? "clean-merge"}`]),
  );
}

function printQueue(call: Call, merges: Awaited<ReturnType<typeof queue>>): void {
  if (merges.length === 0) call.out.line("The queue is empty.");
  else
    table(
      call.out,
      merges.map((one) => [
        one.mergeId,
        one.status,
        one.priority,
        `since ${moment(one.queuedAt)}`,
        `${one.branch} → ${one.target}`,
        inert(one.detail ?? ""),
      ]),
    );
}

export default command;
