/** `overseer goal plan` with a model: asks for a plan, shows the one that is proposed, and decides about it. */

import { tellAccepted } from "#cli/accepted-plan.ts";
import { askYes } from "#cli/ask-yes.ts";
import type { Call, Option } from "#cli/command.ts";
import { openEditorOf } from "#cli/editor.ts";
import type { Parts } from "#cli/parts.ts";
import { planLinesOf } from "#cli/proposal-lines.ts";
import { withShortTimes } from "#cli/short-time.ts";
import { breakSentences, inert, plural } from "#cli/text.ts";
import { livingDaemon } from "#control/daemon.ts";
import { editProposalIn } from "#control/edit-proposal.ts";
import {
  acceptProposal,
  dropProposal,
  nameSeen,
  readProposal,
  type SeenProposal,
  wantPlan,
} from "#control/planning.ts";
import { presentPlan, presentPlanning } from "#control/present.ts";
import type { World } from "#control/world.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import type { Goal, Planning, Proposal } from "#domain/model/goal.ts";
import { LEAVES_OUT, type Pruned } from "#domain/plans/left-out.ts";
import { awaitProposal } from "#engine/await-proposal.ts";
import { OverseerError } from "#errors.ts";

/** What a command says that asks a model for a plan. */
export const ASKING: readonly Option[] = [
  { name: "scout", summary: "Have questions about the repository answered first; costs a few calls more." },
  { name: "yes", summary: "Accept what is proposed at once; what would cancel open work still waits for you." },
];

export const PROPOSAL_OPTIONS: readonly Option[] = [
  { name: "with-model", summary: "Ask a model for the plan; it is proposed, and you decide." },
  { name: "remark", value: "text", summary: "With --with-model: what should be different from the last one." },
  ...ASKING,
  { name: "show", summary: "Show the plan that is proposed, or why there is none yet." },
  { name: "accept", summary: "Make the proposed plan the goal's plan." },
  { name: "edit", summary: "Change the proposed plan in $VISUAL or $EDITOR." },
  { name: "drop", summary: "Drop the proposed plan, or stop asking for one." },
  { name: "reason", value: "text", summary: "With --drop: why; kept in the log." },
];

/** The word that says what is done with a proposal; undefined where it is about a file. Two of them are refused. */
export function findStep(call: Call): keyof typeof STEPS | undefined {
  const said = (Object.keys(STEPS) as (keyof typeof STEPS)[]).filter((name) => call.has(name));
  const [one, other] = said;
  const file = call.text("file") !== undefined;
  if (one !== undefined && (other !== undefined || file)) {
    const message = `--${one} and --${other ?? "file"} do not go together.`;
    throw new OverseerError(
      "usage",
      "TWO_WAYS",
      message,
      "Say one of them; 'overseer goal plan --help' explains each.",
    );
  }
  return one;
}

export async function runStep(step: keyof typeof STEPS, call: Call, parts: Parts): Promise<void> {
  return STEPS[step](call, await parts.world(), call.arg("goal"));
}

const STEPS = {
  "with-model": (call: Call, world: World, word: string) =>
    askForPlan(call, world, word, { remark: call.text("remark") ?? null }),
  show: (call: Call, world: World, word: string) => showProposal(call, world, word, call.has("full")),
  accept: (call: Call, world: World, word: string) => acceptOrAsk(call, world, word, call.has("prune") ? "all" : []),
  edit: editInEditor,
  drop: async (call: Call, world: World, word: string) => {
    const goalId = await dropProposal(world, word, call.text("reason") ?? null);
    if (call.json) return call.out.json(presentPlanning({ goalId, planning: null }));
    call.out.line(`Dropped; ${goalId} is as it was.`);
  },
} as const;

/** Asks, waits for what comes of it, and shows it. */
export async function askForPlan(
  call: Call,
  world: World,
  word: string,
  { remark }: { readonly remark: string | null },
): Promise<void> {
  const accept = call.has("yes") ? { accept: "auto" as const } : {};
  const { goalId, number } = await wantPlan(world, word, { remark, scout: call.has("scout"), ...accept });
  const { plan: before } = (await readProposal(world, goalId)).goal;
  if (!call.json) {
    const left = livingDaemon(world) ? "Ctrl-C leaves it to the daemon" : "Ctrl-C leaves it for the next 'overseer up'";
    call.out.remark(`Asking a model for a plan of ${goalId}; ${left}.`);
  }
  const { planning, left: isLeft } = await awaitUnlessLeft(world, goalId, number);
  if (isLeft) throw toLeftError(world, goalId);
  if (planning?.status === "failed") throw toFailedError(goalId, planning);
  if (planning === null && !call.json && (await tellTaken(call, world, goalId, before.length))) return;
  return showProposal(call, world, goalId);
}

/** Accepted without a question: with --yes, or as planner.accept says. */
async function tellTaken(call: Call, world: World, goalId: string, before: number): Promise<boolean> {
  const { goal, planning } = await readProposal(world, goalId);
  const last = goal.plan.at(-1);
  if (planning !== null || last?.source !== "model" || goal.plan.length <= before) return false;
  call.out.line(
    `The plan of ${goalId} is accepted: revision ${last.revision}, ${plural(last.nodeCount, "node")}. Look at it: overseer goal show ${goalId}`,
  );
  for (const line of tellOrigin(last)) call.out.line(line);
  return true;
}

/** Ctrl-C ends the waiting, and where this command asks the model itself, the model. */
async function awaitUnlessLeft(world: World, goalId: string, number: number) {
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  process.once("SIGINT", leave);
  try {
    const planning = await awaitProposal(world, goalId, number, { signal: leaving.signal });
    return { planning, left: leaving.signal.aborted && planning?.status === "wanted" };
  } finally {
    process.off("SIGINT", leave);
  }
}

function toLeftError(world: World, goalId: string): OverseerError {
  return new OverseerError(
    "unconfirmed",
    "STILL_PLANNED",
    livingDaemon(world)
      ? `The daemon goes on with the plan of ${goalId}.`
      : `The plan of ${goalId} is wanted and not made yet; without a daemon nobody asks for it.`,
    `See how it is getting on: overseer goal plan ${goalId} --show; stop it: overseer goal plan ${goalId} --drop`,
    { details: { goalId } },
  );
}

function toFailedError(goalId: string, { detail }: Planning): OverseerError {
  return new OverseerError(
    "conflict",
    "PLAN_FAILED",
    `No plan came of it: ${inert(detail ?? "there is no plan that holds")}`,
    `What was answered: overseer why ${goalId}\nAsk again: overseer goal plan ${goalId} --with-model --remark "…"; by hand: overseer goal plan ${goalId} --file plan.yaml`,
    { details: { goalId } },
  );
}

async function showProposal(call: Call, world: World, word: string, full = false): Promise<void> {
  const { goal, planning } = await readProposal(world, word);
  const { goalId } = goal;
  if (call.json) return call.out.json(presentPlanning({ goalId, planning }));
  if (!planning) return call.out.line(tellNothing(goal));
  if (planning.status === "failed") throw toFailedError(goalId, planning);
  if (!planning.proposal) {
    const text = tellWaiting(goalId, planning, livingDaemon(world) !== undefined);
    for (const line of breakSentences(call.out, withShortTimes(text, world.clock.now()))) call.out.line(line);
    return;
  }
  for (const line of await planLinesOf(call.out, world, goal, full)) call.out.line(line);
  call.out.line();
  for (const line of tellOrigin(planning.proposal)) call.out.line(line);
  call.out.remark(`Accept it: overseer goal plan ${goalId} --accept; or --edit, --with-model --remark "…", --drop.`);
}

function tellNothing({ goalId, plan }: Goal): string {
  const last = plan.at(-1);
  return last === undefined
    ? `No plan is proposed for ${goalId}, and it has none: overseer goal plan ${goalId} --with-model`
    : `No plan is proposed for ${goalId}; its plan is revision ${last.revision}: overseer goal show ${goalId}`;
}

function tellWaiting(goalId: string, { status, detail, until }: Planning, isDaemonUp: boolean): string {
  const who = isDaemonUp ? "the daemon asks then" : "without a daemon nobody asks: overseer up";
  if (status === "wanted") {
    return `A model is asked for the plan of ${goalId}${isDaemonUp ? "" : "; without a daemon nobody does: overseer up"}.`;
  }
  return `The plan of ${goalId} waits: ${inert(detail ?? "no model can be asked")}${until === null ? "" : `, until ${isoTime(until)}`}; ${who}.`;
}

/** Where a proposal came from, and what was put right in it. */
function tellOrigin({
  model,
  promptId,
  promptHash,
  ownPrompt,
  rejected,
  notes = [],
}: Omit<Proposal, "base">): string[] {
  const prompt = ownPrompt ? `your own prompt ${promptId}` : `prompt ${promptId}`;
  const before = rejected.length === 0 ? "" : `, after ${plural(rejected.length, "answer")} that did not hold`;
  return [
    inert(`From ${model ?? "a model"}, with ${prompt} (hash ${promptHash ?? "unknown"})${before}.`),
    ...notes.map(inert),
  ];
}

/** `seen`: what the person was told about, and agreed to. */
async function acceptOrAsk(call: Call, world: World, word: string, prune: Pruned, seen?: SeenProposal): Promise<void> {
  const named = seen ?? nameSeen((await readProposal(world, word)).planning);
  try {
    const accepted = await acceptProposal(world, word, { ...named, prune });
    if (call.json) call.out.json(presentPlan(accepted));
    else tellAccepted(call, accepted);
  } catch (error) {
    if (!(error instanceof OverseerError) || error.code !== LEAVES_OUT) throw error;
    const yes = await askYes(call, error.message.split("\n").map(inert), "Cancel them?");
    if (yes === undefined) throw error;
    if (!yes) return call.out.line("Nothing was changed.");
    // Exactly what was shown: what has come to be open meanwhile is asked about again.
    return acceptOrAsk(call, world, word, error.details?.leftOut as readonly string[], named);
  }
}

async function editInEditor(call: Call, world: World, word: string): Promise<void> {
  const again = `overseer goal plan ${word} --edit`;
  const { goalId, changed } = await editProposalIn(world, word, () => openEditorOf(world, again));
  if (call.json) return showProposal(call, world, goalId);
  if (!changed) return call.out.line("Nothing was changed.");
  await showProposal(call, world, goalId);
}
