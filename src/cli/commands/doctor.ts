/** `overseer doctor`: is the ground sound, and if not, what now. */

import type { Call, Command } from "#cli/command.ts";
import { endAll, findAbandonedDemo, listAbandonedDemos, removeDemoSandbox } from "#cli/demo/place.ts";
import type { Parts } from "#cli/parts.ts";
import { inertLines, plural } from "#cli/text.ts";
import { presentCheckup, presentPlain } from "#control/present.ts";
import * as doctor from "#control/upkeep/doctor.ts";
import { judgeLeftovers } from "#domain/health/checkup.ts";
import { OverseerError } from "#errors.ts";

const command: Command<Parts> = {
  name: "doctor",
  summary: "Check machine, store and repository; --fix repairs.",
  details: `It tries things out instead of looking for files: git makes a commit, tmux opens a session on its own
socket, the agent CLI reports its version and login (nothing is spent), and every agent's hooks are called and must
report back. In a folder that you have trusted, Claude Code runs one command against a stand-in model and must ask the
permit; the project's own hooks run too. Disk, clock, database and leftovers are checked. Each problem names the next
step. Without options it changes nothing, and exits with 5 if something is wrong.
--fix creates, migrates or recovers the database; a damaged one, or one that went back in time, is moved aside, never
overwritten. Agents may be at work; only the daemon has to be down ('overseer down' leaves agents alone). Afterwards
safe mode is on until 'overseer thaw'. It also clears leftovers of killed agents, terminals, worktrees, locks, daemons
and demos. --rebuild folds the whole log into the tables again.`,
  options: [
    { name: "fix", summary: "Repair what can be repaired without losing anything." },
    { name: "rebuild", summary: "Rebuild all tables from the log." },
  ],
  async run(call, parts) {
    const base = findAbandonedDemo(process.cwd(), parts.machine().processes);
    if (base !== undefined) return clearAbandonedDemo(call, parts, base);
    const world = await parts.world();
    if (call.has("rebuild")) {
      const rebuilt = await doctor.rebuild(world);
      if (call.json) return call.out.json(presentPlain(rebuilt));
      call.out.line(`Folded ${plural(rebuilt.events, "event")} into ${plural(rebuilt.entities, "row")}.`);
      if (rebuilt.changed.length === 0) call.out.line("The tables already matched the log.");
      else
        call.out.line(
          `${plural(rebuilt.changed.length, "row")} had differed: ${rebuilt.changed.slice(0, 10).join(", ")}`,
        );
      return;
    }
    const fixed = call.has("fix") ? [...(await doctor.fix(world)).done, ...(await clearDemos(parts))] : [];
    const waiting = (checks: readonly string[]) => call.out.remark(`Still looking at: ${checks.join(", ")}.`);
    const findings = [...(await doctor.examine(world, call.json ? undefined : waiting)), demoFinding(parts)];
    const sick = findings.filter((finding) => !finding.ok);
    if (call.json) call.out.json(presentCheckup(fixed, findings));
    else {
      for (const line of fixed) call.out.line(`fixed: ${inertLines(line)}`);
      for (const { check, ok, detail, next } of findings) {
        call.out.line(`${ok ? "ok     " : "PROBLEM"}  ${check}: ${inertLines(detail)}`);
        if (next) call.out.line(`         ${inertLines(next)}`);
      }
    }
    if (sick.length > 0) {
      throw new OverseerError(
        "environment",
        "NOT_SOUND",
        `${plural(sick.length, "check")} failed.`,
        sick[0]?.next ?? "See above.",
      );
    }
  },
};

/** Demos that were killed, wherever their places are. */
function demoFinding(parts: Parts): doctor.Finding {
  const { processes, env } = parts.machine();
  return judgeLeftovers("demos", listAbandonedDemos(processes, env), {
    fine: "none was killed",
    next: "Run 'overseer doctor --fix': what is left of them is ended and removed.",
  });
}

async function clearDemos(parts: Parts): Promise<string[]> {
  const { processes, env, clock } = parts.machine();
  const done: string[] = [];
  for (const base of listAbandonedDemos(processes, env)) {
    const ended = await endAll(processes, base, (ms) => clock.sleep(ms));
    removeDemoSandbox(base);
    done.push(`ended ${plural(ended, "process", "processes")} of a demo that was killed, and removed ${base}`);
  }
  return done;
}

/** Here stood a demo that was killed: there is nothing to fix, only something to clear away. */
async function clearAbandonedDemo(call: Call, parts: Parts, base: string): Promise<void> {
  const { processes, clock } = parts.machine();
  if (!call.has("fix")) {
    throw new OverseerError(
      "environment",
      "DEMO_ABANDONED",
      `${base} is left over from a demo that was killed.`,
      "Run 'overseer doctor --fix' here: its processes are ended and the directory is removed.",
    );
  }
  const ended = await endAll(processes, base, (ms) => clock.sleep(ms));
  removeDemoSandbox(base);
  if (call.json) return call.out.json(presentPlain({ ok: true, ended, removed: base }));
  call.out.line(`fixed: ended ${plural(ended, "process", "processes")} of a demo that was killed, and removed ${base}`);
}

export default command;
