/**
 * Agents that cannot be started here for a reason that is none of their tasks': the CLI is missing or not logged in, tmux
 * is missing, the repository takes no worktree. One cause is one condition and one question, however many tasks wait.
 * Nothing is given up: each start is tried again by itself, at once when a person answers or when one of them works, and
 * with the last of them the question is withdrawn.
 */
import { deriveId } from "#domain/core/derived-id.ts";
import type { Action } from "#domain/model/action.ts";
import { dropEvent, hastenAction } from "#domain/model/action.ts";
import type { StartCondition } from "#domain/model/condition.ts";
import { startId } from "#domain/model/condition.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { isDispatch, NOT_WANTED } from "#domain/model/ladder-state.ts";
import { nodeKey } from "#domain/model/work.ts";
import { recordEvent, type TickStep } from "./draft.ts";
import { byText, type Scene } from "./scene.ts";

/** So often the same has failed before a person is asked: once may be an accident. */
const FAILURES_ENOUGH = 2;

export function watchStarts(scene: Scene): readonly TickStep[] {
  const failing = groupFailing(scene);
  const steps = [...failing].flatMap(([cause, actions]) => watchCause(scene, cause, actions));
  const known = scene.snapshot.conditions.toSorted((a, b) => byText(a.conditionId, b.conditionId));
  for (const condition of known) {
    if (condition.kind !== "start" || !condition.active || failing.has(condition.cause)) continue;
    steps.push(...clear(scene, condition));
  }
  return steps;
}

/** Starts that did not work, by cause; one that is being tried again counts until it is known how it went. */
function groupFailing({ actions }: Scene): Map<string, Action[]> {
  const found = new Map<string, Action[]>();
  for (const action of actions) {
    if (!isDispatch(action.kind) || action.cause === undefined || action.problem === null) continue;
    found.set(action.cause, [...(found.get(action.cause) ?? []), action]);
  }
  return found;
}

function watchCause(scene: Scene, cause: string, actions: readonly Action[]): TickStep[] {
  const condition = scene.condition("start", startId(cause));
  const known = condition?.active ? condition : undefined;
  const nodes = actions.map(keyOf);
  const questionId = known?.questionId ?? null;
  if (known && questionId !== null) {
    if (isWaitedFor(scene, questionId))
      return known.nodes.some((node) => hasStarted(scene, node, known)) ? hasten(scene, actions) : [];
    const again = actions.filter(({ status }) => status === "failed").map(keyOf);
    const answered = { cause, problem: known.problem, nodes: again, questionId: null };
    return [recordEvent("dispatch.failing", {}, "a-person-answered", answered), ...hasten(scene, actions)];
  }
  const late = actions.filter((action) => action.status === "failed" && (!known || isSinceAnswer(action, known)));
  const [worst] = late.toSorted((a, b) => b.tries - a.tries || byText(a.actionId, b.actionId));
  if (!worst || (!known && worst.tries < FAILURES_ENOUGH)) return [];
  const asked = deriveId("q_", startId(cause), scene.now);
  const problem = worst.problem ?? "";
  return [
    recordEvent("dispatch.failing", {}, known ? "tried-in-vain" : "did-not-start", {
      cause,
      problem,
      nodes,
      questionId: asked,
    }),
    ask(scene, asked, problem, nodes),
  ];
}

const keyOf = ({ goalId, workNodeId }: Action) => nodeKey(goalId ?? "", workNodeId ?? "");

/** Longer than one start takes: what was under way when somebody answered has failed by then, and says nothing. */
const UNDER_WAY_MS = 60_000;

/** Once somebody has answered, only what was tried since then counts. */
function isSinceAnswer(action: Action, { updatedAt, nodes }: StartCondition): boolean {
  const since = nodes.includes(keyOf(action)) ? updatedAt : updatedAt + UNDER_WAY_MS;
  return action.updatedAt > since;
}

/** The question is open, or on its way. */
function isWaitedFor({ snapshot, actions }: Scene, questionId: string): boolean {
  const onItsWay = actions.some(({ actionId }) => actionId === `ask:${questionId}`);
  return onItsWay || snapshot.questions.some((question) => question.questionId === questionId);
}

/** One that could not be started has an agent: then the others can, too. */
function hasStarted(scene: Scene, node: string, { since }: StartCondition): boolean {
  const slash = node.indexOf("/");
  const seen = scene.agentOn({ goalId: node.slice(0, slash), workNodeId: node.slice(slash + 1) });
  return (seen?.attempt.startedAt ?? 0) > since;
}

function hasten({ now }: Scene, actions: readonly Action[]): NewEvent[] {
  return actions.flatMap((action) => {
    if (action.status !== "failed") return [];
    const decision = hastenAction(action, "may-work-now", { now, actor: "overseer" });
    return decision.ok ? [...decision.events] : [];
  });
}

function ask(scene: Scene, questionId: string, problem: string, nodes: readonly string[]): TickStep {
  const one = nodes.length === 1;
  const waiting = `${nodes.length} ${one ? "task waits" : "tasks wait"} (${nodes.slice(0, 3).join(", ")}${nodes.length > 3 ? ", …" : ""})`;
  const said = problem.trim().replace(/[.!?]*$/, ".");
  return {
    actionId: `ask:${questionId}`,
    kind: "ask",
    because: "cannot-start",
    notBefore: scene.now,
    payload: {
      questionId,
      text: `No agent can be started here: ${said} ${waiting}. Put it right ('overseer doctor' says what is missing): ${one ? "it is" : "they are"} tried again by ${one ? "itself" : "themselves"}, and at once when you answer.`,
      options: ["try again"],
    },
  };
}

/** Nobody waits for it any more; not said while its question is being asked just now, which nobody could withdraw then. */
function clear(scene: Scene, { cause, questionId }: StartCondition): TickStep[] {
  const { now, snapshot, actions } = scene;
  const asking = questionId === null ? undefined : actions.find(({ actionId }) => actionId === `ask:${questionId}`);
  if (asking?.status === "taken") return [];
  const reason = "agents start again";
  const isOpen = snapshot.questions.some((question) => question.questionId === questionId);
  return [
    recordEvent("dispatch.works", {}, "nothing-fails-any-more", { cause }),
    ...(asking ? [dropEvent(asking, NOT_WANTED, reason, { now, actor: "overseer" })] : []),
    ...(isOpen && questionId !== null
      ? [recordEvent("question.withdrawn", {}, "agents-start-again", { questionId, reason })]
      : []),
  ];
}
