/** `overseer init`: the first command in a repository, and a harmless one ever after. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { breakSentences, inert, plural } from "#cli/text.ts";
import { PROPOSED_DAY_COST } from "#config/scaffold.ts";
import { presentInit } from "#control/present.ts";
import { type Initialised, init, type LandsOn } from "#control/upkeep/init.ts";
import type { ProposedChecks } from "#control/upkeep/propose-checks.ts";
import { parseAmount } from "#domain/reports/raise-budget.ts";
import { OverseerError } from "#errors.ts";

const command: Command<Parts> = {
  name: "init",
  summary: "Set up Overseer in this repository.",
  details:
    "Creates .overseer/ with a configuration, roles and agent definitions for you to edit and commit, and a database in .git/overseer/. Nothing else in the repository is touched. On a terminal it asks what a day may cost; in a script that stays a comment in the configuration unless --budget-day says it. Where no check is configured, those that the repository has are listed; on a terminal each is run once and kept if you say so, in a script only with --checks. Tools of yours that walk the whole tree (node --test, jest, vitest, eslint) are named with what keeps them out of the agents' worktrees. Running it again keeps what exists, adds what is missing and migrates an older database.",
  options: [
    {
      name: "budget-day",
      value: "usd",
      summary: "What all agents together may spend in one day, in US dollars; none for no limit.",
    },
    { name: "checks", summary: "Run the checks that the repository has, once, and configure those that pass." },
    { name: "no-checks", summary: "Do not look for checks." },
  ],
  examples: [
    { line: "overseer init", why: "anywhere inside the repository" },
    { line: "overseer init --budget-day 50", why: "in a script: at 50 dollars a day agents pause and you are asked" },
    {
      line: "overseer init --checks",
      why: "in a script: what passes on your branch now has to pass before work lands",
    },
  ],
  async run(call, parts) {
    if (call.has("checks") && call.has("no-checks")) {
      const message = "--checks and --no-checks say the opposite.";
      throw new OverseerError("usage", "OPTIONS_CONTRADICT", message, "Give one of them, or none to be asked.");
    }
    const named = call.text("budget-day");
    const spoken = named === undefined ? undefined : readDayCost(named);
    const made = await init(await parts.world(), parts.version, {
      namesDayCost: named !== undefined,
      chooseDayCost: () => (spoken === undefined ? askDayCost(call) : spoken),
    });
    if (call.json) return call.out.json(presentInit(made, await lookForChecks(call, parts, made)));
    const fit = (text: string) => breakSentences(call.out, text).join("\n");
    call.out.line(
      fit(
        `${made.created.length > 0 ? `Made ${plural(made.created.length, "file")}` : "Nothing was missing"} in ${made.userDir}; the database in ${made.state} was ${made.database}.`,
      ),
    );
    if (made.dayCost !== null)
      call.out.line(fit(`A day may cost ${made.dayCost} US dollars; budgets.day in .overseer/config.yaml changes it.`));
    else if (made.created.length > 0 && !call.out.interactive && named === undefined)
      call.out.line(
        fit(
          `No limit is set on what a day may cost; 'overseer config set budgets.day.cost ${PROPOSED_DAY_COST}' sets one.`,
        ),
      );
    if ("branch" in made.landsOn) tellLanding(call, made.landsOn);
    else call.out.remark(fit(`${inert(made.landsOn.problem)} ${inert(made.landsOn.hint)}`));
    for (const { tool, advice } of made.walkers) {
      call.out.remark(fit(`${tool} would also look into the worktrees of agents; to keep it out, ${advice}.`));
    }
    if (!made.isConfirmed)
      call.out.remark(fit("Some settings are not confirmed on this machine; none of their commands run."));
    await lookForChecks(call, parts, made);
    call.out.remark("Next:");
    for (const [line, why] of made.isConfirmed ? NEXT : [TRUST, ...NEXT.slice(0, 2)])
      call.out.remark(`  ${line.padEnd(48)}  # ${why}`);
  },
};

/** Null where it was not looked for: nobody wants it, there are some, or it could not be said what work starts from. */
async function lookForChecks(call: Call, parts: Parts, made: Initialised): Promise<ProposedChecks | null> {
  if (call.has("no-checks") || "problem" in made.landsOn) return null;
  // What nobody has confirmed runs nothing; whoever asks for it is told why.
  if (!made.isConfirmed && !call.has("checks")) return null;
  // Anew: the settings are those that were just written.
  const world = await parts.worldNow();
  if (Object.keys((await world.config()).checks).length > 0) return null;
  const { proposeChecks } = await import("#cli/propose-checks.ts");
  return proposeChecks(call, world, call.has("checks") ? "keep" : "ask");
}

function tellLanding({ out }: Call, { branch, mode }: Extract<LandsOn, { readonly branch: string }>): void {
  const lands = `lands on ${inert(branch)}`;
  out.line(
    mode === "auto"
      ? `Finished work ${lands} without a review (landing.mode).`
      : `Finished work waits for your review, then ${lands}.`,
  );
}

type NextCommand = readonly [line: string, why: string];

const TRUST: NextCommand = ["overseer trust", "read what the settings run, and confirm it"];
const NEXT: readonly NextCommand[] = [
  ['overseer do "what you want"', "plan it, look at it, watch it land"],
  ['overseer sling --prompt "what you want" --follow', "or one agent, without a plan"],
  ["overseer status --watch", "who works, what waits"],
];

/** Null for no limit. Throws for what is neither an amount nor the word for none. */
function readDayCost(text: string): number | null {
  const cost = parseDayCost(text);
  if (cost !== undefined) return cost;
  const hint = `Give US dollars above 0, such as ${PROPOSED_DAY_COST}, or none for no limit.`;
  throw new OverseerError("usage", "AMOUNT_UNKNOWN", `--budget-day ${text.slice(0, 40)} is no amount.`, hint);
}

function parseDayCost(text: string): number | null | undefined {
  if (/^(none|no)$/i.test(text.trim())) return null;
  const cost = parseAmount(text, "cost");
  return cost !== undefined && cost > 0 ? cost : undefined;
}

/** Nobody who only set it up is surprised by a limit: it is asked for, and where nobody can be asked there is none. */
function askDayCost(call: Call): number | null {
  if (call.json || !call.out.interactive) return null;
  call.out.line("What may all agents together spend in one day, in US dollars?");
  call.out.line("At the limit they pause and you are asked.");
  for (;;) {
    const typed = prompt("A number, or none for no limit", `${PROPOSED_DAY_COST}`);
    // The terminal was closed, or Ctrl-D: nobody has said anything.
    if (typed === null) return null;
    const cost = parseDayCost(typed);
    if (cost !== undefined) return cost;
  }
}

export default command;
