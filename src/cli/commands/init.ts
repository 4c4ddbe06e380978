/** `overseer init`: the first command in a repository, and a harmless one ever after. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { plural } from "#cli/text.ts";
import { presentInit } from "#control/present.ts";
import { init } from "#control/upkeep/init.ts";

const command: Command<Parts> = {
  name: "init",
  summary: "Set up Overseer in this repository.",
  details:
    "Creates .overseer/ with a configuration, roles and agent definitions for you to edit and commit, and a database in .git/overseer/. Nothing else in the repository is touched. Tools of yours that walk the whole tree (node --test, jest, vitest, eslint) are named with what keeps them out of the agents' worktrees. Running it again keeps what exists, adds what is missing and migrates an older database.",
  examples: [{ line: "overseer init", why: "anywhere inside the repository" }],
  async run(call, parts) {
    const made = await init(await parts.world(), parts.version);
    if (call.json) return call.out.json(presentInit(made));
    call.out.line(
      `${made.created.length > 0 ? `Made ${plural(made.created.length, "file")}` : "Nothing was missing"} in ${made.userDir}; the database in ${made.state} was ${made.database}.`,
    );
    for (const { tool, advice } of made.walkers) {
      call.out.remark(`${tool} would also look into the worktrees of agents; to keep it out, ${advice}.`);
    }
    if (!made.isConfirmed) {
      call.out.remark("Some settings are not confirmed on this machine; none of their commands run.");
      call.out.remark("Next: overseer trust");
    } else if (made.created.length > 0) call.out.remark('Next: overseer goal create "…"');
  },
};

export default command;
