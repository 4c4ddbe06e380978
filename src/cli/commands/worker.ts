/** `overseer worker …`: workers of auto mode that people set up by name. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, table } from "#cli/text.ts";
import * as auto from "#control/auto.ts";
import { presentPlain, presentWorkers } from "#control/present.ts";

const add: Command<Parts> = {
  name: "add",
  summary: "Add a standing worker, with a role, runtime or model of its own.",
  details:
    "Auto mode gives it tasks beside auto-1, auto-2 …, unless it is excluded from the pool; then only 'overseer sling --name <worker>' gives it work, with its settings.",
  args: [{ name: "name", summary: "What it is called." }],
  options: [
    { name: "excluded-from-pool", summary: "Auto mode gives it no task." },
    { name: "capability", value: "role", summary: "The role it plays (default: what the task asks for)." },
    { name: "runtime", value: "name", summary: "The agent CLI it runs on." },
    { name: "model", value: "name", summary: "The model it uses." },
  ],
  examples: [{ line: "overseer worker add ben --model opus", why: "one more place, with a stronger model" }],
  async run(call, parts) {
    const name = await auto.add(await parts.world(), {
      name: call.arg("name"),
      excluded: call.has("excluded-from-pool"),
      capability: call.text("capability") ?? null,
      runtime: call.text("runtime") ?? null,
      model: call.text("model") ?? null,
    });
    if (call.json) return call.out.json(presentPlain({ name, added: true }));
    call.out.line(`Worker ${inert(name)} added.`);
  },
};

const list: Command<Parts> = {
  name: "list",
  summary: "List the workers, auto mode's own included.",
  async run(call, parts) {
    const workers = await auto.listWorkers(await parts.world());
    if (call.json) return call.out.json(presentWorkers(workers));
    if (workers.length === 0) return call.out.line("No workers. 'overseer up --auto' makes its own.");
    table(
      call.out,
      workers.map(({ name, made, excluded, capability, runtime, model }) => [
        name,
        made ? "of auto mode" : excluded ? "standing, by hand only" : "standing",
        [capability, runtime, model].filter((one) => one !== null).join(", ") || "the defaults",
      ]),
    );
  },
};

const remove: Command<Parts> = {
  name: "remove",
  summary: "Remove a standing worker; an agent at work under its name finishes.",
  args: [{ name: "name", summary: "The worker." }],
  async run(call, parts) {
    const name = await auto.remove(await parts.world(), call.arg("name"));
    if (call.json) return call.out.json(presentPlain({ name, removed: true }));
    call.out.line(`The worker ${inert(name)} is removed.`);
  },
};

const command: Command<Parts> = {
  name: "worker",
  summary: "Add, list and remove standing workers of auto mode.",
  subcommands: [add, list, remove],
  otherwise: "list",
};
export default command;
