/** `overseer service …`: the guard of this repository as a service of this user, under systemd or launchd. */

import { resolve } from "node:path";
import { callOf } from "#cli/call.ts";
import type { Call, Command, Option } from "#cli/command.ts";
import { guardLines } from "#cli/guard-lines.ts";
import { parseCall } from "#cli/parse.ts";
import type { Parts } from "#cli/parts.ts";
import { inert } from "#cli/text.ts";
import { presentPlain, presentService } from "#control/present.ts";
import {
  installService,
  type NextCommand,
  planService,
  readService,
  removeService,
  type ServiceOrder,
} from "#control/service.ts";
import { shellCommand } from "#domain/core/shell-words.ts";
import { OverseerError } from "#errors.ts";
import { placeOfProgram } from "#sys/self.ts";
import { listPassedOptions, readUpWords, upCommand } from "./daemon.ts";

const UP_OPTIONS: readonly Option[] = listPassedOptions();

const install: Command<Parts> = {
  name: "install",
  summary: "Write the unit that runs 'overseer guard' here, and start it where that can be done.",
  details:
    "For this user and this repository. Options of 'overseer up' are passed on to it, as options or after '--'; what they name is looked for from the repository's top directory. Repeatable: said again with other options, it is written anew. Where systemctl does not answer, it says what to run.",
  args: [{ name: "flags", summary: "After '--': what 'overseer up' is told.", optional: true, rest: true }],
  options: [
    { name: "print", summary: "Print the unit and write nothing." },
    { name: "systemd", summary: "Write a unit of systemd, whatever runs this machine." },
    { name: "launchd", summary: "Write a list of launchd, whatever runs this machine." },
    ...UP_OPTIONS,
  ],
  examples: [
    { line: "overseer service install", why: "the guard comes back after a reboot" },
    { line: "overseer service install --auto --task-pool-command ./next-task", why: "in auto mode" },
    { line: "overseer service install --print", why: "only show what would be written" },
  ],
  async run(call, parts) {
    const world = await parts.world();
    const order = readOrder(call, parts);
    if (call.has("print")) {
      const { path, text } = await planService(world, order);
      if (call.json) return call.out.json(presentPlain({ path, text }));
      return call.out.line(text.trimEnd());
    }
    const done = await installService(world, order);
    if (call.json) return call.out.json(presentPlain(done));
    const { path, changed, started, next, remarks } = done;
    call.out.line(changed ? `Written: ${inert(path)}` : `It was there already: ${inert(path)}`);
    if (started) call.out.line("The service runs, and begins again with every login.");
    for (const remark of remarks) call.out.remark(remark);
    tellNext(call, next);
  },
};

function readOrder(call: Call, parts: Parts): ServiceOrder {
  if (call.has("systemd") && call.has("launchd")) {
    throw new OverseerError("usage", "TWO_WISHES", "--systemd and --launchd exclude each other.", "Leave one out.");
  }
  const manager = call.has("systemd") ? "systemd" : call.has("launchd") ? "launchd" : undefined;
  const words = [...readUpWords(call), ...readRest(call)].map(withWholePath);
  return { program: programOf(parts), words, ...(manager === undefined ? {} : { manager }) };
}

/** What stands after `--` is held to what `up` understands: a service that ends at once helps nobody. */
function readRest(call: Call): string[] {
  const rest = call.restArgs();
  const command = { ...upCommand, options: UP_OPTIONS };
  const parsed = parseCall(command, rest, "overseer up");
  if (!parsed.ok) throw new OverseerError("usage", parsed.problem.code, parsed.problem.message, parsed.problem.hint);
  return readUpWords(callOf(command, parsed.values, call.out));
}

/** A directory is named from where the person stands, and looked for from the top of the repository. */
function withWholePath(word: string): string {
  const directory = "--task-directory=";
  return word.startsWith(directory) ? `${directory}${resolve(word.slice(directory.length))}` : word;
}

/** By its lasting name, so that a newer version in the same place is what runs next. */
function programOf({ program, daemonCommand }: Parts): string {
  const [only = ""] = program;
  return program.length === 1 ? only : `${placeOfProgram(daemonCommand)}/overseer`;
}

function tellNext(call: Call, next: readonly NextCommand[]): void {
  if (next.length > 0) call.out.line("Next:");
  const width = Math.max(0, ...next.map(({ line }) => line.length));
  for (const { line, why } of next) call.out.line(`  ${inert(line).padEnd(width)}   # ${why}`);
}

const remove: Command<Parts> = {
  name: "remove",
  summary: "Take the unit back; the daemon is ended in order, agents keep running.",
  details:
    "Only the file that 'install' wrote, for this repository; one that somebody has changed since is left alone.",
  async run(call, parts) {
    const removed = await removeService(await parts.world());
    if (call.json) return call.out.json(presentPlain(removed));
    const { path, next } = removed;
    call.out.line(path === null ? "No service was installed for this repository." : `Removed: ${inert(path)}`);
    tellNext(call, next);
  },
};

const status: Command<Parts> = {
  name: "status",
  summary: "Show whether a service is installed, what it runs, and whether the guard watches.",
  async run(call, parts) {
    const world = await parts.world();
    const service = await readService(world);
    if (call.json) return call.out.json(presentService(service));
    const { installed, manager, path, root, words, problem, active, enabled, guard } = service;
    if (path === null)
      call.out.line(`No service is installed for ${inert(root)}. 'overseer service install' writes one.`);
    else {
      call.out.line(`${installed ? "Installed" : "Not ours"} (${manager}): ${inert(path)}`);
      if (problem !== null) call.out.line(`  ${inert(problem)}`);
    }
    if (installed) {
      call.out.line(`  It runs: ${inert(shellCommand(["overseer", "guard", "--root", root, ...words]))}`);
      if (active !== null)
        call.out.line(
          `  ${manager} says: ${active ? "active" : "not active"}, ${enabled ? "enabled" : "not enabled"}.`,
        );
    }
    if (guard === null) return call.out.line("No guard has watched here.");
    for (const line of guardLines(guard, world.clock.now(), 0)) call.out.line(line);
  },
};

const command: Command<Parts> = {
  name: "service",
  summary: "Have systemd or launchd run the guard, also after a reboot.",
  subcommands: [install, remove, status],
  otherwise: "status",
};
export default command;
