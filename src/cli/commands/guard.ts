/** `overseer guard …`: the process that watches the daemon, in this terminal; how it is, and that it ends. */
import type { Command } from "#cli/command.ts";
import { guardLines } from "#cli/guard-lines.ts";
import type { Parts } from "#cli/parts.ts";
import { readGuard, stopGuard } from "#control/guard.ts";
import { presentGuard, presentPlain } from "#control/present.ts";
import { OverseerError } from "#errors.ts";
import { listPassedOptions } from "./daemon.ts";

const run: Command<Parts> = {
  name: "run",
  summary: "Watch the daemon in this terminal: start it, restart it, have it repaired.",
  details:
    "All options of 'overseer up' are passed on to it. The first Ctrl-C ends the daemon in order and then the guard, the second ends the guard at once; agents keep running.",
  options: [{ name: "once", summary: "Look and act once, for timers." }, ...listPassedOptions()],
  examples: [{ line: "overseer guard --auto --task-pool-command ./next-task", why: "over the weekend" }],
  async run(_call, parts) {
    // bin/overseer starts the guard's own program for this; only what calls the whole program by itself comes here.
    const { ownCommand } = await import("#sys/self.ts");
    const words = process.argv.slice(process.argv.indexOf("guard") + 1);
    const { root } = await parts.world(); // it may have been named in front of the command
    const child = Bun.spawn([...ownCommand("daemon-guard"), ...words, "--root", root.project], {
      stdio: ["inherit", "inherit", "inherit"],
    });
    process.on("SIGINT", () => undefined); // it gets it too, and decides
    for (const signal of ["SIGTERM", "SIGUSR1"] as const) process.on(signal, () => child.kill(signal));
    const code = await child.exited;
    if (code !== 0)
      throw new OverseerError(
        "environment",
        "GUARD_ENDED",
        `The guard ended with ${code}.`,
        "'overseer guard status' shows its last words.",
      );
  },
};

const status: Command<Parts> = {
  name: "status",
  summary: "Show whether a guard watches, its daemon, its remediation and its last words.",
  async run(call, parts) {
    const world = await parts.world();
    const guard = readGuard(world);
    if (call.json) return call.out.json(presentGuard(guard));
    if (!guard) return call.out.line("No guard has watched here. 'overseer guard' begins.");
    for (const line of guardLines(guard, world.clock.now())) call.out.line(line);
  },
};

const stop: Command<Parts> = {
  name: "stop",
  summary: "End the guard; the daemon keeps running.",
  async run(call, parts) {
    const pid = await stopGuard(await parts.world());
    if (call.json) return call.out.json(presentPlain({ pid, stopped: pid !== null }));
    call.out.line(
      pid === null ? "No guard was running." : `The guard (pid ${pid}) has ended; the daemon keeps running.`,
    );
  },
};

const command: Command<Parts> = {
  name: "guard",
  summary: "Keep the daemon alive, and have it repaired when it breaks.",
  subcommands: [run, status, stop],
  otherwise: "run",
};
export default command;
