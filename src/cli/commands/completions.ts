/** `overseer completions <shell>`: prints the script that lets a shell complete the whole menu. Installs nothing. */

import type { Command } from "#cli/command.ts";
import { completionScript, SHELLS } from "#cli/completions.ts";
import { presentPlain } from "#control/present.ts";

interface Offered {
  readonly hidden?: boolean;
  load(): Promise<{ readonly default: Command<never> }>;
}

export function completionsOf(menu: () => readonly Offered[]): Command {
  return {
    name: "completions",
    summary: "Print a completion script for your shell",
    details: "The script knows every command, option and fixed value. Print it again after an update.",
    args: [{ name: "shell", summary: "The shell to complete in", choices: SHELLS }],
    examples: [
      { line: 'eval "$(overseer completions bash)"', why: "Completes in this bash; in ~/.bashrc, in every one." },
      { line: 'eval "$(overseer completions zsh)"', why: "The same for zsh, in ~/.zshrc after compinit." },
      {
        line: "overseer completions fish > ~/.config/fish/completions/overseer.fish",
        why: "fish finds it there by itself.",
      },
    ],
    async run(call) {
      const shell = SHELLS.find((known) => known === call.arg("shell"));
      if (shell === undefined) throw new Error("The parser let an unknown shell through.");
      const offered = menu().filter(({ hidden }) => hidden !== true);
      const commands = await Promise.all(offered.map(async ({ load }) => (await load()).default));
      const script = completionScript(shell, commands);
      if (call.json) call.out.json(presentPlain({ shell, script }));
      else call.out.line(script.trimEnd());
    },
  };
}
