/** `overseer trust`: what the settings of this repository would do here, and a person's word that they may. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert } from "#cli/text.ts";
import { presentTrust } from "#control/present.ts";
import type { TrustReport } from "#control/trust.ts";
import { trust } from "#control/trust.ts";
import { OverseerError } from "#errors.ts";

const command: Command<Parts> = {
  name: "trust",
  summary: "Show every command the settings would run, and confirm them.",
  details: `Settings that came with a clone, a pull or a checkout are somebody else's commands. Until you confirm them
on this machine, nothing is started, checked or landed, doctor tries none of them, and the previous settings stay in
effect. What 'overseer init' wrote and what you edit yourself afterwards counts as confirmed. Confirmations are kept
in $XDG_STATE_HOME/overseer/trust (or ~/.local/state/overseer/trust), never in the repository. Without --yes it only
shows, and exits with 7 if there is something to confirm.`,
  options: [{ name: "yes", short: "y", summary: "Confirm what is shown." }],
  examples: [
    { line: "overseer trust", why: "Read what would be run." },
    { line: "overseer trust --yes", why: "Confirm it; dispatch, checks and landing continue." },
  ],
  async run(call, parts) {
    const shown = await trust(await parts.world(), call.has("yes"));
    if (call.json) call.out.json(presentTrust(shown));
    else print(call, shown);
    if (shown.confirmed) return;
    throw new OverseerError(
      "unconfirmed",
      "NOT_CONFIRMED",
      "Nothing was confirmed.",
      "Read it; then 'overseer trust --yes' confirms exactly this.",
    );
  },
};

function print(call: Call, shown: TrustReport): void {
  const { out } = call;
  const sections = [
    ["It runs", shown.runs],
    ["It permits or hands out", shown.permits],
    ["It tells agents what stands in", shown.tells],
    ["It also sets", shown.sets],
  ] as const;
  out.line(`The settings of ${inert(shown.project)}:`);
  for (const [title, deeds] of sections) {
    if (deeds.length === 0) continue;
    out.line(`${title}:`);
    for (const { where, what } of deeds) out.line(`  ${inert(where)}: ${inert(what)}`);
  }
  if (sections.every(([, deeds]) => deeds.length === 0)) out.line("They say nothing but the defaults.");
  if (shown.gone.length > 0) out.line(`Gone since they were confirmed: ${inert(shown.gone.join(", "))}`);
  if (!shown.isNew && shown.changed.length > 0) out.line(`Changed since: ${inert(shown.changed.join(", "))}`);
  if (!shown.confirmed) return;
  const isNothingNew = !shown.isNew && shown.gone.length === 0 && shown.changed.length === 0;
  out.line(
    isNothingNew
      ? "Nothing to confirm: they are as you made or confirmed them on this machine."
      : "Confirmed on this machine.",
  );
}

export default command;
