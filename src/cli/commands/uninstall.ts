/** `overseer uninstall`: Overseer leaves the repository as it was before `init`. */

import { resolve } from "node:path";
import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, plural } from "#cli/text.ts";
import { presentPlain, presentUninstalled } from "#control/present.ts";
import { planUninstall, type UninstallPlan, uninstall } from "#control/upkeep/uninstall.ts";
import { OverseerError } from "#errors.ts";

const command: Command<Parts> = {
  name: "uninstall",
  summary: "Take Overseer out of this repository; unlanded work is kept.",
  details:
    "Stops the service, the guard, the daemon and the agents, removes their worktrees and branches, .overseer/, the store in .git, sockets, and what this user had confirmed. Work that has not landed stays under refs/overseer/ (--keep-refs, the default), or goes into a file outside of what is removed (--bundle), which is verified before its refs go. What no ref can keep stops it before anything else is removed, until --discard. Files of .overseer/ that you have committed stay. The agent CLI's own sessions are left to its own cleaning.",
  options: [
    { name: "dry-run", summary: "Only list what would go and what would stay." },
    { name: "yes", summary: "Do not ask." },
    { name: "keep-refs", summary: "Keep unlanded work under refs/overseer/ (the default)." },
    {
      name: "bundle",
      value: "file",
      summary: "Export unlanded work into this file (git bundle), and remove its refs.",
    },
    { name: "discard", summary: "Also delete what no ref can keep." },
  ],
  examples: [{ line: "overseer uninstall --dry-run", why: "what would go, and what is kept" }],
  async run(call, parts) {
    const typed = call.text("bundle");
    const bundle = typed === undefined ? undefined : resolve(typed);
    if (bundle !== undefined && call.has("keep-refs")) {
      throw new OverseerError("usage", "TWO_WISHES", "--bundle and --keep-refs exclude each other.", "Leave one out.");
    }
    const world = await parts.world();
    const plan = await planUninstall(world);
    if (call.has("dry-run")) return call.json ? call.out.json(presentPlain(plan)) : tellPlan(call, plan);
    if (!call.has("yes")) {
      if (!call.json) tellPlan(call, plan);
      if (call.json || !call.out.interactive || !confirm("Take all of this out?")) {
        throw new OverseerError("conflict", "NOT_CONFIRMED", "Nothing was changed.", "Say --yes to take it out.");
      }
    }
    const done = await uninstall(world, { ...(bundle === undefined ? {} : { bundle }), discard: call.has("discard") });
    if (call.json) return call.out.json(presentUninstalled(done));
    for (const remark of done.remarks) call.out.remark(inert(remark));
    call.out.line("Overseer is out of this repository.");
    if (done.bundle !== null) {
      const file = inert(done.bundle);
      call.out.line(`Unlanded work is in ${file}; 'git fetch ${file} "refs/*:refs/*"' brings it back.`);
    } else if (bundle !== undefined) call.out.line("Nothing was unlanded, so no bundle was written.");
    for (const ref of done.refs.kept) call.out.line(`Kept ${ref}; 'git branch <name> ${ref}' makes a branch of it.`);
    for (const { path, because } of done.left) call.out.line(`Left ${inert(path)}: ${inert(because)}.`);
  },
};

function tellPlan(call: Call, plan: UninstallPlan): void {
  const { out } = call;
  for (const remark of plan.remarks) out.remark(inert(remark));
  if (plan.service !== null) out.line(`Removes the service, ${inert(plan.service)}.`);
  if (plan.guard !== null) out.line(`Stops the guard, pid ${plan.guard}.`);
  if (plan.daemon !== null) out.line(`Stops the daemon, pid ${plan.daemon}.`);
  if (plan.agents.length > 0)
    out.line(`Stops ${plural(plan.agents.length, "agent")}: ${inert(plan.agents.join(", "))}.`);
  for (const { agent, path, stays } of plan.worktrees) {
    const kept = stays === null ? "" : ` (${stays}; a ref keeps what can be kept)`;
    out.line(`Removes the worktree of ${inert(agent)}, ${inert(path)}${inert(kept)}.`);
  }
  if (plan.branches.length > 0)
    out.line(`Removes agents' branches: ${inert(plan.branches.join(", "))}; what has not landed is kept by refs.`);
  for (const ref of plan.refs.kept) out.line(`Keeps ${ref}, which is on no branch.`);
  for (const path of plan.paths) out.line(`Removes ${inert(path)}.`);
  for (const path of plan.foreign) out.line(`Is stopped by ${inert(path)}, which no agent made: move it away first.`);
  for (const { path, because } of plan.left) out.line(`Leaves ${inert(path)}: ${inert(because)}.`);
}

export default command;
