/**
 * What the demo plays, whoever plays it: a plan, a configuration, and how long it may take at most. There are two:
 * story.ts has scripted agents and everything that can go wrong, own-agent.ts the agent of the person who runs it.
 */

export interface StoryOptions {
  /** How many agents may work at the same time. */
  readonly agents: number;
  /** 2 is twice as fast; waits shrink, what happens stays. */
  readonly speed: number;
}

export interface Production {
  readonly runtime: "scripted" | "claude-code";
  readonly tasks: number;
  /** The text of .overseer/config.yaml. */
  readonly configuration: string;
  /** The plan as `goal plan --file` takes it. */
  readonly plan: string;
  /** The task whose agent asks a person; its first question is the moment at which the daemon is killed. */
  readonly asks: string;
  /** The task whose agent dies, where one does: it has to be back at work before the daemon is killed too. */
  readonly dies?: string;
  /** What its processes get to know beyond the usual. */
  readonly environment: Readonly<Record<string, string>>;
  readonly longestMs: number;
}

export interface Task {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

export interface Phase<T extends Task = Task> {
  readonly id: string;
  readonly name: string;
  readonly dependsOn?: readonly string[];
  readonly tasks: readonly T[];
}

export const QUESTION = "Shall the front page greet formally or familiarly?";
export const CHOICES = ["formally", "familiarly"] as const;

export function planFile<T extends Task>(phases: readonly Phase<T>[], objectiveOf: (task: T) => string): string {
  const plan = phases.map(({ id, name, dependsOn = [], tasks }) => ({
    ...{ id, name, dependsOn, objective: `${name}: all of it`, acceptance: ["every part of it is on the main branch"] },
    tasks: tasks.map((task) => ({
      ...{ id: task.id, name: task.name, dependsOn: [], acceptance: ["sh test.sh passes"] },
      objective: objectiveOf(task),
    })),
  }));
  return JSON.stringify({ planVersion: 1, phases: plan }, null, 2);
}
