/** `overseer do`: from a sentence to landed commits, in one terminal. */
import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, plural } from "#cli/text.ts";
import {
  assertModelAsked,
  beginGoal,
  countUncommitted,
  findLastSentenceGoal,
  listSentenceGoals,
} from "#control/sentence-goal.ts";
import type { World } from "#control/world.ts";
import type { Goal } from "#domain/model/goal.ts";
import { parseAmount } from "#domain/reports/raise-budget.ts";
import { OverseerError } from "#errors.ts";

const EXAMPLE = 'overseer do "Add rate limiting to the API"';

const command: Command<Parts> = {
  name: "do",
  summary: "Say what you want: a plan, your word, agents, landed.",
  details: `Looks at the repository, asks a model for a plan and shows it: accept it, edit it, ask for another with a remark, or drop it. Then agents work on it (the daemon is started where none runs), and each step is told until all has landed or waits for you. Ctrl-C leaves it running at any time.

Without a sentence it continues the newest one that is not finished; 'overseer goal follow <goal>' continues any. In a script it stops at the plan unless --yes accepts it. The exit code is 0 when all has landed, 4 when it ended without, 7 when you left it or it waits for you.`,
  args: [{ name: "sentence", summary: "What you want, in your words.", optional: true, rest: true }],
  options: [
    { name: "yes", short: "y", summary: "Accept the plan without asking." },
    { name: "dry-run", summary: "Stop at the plan, and leave nothing behind." },
    { name: "file", value: "file", summary: "Take the text from there; - reads standard input." },
    {
      name: "budget",
      value: "usd",
      summary: "What it may cost, plan included; at the limit agents pause and you are asked.",
    },
    { name: "scout", summary: "Have questions about the repository answered before the plan is made." },
  ],
  examples: [
    { line: EXAMPLE, why: "plan it, look at the plan, watch it land" },
    { line: 'overseer do "Fix the flaky login test" --budget 2', why: "for two dollars at most" },
    { line: "overseer do --file task.md --yes", why: "in a script" },
    { line: "overseer do", why: "come back to the newest one" },
  ],
  async run(call, parts) {
    const text = await readSentence(call, parts);
    const limit = readLimit(call);
    const drive = { yes: call.has("yes"), dryRun: call.has("dry-run") };
    if (text === undefined) assertForNew(call);
    const world = await parts.world();
    const { driveGoal } = await import("#cli/live/drive-goal.ts");
    if (text === undefined) return driveGoal(call, parts, world, (await findNewest(call, world)).goalId, drive);
    await assertModelAsked(world);
    const goalId = await beginGoal(world, {
      ...{ text, limit, scout: call.has("scout") },
      // Both have said themselves what becomes of it.
      reviewed: drive.yes || drive.dryRun,
    });
    if (!call.json) await tellBegun(call, world, goalId, limit);
    return driveGoal(call, parts, world, goalId, drive);
  },
};

/** Undefined where nothing was said, not even an empty word. */
async function readSentence(call: Call, parts: Parts): Promise<string | undefined> {
  const words = call.restArgs();
  const file = call.text("file");
  if (words.length > 0 && file !== undefined) {
    const hint = "Leave out one of them.";
    throw new OverseerError("usage", "SAID_TWICE", "A sentence or --file: only one of them can be meant.", hint);
  }
  if (words.length === 0 && file === undefined) return undefined;
  const text = file === undefined ? words.join(" ") : await parts.readText(file);
  if (text.trim() !== "") return text;
  const where = file === undefined ? "The sentence is" : `${file === "-" ? "Standard input" : file} is`;
  throw new OverseerError("usage", "SENTENCE_EMPTY", `${where} empty.`, `Say what you want: ${EXAMPLE}`);
}

function readLimit(call: Call): number | null {
  const text = call.text("budget");
  if (text === undefined) return null;
  const cost = parseAmount(text, "cost");
  if (cost !== undefined && cost > 0) return cost;
  const hint = "Give US dollars above 0, such as --budget 5; leave it out for what is configured.";
  throw new OverseerError("usage", "AMOUNT_UNKNOWN", `--budget ${text.slice(0, 40)} is no amount.`, hint);
}

/** What only a new goal can be given. */
function assertForNew(call: Call): void {
  const given = ["budget", "scout", "dry-run"].find((name) => call.has(name));
  if (given === undefined) return;
  const hint =
    given === "budget"
      ? `Say it: ${EXAMPLE} --budget 5. Of one that is begun: overseer goal budget <goal> --cost 5`
      : `Say it: ${EXAMPLE} --${given}`;
  throw new OverseerError("usage", "SENTENCE_MISSING", `--${given} is for a new sentence, and none was said.`, hint);
}

async function findNewest(call: Call, world: World): Promise<Goal> {
  const [newest, ...others] = await listSentenceGoals(world);
  if (!newest) throw describeNothing(await findLastSentenceGoal(world));
  if (!call.json) {
    call.out.line(`${newest.goalId}  ${inert(newest.title)}`);
    for (const { goalId, title } of others) {
      call.out.remark(`Also unfinished: ${goalId}  ${inert(title)} (overseer goal follow ${goalId})`);
    }
  }
  return newest;
}

function describeNothing(last: Goal | undefined): OverseerError {
  const ended = last === undefined ? "" : ` The last was ${last.goalId}, which is ${last.status}.`;
  const look = last === undefined ? "" : `\nHow that went: overseer goal follow ${last.goalId}`;
  return new OverseerError(
    "usage",
    "SENTENCE_MISSING",
    `Nothing was said, and nothing that 'overseer do' began is unfinished.${ended}`,
    `Say what you want: ${EXAMPLE}${look}`,
  );
}

async function tellBegun(call: Call, world: World, goalId: string, limit: number | null): Promise<void> {
  const cost = limit === null ? "" : `; it may cost $${limit.toFixed(2)}`;
  call.out.line(`Recorded as ${goalId}${cost}.`);
  const uncommitted = await countUncommitted(world);
  if (uncommitted === 0) return;
  const [files, them] = [plural(uncommitted, "file"), uncommitted === 1 ? "it" : "them"];
  call.out.remark(
    `${files} of your checkout ${uncommitted === 1 ? "is" : "are"} not committed: agents do not see ${them}, and ${uncommitted === 1 ? "it stays" : "they stay"} as ${uncommitted === 1 ? "it is" : "they are"}.`,
  );
}

export default command;
