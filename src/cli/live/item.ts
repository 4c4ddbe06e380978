/**
 * What the cursor can stand on, tab by tab: what waits for somebody, agents, goals, tasks and branches, questions, lines
 * of the log. Each has a key of its own, by which the cursor stays on it while others come and go, and says whom the
 * keys of the view mean there. Pure.
 */
import type { AgentStatus, StatusGoal } from "#control/status.ts";
import { commandToAnswer, type Standstill } from "#domain/explain/standstill.ts";
import { sayAway } from "#domain/health/place.ts";
import type { Merge } from "#domain/model/merge.ts";
import { nodeKey, type WorkNode } from "#domain/model/work.ts";
import { readContinuation, type WorkContinuation } from "./continuation.ts";
import { isOpenGoal } from "./sections.ts";
import { nameTask, nameTasksIn } from "./task-name.ts";
import type { LogLine, View } from "./view.ts";

export const TABS = ["fleet", "goals", "queue", "questions", "log"] as const;
export type Tab = (typeof TABS)[number];

/** Whom and what a key means: those that are known. */
export interface About {
  readonly agent?: string;
  readonly attempt?: number;
  /** `goal/node` */
  readonly node?: string;
  readonly goal?: string;
  readonly question?: string;
}

export type Content =
  /** `turn`: a person's, or it ends by itself. */
  | {
      readonly kind: "standstill";
      readonly turn: Standstill["turn"];
      readonly text: string;
      readonly hotkey: string;
      readonly continuation?: WorkContinuation | undefined;
    }
  | { readonly kind: "agent"; readonly agent: AgentStatus }
  | { readonly kind: "goal"; readonly goal: StatusGoal }
  | { readonly kind: "merge"; readonly merge: Merge }
  | { readonly kind: "task"; readonly task: WorkNode }
  | { readonly kind: "question"; readonly question: View["status"]["questions"][number] }
  | { readonly kind: "event"; readonly event: LogLine };

export type Item = Content & {
  readonly key: string;
  readonly about: About;
  /** What the filter looks at. */
  readonly words: string;
};

export function listItems(view: View, tab: Tab, filter: string): Item[] {
  const all = LISTS[tab](view);
  const wanted = filter.trim().toLowerCase();
  return wanted === "" ? all : all.filter(({ words }) => words.toLowerCase().includes(wanted));
}

const LISTS: Readonly<Record<Tab, (view: View) => Item[]>> = {
  fleet: (view) => [...listStandstills(view), ...listAgents(view)],
  goals: ({ status }) =>
    status.goals
      .toSorted((one, other) => Number(!isOpenGoal(one)) - Number(!isOpenGoal(other)))
      .map((goal) => ({
        ...{ kind: "goal", goal, key: goal.goalId, about: { goal: goal.goalId } },
        words: `${goal.goalId} ${goal.title} ${goal.status}`,
      })),
  queue: (view) => [...view.merges.map(toMergeItem), ...listTasks(view)],
  questions: ({ status }) =>
    status.questions.map((question) => {
      const { questionId, goalId, workNodeId } = question;
      const node = goalId !== null && workNodeId !== null ? { node: nodeKey(goalId, workNodeId) } : {};
      return {
        ...{ kind: "question", question, key: questionId, about: { question: questionId, ...node } },
        words: `${questionId} ${node.node ?? ""} ${question.text}`,
      };
    }),
  log: ({ log }) =>
    log.map((event) => {
      const about = event.about.includes("/") ? { node: event.about } : event.about ? { goal: event.about } : {};
      return { kind: "event", event, key: `${event.seq}`, about, words: `${event.about} ${event.text}` };
    }),
};

/** A person's turn first, then what ends by itself. */
function listStandstills(view: View): Item[] {
  const { status } = view;
  const away = status.away && sayAway(status.away, status.root);
  const own = (turn: Standstill["turn"], key: string, text: string): Item => ({
    ...{ kind: "standstill", turn, text, hotkey: "", key: `still ${key}`, about: {}, words: text },
  });
  const found = [
    ...(away ? [own("person", "away", `${status.away?.standing.toUpperCase()}: ${away.message} ${away.hint}`)] : []),
    ...status.standstills.map((one) => toStandstillItem(view, one)),
    ...(status.daemon.tickProblem ? [own("itself", "tick", `The last tick failed: ${status.daemon.tickProblem}`)] : []),
  ];
  const isPersons = (item: Item) => item.kind === "standstill" && item.turn === "person";
  return numberTwins([...found.filter(isPersons), ...found.filter((item) => !isPersons(item))]);
}

/** Two that are about the same are told apart by which comes first. */
function numberTwins(items: readonly Item[]): Item[] {
  const counts = new Map<string, number>();
  return items.map((item) => {
    const before = counts.get(item.key) ?? 0;
    counts.set(item.key, before + 1);
    return before === 0 ? item : { ...item, key: `${item.key} ${before}` };
  });
}

/** Of these there is one line for all: it stays the same line when one more of them joins. */
const ONE_LINE: ReadonlySet<Standstill["kind"]> = new Set(["review", "agent-dead", "mass-death", "dispatch"]);

function toStandstillItem(view: View, { kind, turn, text, about, command }: Standstill): Item {
  const question = view.status.questions.find(({ questionId }) => command === commandToAnswer(questionId));
  const continuation = readContinuation(command);
  const hotkey = question ? "a" : kind === "review" ? "r" : continuation ? "u" : "";
  const isTold = turn === "itself" || hotkey !== "" || text.includes(command);
  // A branch has strokes too.
  const node = about.find((one) => /^goal_[^/]+\/[^/]+$/.test(one));
  const goal = about.find((one) => one.startsWith("goal_") && !one.includes("/"));
  const agent =
    view.status.agents.find((one) => about.includes(`${one.agent}#${one.attempt}`)) ??
    view.status.agents.find((one) => nodeKey(one.goalId, one.workNodeId) === node);
  return {
    // Where no key does it, its command is told.
    ...{ kind: "standstill", turn, text: nameTasksIn(isTold ? text : `${text} (${command})`, about, view) },
    key: `still ${question?.questionId ?? `${kind} ${ONE_LINE.has(kind) ? "" : (about[0] ?? "")}`}`,
    ...{ hotkey, continuation },
    about: {
      ...(agent ? aboutAgent(agent) : {}),
      ...(node ? { node } : {}),
      ...(goal ? { goal } : {}),
      ...(question ? { question: question.questionId } : {}),
    },
    words: `${text} ${about.map((one) => nameTask(one, view)).join(" ")}`,
  };
}

function aboutAgent({ agent, attempt, goalId, workNodeId }: AgentStatus): About {
  return { agent, attempt, node: nodeKey(goalId, workNodeId) };
}

/** Those that need somebody first. */
const ORDER = ["dead", "not-answering", "waiting", "idle", "paused", "preparing", "starting", "working", "ended"];

function listAgents({ status, pulses }: View): Item[] {
  return status.agents
    .toSorted((one, other) => ORDER.indexOf(one.seen) - ORDER.indexOf(other.seen))
    .map((agent) => ({
      ...{ kind: "agent", agent, key: `agent ${agent.agent}`, about: aboutAgent(agent) },
      words: `${agent.agent}#${agent.attempt} ${agent.workNodeId} ${agent.doing} ${pulses.get(agent.attempt)?.lastText ?? ""}`,
    }));
}

function toMergeItem(merge: Merge): Item {
  const { goalId, workNodeId, agent, attempt } = merge;
  const about = {
    ...(goalId !== null && workNodeId !== null ? { node: nodeKey(goalId, workNodeId) } : {}),
    ...(agent !== null && attempt !== null ? { agent, attempt } : {}),
  };
  const words = `${merge.branch} ${merge.target} ${merge.status} ${workNodeId ?? ""}`;
  return { kind: "merge", merge, key: merge.mergeId, about, words };
}

/** What waits for somebody first, then what is ready, then what waits for other work. */
const TASK_ORDER = ["blocked", "in_progress", "queued", "todo", "done", "cancelled"];

function listTasks({ work, status }: View): Item[] {
  return work
    .toSorted((one, other) => TASK_ORDER.indexOf(one.status) - TASK_ORDER.indexOf(other.status))
    .map((task) => {
      const node = nodeKey(task.goalId, task.workNodeId);
      const agent = status.agents.find((one) => one.goalId === task.goalId && one.workNodeId === task.workNodeId);
      const about = agent ? aboutAgent(agent) : { node };
      return { kind: "task", task, key: `task ${node}`, about, words: `${node} ${task.name} ${task.status}` };
    });
}
