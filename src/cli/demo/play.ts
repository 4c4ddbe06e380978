/**
 * Plays the demo: makes the repository, gives the goal and its plan to a daemon, kills that daemon at the worst moment,
 * answers the one question, and waits until the goal is reached. It does what a person would do, with the commands a
 * person would type, and knows nothing of the inside: everything it tells comes out of `overseer events`.
 */

import { OverseerError } from "#errors.ts";
import type { Exec } from "#sys/exec.ts";
import type { Processes } from "#sys/processes.ts";
import { narrate, type StoryLine, type ToldEvent } from "./narrate.ts";
import { type DemoSandbox, writeInto } from "./place.ts";
import { CHOICES, type Production } from "./production.ts";
import { repositoryFiles } from "./story.ts";

export interface Stage {
  readonly place: DemoSandbox;
  readonly exec: Exec;
  readonly processes: Processes;
  sleep(ms: number): Promise<void>;
  /** What calls this program. */
  readonly program: readonly string[];
  /** True from the moment somebody interrupted: nothing is started any more. */
  isInterrupted(): boolean;
  /** A line of the story. */
  tell(line: StoryLine): void;
  /** Every event, told or not. */
  note(event: ToldEvent): void;
  /** What the person says, or undefined when they say nothing for a moment. */
  answer(choices: readonly string[]): Promise<string | undefined>;
}

/** Calls `overseer` as a person would, in the demo's repository. */
export async function overseer(stage: Stage, ...words: string[]): Promise<string> {
  return call(stage, [...stage.program, ...words], `overseer ${words.join(" ")}`);
}

async function call(stage: Stage, argv: readonly string[], shown: string): Promise<string> {
  if (stage.isInterrupted())
    throw new OverseerError("conflict", "INTERRUPTED", "The demo was interrupted.", "Run it again.");
  const { repo: cwd, env } = stage.place;
  const { code, stdout, stderr } = await stage.exec.run(argv, { cwd, env });
  if (code === 0) return stdout;
  throw new OverseerError(
    "environment",
    "DEMO_FAILED",
    `'${shown}' failed in the demo: ${(stderr || stdout).trim()}`,
    "Run 'overseer demo --keep' and look around in what it leaves.",
  );
}

/** Returns the goal's id once it is reached. */
export async function play(stage: Stage, production: Production): Promise<string> {
  const { repo } = stage.place;
  writeInto(repo, repositoryFiles());
  for (const words of [
    ["init", "--quiet", "--initial-branch", "main"],
    ["add", "--all"],
    ["commit", "--quiet", "-m", "Begin"],
  ]) {
    await call(stage, ["git", ...words], `git ${words[0]}`);
  }
  await overseer(stage, "init");
  writeInto(repo, {
    ".overseer/config.yaml": production.configuration,
    ".overseer/plan.json": production.plan,
  });
  const goal = JSON.parse(await overseer(stage, "goal", "create", "Greet people in their own language", "--json")) as {
    goalId: string;
  };
  await overseer(stage, "goal", "plan", goal.goalId, "--file", ".overseer/plan.json");
  const follower = follow(stage, production.longestMs);
  try {
    await overseer(stage, "up");
    await untilReached(stage, production, follower.events);
  } finally {
    follower.stop();
  }
  return goal.goalId;
}

async function untilReached(stage: Stage, { runtime, asks, dies }: Production, events: AsyncIterable<ToldEvent>) {
  const starting = new Set<string>();
  let question: ToldEvent | undefined;
  let daemon = 0;
  let isAnswered = false;
  let isBack = dies === undefined;
  for await (const event of events) {
    stage.note(event);
    const line = narrate(event);
    if (line) stage.tell(line);
    if (runtime !== "scripted" && event.type === "action.failed" && starting.has(String(event.data.actionId))) {
      throw notStarted(event);
    }
    noteStarting(starting, event);
    if (event.type === "daemon.started") daemon = Number(event.data.pid);
    if (event.type === "question.asked") {
      if (event.nodeId === asks && !question && !isAnswered) question = event;
      else otherQuestion(stage, event);
    }
    isBack ||= isRestartDone(event) && event.nodeId === dies;
    // Not in the middle of starting somebody: an agent that has to be started once more would tell another story.
    if (question && !isAnswered && isBack && starting.size === 0) {
      isAnswered = true;
      void interlude(stage, daemon, question);
    }
    if (event.type === "goal.completed") return;
  }
  throw new OverseerError(
    "environment",
    "DEMO_CUT_OFF",
    "The log ended before the goal was reached.",
    "Run it again with --keep.",
  );
}

function isRestartDone({ type, data }: ToldEvent): boolean {
  return type === "action.done" && String(data.actionId).startsWith("restart:");
}

const STARTS = ["spawn", "restart", "reassign"];

/** Agents that are to be started, and are not at work yet. */
function noteStarting(starting: Set<string>, { type, data }: ToldEvent): void {
  const id = String(data.actionId ?? "");
  if (type === "action.decided" && STARTS.includes(String(data.kind))) starting.add(id);
  const isOver = type === "action.done" || type === "action.dropped" || (type === "action.failed" && !data.retryAt);
  if (isOver) starting.delete(id);
}

/** Any other question than the story's own: agents may decide, but what the fleet itself needs a person for ends it. */
function otherQuestion(stage: Stage, { actor, data }: ToldEvent): void {
  if (actor === "overseer" && optionsOf(data).length > 0) {
    const said = `The fleet asks: ${String(data.text)}`;
    throw new OverseerError(
      "conflict",
      "DEMO_NEEDS_YOU",
      said,
      "Run it with --keep and look around in what it leaves.",
    );
  }
  const answer = "Decide it yourself; this is a demo.";
  void overseer(stage, "answer", String(data.questionId), answer).catch((error) => tellFailure(stage, error));
}

function optionsOf(data: ToldEvent["data"]): readonly string[] {
  return Array.isArray(data.options) ? data.options.map(String) : [];
}

function notStarted({ data }: ToldEvent): OverseerError {
  return new OverseerError(
    "environment",
    "DEMO_NOT_STARTED",
    `An agent could not be started: ${String(data.problem)}`,
    "See what is missing with: overseer doctor",
  );
}

function tellFailure(stage: Stage, error: unknown): void {
  if (stage.isInterrupted()) return;
  stage.tell({ tone: "trouble", about: "", text: error instanceof Error ? error.message : String(error) });
}

/** While an agent waits for its answer: the daemon is killed, and a new one comes up beside the agents. */
async function interlude(stage: Stage, daemon: number, { data }: ToldEvent): Promise<void> {
  try {
    const it = stage.processes.identify(daemon);
    if (it) stage.processes.signal(it, "SIGKILL");
    const text = `The daemon is killed with kill -9 (pid ${daemon}). Its agents keep running.`;
    stage.tell({ tone: "trouble", about: "", text });
    await stage.sleep(500);
    await overseer(stage, "up");
    const choices = optionsOf(data).length > 0 ? optionsOf(data) : CHOICES;
    const choice = (await stage.answer(choices)) ?? choices.at(-1) ?? "";
    await overseer(stage, "answer", String(data.questionId), choice);
  } catch (error) {
    tellFailure(stage, error);
  }
}

/** The log as it is written, from its beginning. */
function follow(
  { place, program }: Stage,
  longestMs: number,
): { readonly events: AsyncIterable<ToldEvent>; stop(): void } {
  // A stream without an end, so not by the exec port; it carries the place's mark and is ended with everything else.
  const child = Bun.spawn([...program, "events", "--follow", "--json", "--after", "0", "--limit", "1000"], {
    cwd: place.repo,
    env: place.env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const deadline = setTimeout(() => child.kill("SIGKILL"), longestMs);
  return {
    events: linesOf(child.stdout),
    stop() {
      clearTimeout(deadline);
      child.kill("SIGKILL");
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncIterable<ToldEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as ToldEvent;
  }
}
