/**
 * A model's plan beyond its shape and the rules of every plan: criteria that name something one can check, files that are
 * there or could be, roles that may write, and no words that pose as ours. Tasks that share files are put one after the
 * other where nothing else orders them. A problem is a sentence that goes back to the model; a note is told to people.
 */
import { cleanText } from "#domain/core/quote.ts";
import type { GoalDefinition } from "#domain/model/goal.ts";
import { matchRole } from "#domain/model/role.ts";
import { type KnownNames, problemsOfNames } from "./known-names.ts";
import { type PlanLimits, type PlannedNode, problemsOfPlan } from "./plan.ts";
import { putInOrder } from "./plan-order.ts";
import { findPathProblem, type Layout, layoutOf } from "./plan-paths.ts";

export interface PlanGround {
  readonly limits: PlanLimits;
  /** Nodes of the goal that have begun or ended: nothing new is put before them. */
  readonly settled: ReadonlySet<string>;
  /** All ids the goal has. */
  readonly kept?: ReadonlySet<string>;
  /** Of those the ones that are done: what comes after them need not have them in the plan. */
  readonly done?: ReadonlySet<string>;
  /** Nodes of the goal that the plan repeats as they are: how they are worded is not the model's to put right. */
  readonly repeated?: ReadonlySet<string>;
  readonly known: KnownNames;
  /** The paths git has at the commit that was looked at. */
  readonly tracked: readonly string[];
}

export interface JudgedPlan {
  /** With what was put in order; the same nodes otherwise. */
  readonly phases: readonly PlannedNode[];
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

export function judgePlan(phases: readonly PlannedNode[], ground: PlanGround): JudgedPlan {
  const rules = problemsOfPlan(phases, ground.limits, ground.kept ?? ground.settled, ground.done);
  const names = problemsOfNames(phases, ground.known);
  const layout = layoutOf(ground.tracked);
  const all = phases.flatMap(listBelow).filter(({ id }) => !ground.repeated?.has(id));
  const own = all.flatMap((node) => [
    ...problemsOfWording(node),
    ...problemsOfFiles(node, layout),
    ...problemsOfRole(node, ground.known),
  ]);
  const problems = [...new Set([...rules.map(({ text }) => text), ...names.map(({ text }) => text), ...own])];
  // Arrows are added to a graph that is sound; in another one they would only hide what is wrong.
  if (rules.length > 0) return { phases, problems, notes: [] };
  return { ...putInOrder(phases, ground.settled), problems };
}

function listBelow(node: PlannedNode): PlannedNode[] {
  return [node, ...node.children.flatMap(listBelow)];
}

/** What is wrong with how a model describes a node, whatever the node is. */
export function problemsOfWording(node: PlannedNode): string[] {
  return [...problemsOfWords(node), ...problemsOfCriteria(node)];
}

/** How the parts of a prompt are marked (prompts/models). */
const PROMPT_MARK = /^\s*-{3,}\s*(?:BEGIN|END)\b/im;
const AGAINST_RULES =
  /\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all|your|system)\b[^.\n]{0,20}\b(?:instructions?|rules?|prompts?)\b|\byou are now\b/i;

function problemsOfWords(node: PlannedNode): string[] {
  const { id, name, objective, expectedOutcome, definitionOfDone, acceptance, hints } = node;
  const lines = [name, ...acceptance, ...(hints.files ?? [])];
  const found = problemsOfTexts(id.slice(0, 64), [...lines, objective, expectedOutcome, definitionOfDone]);
  if (lines.some((text) => text.includes("\n"))) {
    found.push(`${id.slice(0, 64)} has a line break in its name, criteria or files.`);
  }
  return found;
}

/** What a plan says of its goal is shown to people and told to agents like everything else of it. */
export function problemsOfHead({ title, successCriteria = [], constraints = [] }: PlanHead): string[] {
  const lines = [...(title === undefined ? [] : [title]), ...successCriteria, ...constraints];
  const found = problemsOfTexts("The goal", lines);
  if (lines.some((text) => text.includes("\n"))) {
    found.push("The goal has a line break in its title, success criteria or constraints.");
  }
  return found;
}

type PlanHead = Partial<Pick<GoalDefinition, "title" | "successCriteria" | "constraints">>;

function problemsOfTexts(who: string, texts: readonly string[]): string[] {
  const found: string[] = [];
  if (texts.some((text) => hidesSomething(text))) {
    found.push(
      `${who} holds control characters, or marks that only Overseer and agent CLIs use; plain words are enough.`,
    );
  }
  if (texts.some((text) => PROMPT_MARK.test(text))) {
    found.push(`${who} holds marks by which prompts are divided (--- BEGIN, --- END).`);
  }
  if (texts.some((text) => AGAINST_RULES.test(text))) {
    found.push(`${who} tells its agent to leave its instructions; say what is to be done instead.`);
  }
  return found;
}

function hidesSomething(text: string): boolean {
  return cleanText(text) !== text.replaceAll("\r\n", "\n");
}

/** Words that say that something is good, and not what; a criterion of these alone can be met by saying so. */
const EMPTY_WORDS = new Set(
  (
    "a an and any are as be been behaves by can clean code complete completed completely correct correctly do does done " +
    "everything expected feature finished fine for fully function functional functioning functions good goal has have high " +
    "i implement implementation implemented in intended is it its just met nice no of ok okay on phase properly quality " +
    "ready required requirements should solution step subtask success successful successfully sure task that the their " +
    "there thing things this to up was way well will with work working works change changes changed added add adds"
  ).split(" "),
);

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

function problemsOfCriteria({ id, name, acceptance }: PlannedNode): string[] {
  const named = new Set(wordsOf(name));
  const seen = new Set<string>();
  return acceptance.flatMap((criterion) => {
    const words = wordsOf(criterion);
    const told = JSON.stringify(criterion.slice(0, 80));
    const key = words.join(" ");
    if (seen.has(key)) return [`${id} says ${told} twice.`];
    seen.add(key);
    const telling = words.filter((word) => !EMPTY_WORDS.has(word));
    if (telling.some((word) => !named.has(word))) return [];
    return [
      `${id} has the criterion ${told}, which names nothing that one can check: name a test, a command and its result, or a file and what it holds.`,
    ];
  });
}

function problemsOfFiles({ id, hints }: PlannedNode, layout: Layout): string[] {
  return (hints.files ?? []).flatMap((file) => {
    const problem = findPathProblem(file, layout);
    return problem === undefined ? [] : [`${id} names ${JSON.stringify(file.slice(0, 120))}: ${problem}`];
  });
}

function problemsOfRole({ id, hints, children }: PlannedNode, known: KnownNames): string[] {
  const { capability } = hints;
  // What a phase says is told with the tasks that it says it for.
  if (capability === undefined || children.length > 0) return [];
  const match = matchRole(known.roles, capability);
  if (match.kind !== "found" || !match.role.readOnly) return [];
  return [`${id} is for the role ${capability}, which only reads; a task leaves something that can be checked.`];
}
