/** `overseer store …`: taking the state out, bringing it back, copying it. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { plural } from "#cli/text.ts";
import { presentPlain } from "#control/present.ts";
import { backup } from "#control/upkeep/doctor.ts";
import { exportDocument, importInto } from "#control/upkeep/transfer.ts";
import { OverseerError } from "#errors.ts";

const exporting: Command<Parts> = {
  name: "export",
  summary: "Write everything as one JSON document.",
  options: [{ name: "to", value: "path", summary: "Write to a file instead of standard output." }],
  examples: [{ line: "overseer store export --to state.json", why: "a readable copy of goals, work and the log" }],
  async run(call, parts) {
    const world = await parts.world();
    const store = await world.reader();
    const to = call.text("to");
    if (to === undefined) {
      const stdout = Bun.stdout.writer();
      for await (const piece of exportDocument(store)) stdout.write(piece);
      await stdout.end();
      return;
    }
    const pieces: string[] = [];
    for await (const piece of exportDocument(store)) pieces.push(piece);
    await world.files.write(to, pieces.join(""), { mode: 0o600 });
    if (call.json) return call.out.json(presentPlain({ path: to }));
    call.out.line(`Wrote ${to}.`);
  },
};

const importing: Command<Parts> = {
  name: "import",
  summary: "Read an export back into an empty store.",
  details: `If the export holds less than was seen here before, safe mode is on afterwards: nothing is dispatched
until 'overseer thaw'. The previous store stays among the backups.`,
  args: [{ name: "file", summary: "A file made by 'overseer store export', or - for standard input." }],
  async run(call, parts) {
    const text = await parts.readText(call.arg("file"));
    const { events } = await importInto(await parts.world(), text);
    if (call.json) return call.out.json(presentPlain({ events }));
    call.out.line(`Imported ${plural(events, "event")}.`);
  },
};

const backingUp: Command<Parts> = {
  name: "backup",
  summary: "Back up the database while it is in use.",
  options: [
    {
      name: "to",
      value: "path",
      summary: "Where to write it (default: in the git directory, keeping store.backupsKept of them).",
    },
  ],
  async run(call, parts) {
    const to = call.text("to");
    if (to === "") throw new OverseerError("usage", "PATH_EMPTY", "--to has no path.", "Name a file.");
    const made = await backup(await parts.world(), to);
    if (call.json) return call.out.json(presentPlain({ path: made.path, bytes: made.bytes }));
    call.out.line(`Backed up to ${made.path} (${plural(made.bytes, "byte")}).`);
  },
};

const command: Command<Parts> = {
  name: "store",
  summary: "Export, import and back up the state.",
  subcommands: [exporting, importing, backingUp],
};

export default command;
