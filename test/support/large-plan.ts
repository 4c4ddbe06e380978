/** Plans as large as a model may write them, and larger: what screens, rules and the bench are tried with. */
import type { PlannedNode } from "#domain/plans/plan.ts";
import { planned } from "./samples.ts";

/** What a model's plan can have at most: five phases of seven tasks of seven subtasks, less what makes it 245 nodes. */
export const LARGE = 245;

/** So many nodes in five phases: tasks with six subtasks each and one that fills up, most after the one before the last. */
export function planOf(nodes: number): PlannedNode[] {
  const tasks = Math.ceil((nodes - 5) / 7);
  const all = Array.from({ length: tasks }, (_, index) => {
    const below = index < tasks - 1 ? 6 : nodes - 5 - 7 * (tasks - 1) - 1;
    return planned(`T${index + 1}`, {
      name: `Task number ${index + 1} of the large plan`,
      deps: index > 1 && index % 7 !== 0 ? [`T${index - 1}`] : [],
      hints: { files: [`src/part-${index % 40}`], capability: "builder" },
      children: Array.from({ length: below }, (_, at) => planned(`S${index + 1}.${at + 1}`)),
    });
  });
  const each = Math.ceil(tasks / 5);
  return [0, 1, 2, 3, 4].map((at) =>
    planned(`P${at + 1}`, {
      name: `Phase number ${at + 1}`,
      deps: at === 0 ? [] : [`P${at}`],
      children: all.slice(at * each, (at + 1) * each),
    }),
  );
}
