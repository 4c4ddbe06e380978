/**
 * Plays the demo: makes the repository, gives the goal and its plan to a daemon, kills that daemon at the worst moment,
 * answers the one question, and waits until the goal is reached. It does what a person would do, with the commands a
 * person would type, and knows nothing of the inside: everything it tells comes out of `overseer events`.
 */

import { OverseerError } from "#errors.ts";
import type { Exec } from "#sys/exec.ts";
import type { Processes } from "#sys/processes.ts";
import { type Line, type ToldEvent, told } from "./narrate.ts";
import { type Place, writeInto } from "./place.ts";
import { CHOICES, configuration, planFile, QUESTION, repositoryFiles, type StoryOptions } from "./story.ts";

export interface Stage {
  readonly place: Place;
  readonly exec: Exec;
  readonly processes: Processes;
  sleep(ms: number): Promise<void>;
  /** What calls this program. */
  readonly program: readonly string[];
  /** True from the moment somebody interrupted: nothing is started any more. */
  interrupted(): boolean;
  /** A line of the story. */
  tell(line: Line): void;
  /** Every event, told or not. */
  note(event: ToldEvent): void;
  /** What the person says, or undefined when they say nothing for a moment. */
  answer(choices: readonly string[]): Promise<string | undefined>;
}

const LONGEST_MS = 300_000;

/** Calls `overseer` as a person would, in the demo's repository. */
export async function overseer(stage: Stage, ...words: string[]): Promise<string> {
  return call(stage, [...stage.program, ...words], `overseer ${words.join(" ")}`);
}

async function call(stage: Stage, argv: readonly string[], shown: string): Promise<string> {
  if (stage.interrupted())
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
export async function play(stage: Stage, story: StoryOptions): Promise<string> {
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
  writeInto(repo, { ".overseer/config.yaml": configuration(story), ".overseer/run/plan.json": planFile(story) });
  const goal = JSON.parse(await overseer(stage, "goal", "create", "Greet people in their own language", "--json")) as {
    goalId: string;
  };
  await overseer(stage, "goal", "plan", goal.goalId, "--file", ".overseer/run/plan.json");
  const follower = follow(stage);
  try {
    await overseer(stage, "up");
    await untilReached(stage, follower.events);
  } finally {
    follower.stop();
  }
  return goal.goalId;
}

async function untilReached(stage: Stage, events: AsyncIterable<ToldEvent>): Promise<void> {
  for await (const event of events) {
    stage.note(event);
    const line = told(event);
    if (line) stage.tell(line);
    if (event.type === "question.asked" && event.data.text === QUESTION) {
      void interlude(stage, String(event.data.questionId));
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

/** While an agent waits for its answer: the daemon is killed, and a new one comes up beside the agents. */
async function interlude(stage: Stage, questionId: string): Promise<void> {
  try {
    const { daemon } = JSON.parse(await overseer(stage, "status", "--json")) as { daemon: { pid: number } };
    const it = stage.processes.identify(daemon.pid);
    if (it) stage.processes.signal(it, "SIGKILL");
    stage.tell({
      tone: "trouble",
      about: "",
      text: `The daemon is killed with kill -9 (pid ${daemon.pid}). Its agents go on.`,
    });
    await stage.sleep(500);
    await overseer(stage, "up");
    const choice = await stage.answer(CHOICES);
    await overseer(stage, "answer", questionId, choice ?? CHOICES[1]);
  } catch (error) {
    if (!stage.interrupted())
      stage.tell({ tone: "trouble", about: "", text: error instanceof Error ? error.message : String(error) });
  }
}

/** The log as it is written, from its beginning. */
function follow({ place, program }: Stage): { readonly events: AsyncIterable<ToldEvent>; stop(): void } {
  // A stream without an end, so not by the exec port; it carries the place's mark and is ended with everything else.
  const child = Bun.spawn([...program, "events", "--follow", "--json", "--after", "0", "--limit", "1000"], {
    cwd: place.repo,
    env: place.env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const deadline = setTimeout(() => child.kill("SIGKILL"), LONGEST_MS);
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
