/** `overseer worktree …`: the directories agents work in, and what was not committed in them. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { shortTime } from "#cli/short-time.ts";
import { inert, plural, table } from "#cli/text.ts";
import { presentCleaned, presentKeptWork, presentRestored, presentWorktrees } from "#control/present.ts";
import * as worktrees from "#control/worktrees.ts";
import { describeLosses, describeSize } from "#domain/landing/rebuildable.ts";
import { OverseerError } from "#errors.ts";

const list: Command<Parts> = {
  name: "list",
  summary: "List agents' worktrees with task, age and size, and why each would stay.",
  async run(call, parts) {
    const rows = await worktrees.worktrees(await parts.world());
    if (call.json) return call.out.json(presentWorktrees(rows));
    if (rows.length === 0) return call.out.line("No worktrees.");
    const now = Date.now();
    table(
      call.out,
      rows.map((row) => [...cellsOf(row, now), row.stays === null ? "may go" : `stays: ${row.stays}`, row.path]),
    );
    call.out.line(
      "'overseer worktree clean --completed' removes what may go; 'worktree clean <agent> --force' one that stays.",
    );
  },
};

function cellsOf(row: worktrees.WorktreeRow, now: number): string[] {
  const age =
    row.endedAt === null
      ? `${describeAge(now - row.createdAt)}, at work`
      : `ended ${describeAge(now - row.endedAt)} ago`;
  const size = row.bytes === null ? "size unknown" : describeSize(row.bytes);
  return [
    `${row.agent}#${row.attempt}`,
    `${row.task}${row.taskName === "" ? "" : ` ${clipName(row.taskName)}`}`,
    age,
    size,
  ];
}

/** The largest unit that says enough. */
function describeAge(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} days`;
}

function clipName(name: string): string {
  return name.length > 40 ? `${name.slice(0, 39)}…` : name;
}

const clean: Command<Parts> = {
  name: "clean",
  summary: "Remove worktrees of ended agents, if their work is safe elsewhere.",
  details:
    "A worktree whose work has landed, also squashed, goes. One with uncommitted or unmerged work stays, unless --force: then its work, also in submodules and nested repositories, is kept under refs/overseer/. What no ref can keep (ignored files that cannot be rebuilt, files over wip.maxFile) is listed and stays until --discard. A worktree whose agent is running, or has agents that still work for it, is never removed. Logs stay. If the named agent keeps its worktree, the exit code is 4.",
  args: [
    { name: "agent", summary: "Only that agent's; builder-1, or builder-1#4 for one life of it.", optional: true },
  ],
  options: [
    { name: "completed", summary: "All worktrees of ended agents; required if no agent is named." },
    { name: "all", summary: "The same." },
    { name: "force", summary: "Also remove dirty or unmerged ones, leaving recovery refs." },
    { name: "discard", summary: "Also delete what no ref can keep; it is listed first." },
  ],
  async run(call, parts) {
    const name = call.optionalArg("agent");
    if (name === undefined && !call.has("completed") && !call.has("all")) {
      throw new OverseerError(
        "usage",
        "AGENT_MISSING",
        "Nothing was named.",
        "Name an agent, or say --completed for all that have ended.",
      );
    }
    const outcome = await worktrees.clean(await parts.world(), {
      name,
      force: call.has("force"),
      discard: call.has("discard"),
    });
    if (call.json) call.out.json(presentCleaned(outcome));
    else printCleaned(call, outcome);
    // Of all that have ended, some staying is what was asked for; of the one that was named, it is a refusal.
    if (name === undefined || outcome.removed.length > 0 || outcome.kept.length === 0) return;
    const hint = "What it says above is why. --force keeps what a ref can hold, --discard lets the rest go.";
    throw new OverseerError("conflict", "WORKTREE_KEPT", `The worktree of ${inert(name)} was not removed.`, hint);
  },
};

function printCleaned(call: Call, outcome: worktrees.Cleaned): void {
  const now = Date.now();
  for (const { recovery, lost, standing, ...row } of outcome.removed) {
    const kept = recovery.length > 0 ? `; kept ${recovery.join(", ")}` : "";
    const gone = lost.length > 0 ? `; gone for good: ${inert(describeLosses(lost))}` : "";
    call.out.line(`Removed ${inert(cellsOf(row, now).join(", "))}${kept}${gone}.`);
    for (const one of standing)
      call.out.line(`  Still runs: ${inert(one)}. 'overseer doctor --fix' ends what agents left.`);
  }
  for (const { because, wouldLose, ...row } of outcome.kept) {
    const next = wouldLose === undefined ? "" : " Copy what you need out of it, then say --discard.";
    call.out.line(`Kept ${inert(cellsOf(row, now).join(", "))}: ${inert(because)}${next}`);
  }
  if (outcome.removed.length + outcome.kept.length === 0) call.out.line("Nothing to clean.");
}

const restore: Command<Parts> = {
  name: "restore",
  summary: "Restore uncommitted work from a snapshot; without a ref, list all kept work.",
  details:
    "Snapshots of uncommitted work are under refs/overseer/wip/…, what removed worktrees and rebased branches held under refs/overseer/recovery/…. Where it says commits, 'git branch <name> <ref>' makes a branch of them; what a submodule or nested repository held ('of <path>') goes back only into a clean repository with the same history, or an empty one, by '--into <its directory>'; its commits by 'git -C <its directory> fetch <this repository> <ref>'.",
  args: [{ name: "ref", summary: "refs/overseer/… as 'stop', 'worktree clean' and the list name it.", optional: true }],
  options: [
    {
      name: "into",
      value: "dir",
      summary: "Which worktree (default: the one it came from), or repository of the same kind.",
    },
    { name: "force", summary: "Overwrite uncommitted work there, after a snapshot of it." },
  ],
  async run(call, parts) {
    const world = await parts.world();
    const ref = call.optionalArg("ref");
    if (ref === undefined) {
      const kept = await worktrees.listKeptWork(world);
      if (call.json) return call.out.json(presentKeptWork(kept));
      if (kept.length === 0) return call.out.line("Nothing is kept.");
      table(
        call.out,
        kept.map((one) => {
          const holds = one.files === null ? one.holds : one.holds.replace("files", plural(one.files, "file"));
          const task = `${one.task ?? ""} ${clipName(one.taskName ?? "")}`.trim();
          return [
            one.ref,
            one.of === null ? holds : `${holds} of ${inert(one.of)}`,
            inert(one.agent ?? ""),
            inert(task),
            shortTime(one.at, world.clock.now()),
            one.commit.slice(0, 10),
          ];
        }),
      );
      return;
    }
    const outcome = await worktrees.restoreSnapshot(world, ref, call.text("into"), call.has("force"));
    if (call.json) return call.out.json(presentRestored(outcome));
    call.out.line(outcome.kind === "already" ? "It is there already." : `Restored ${ref}.`);
    if (!outcome.sameHead && outcome.head !== null) {
      call.out.line(
        `It was taken on ${outcome.head.slice(0, 10)}, and another commit is checked out there: what differs between the two is among the changes. 'git branch <name> ${outcome.head.slice(0, 10)}' there makes a branch of it.`,
      );
    }
  },
};

const command: Command<Parts> = {
  name: "worktree",
  summary: "List, clean and restore agents' worktrees.",
  subcommands: [list, clean, restore],
};

export default command;
