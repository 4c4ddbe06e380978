/** A goal with a plan of one phase for a real fleet, each task with the script of its agent. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import type { Fleet } from "./fleet.ts";

/** Creates it and gives it its plan; its id. */
export async function planGoal(
  fleet: Fleet,
  title: string,
  tasks: Readonly<Record<string, readonly Step[]>>,
): Promise<string> {
  const { goalId } = JSON.parse(await fleet.ok("goal", "create", title, "--json")) as { goalId: string };
  const node = { acceptance: ["it is there"] };
  const nodes = Object.entries(tasks).map(([id, steps]) => ({
    ...{ ...node, id, name: id, objective: `Do ${id}. ${renderScript(steps)}` },
  }));
  const file = join(fleet.userDir, `${goalId}.json`);
  const phase = { ...node, id: "P1", name: "P1", objective: "All of it", tasks: nodes };
  writeFileSync(file, JSON.stringify({ planVersion: 1, phases: [phase] }));
  await fleet.ok("goal", "plan", goalId, "--file", file);
  return goalId;
}

/** Writes these files, commits them and reports done. */
export function writeFiles(files: Readonly<Record<string, string>>): Step[] {
  const names = Object.keys(files);
  return [
    ...Object.entries(files).map(([file, content]): Step => ({ kind: "edit", file, content })),
    { kind: "commit", message: `Write ${names[0]}` },
    { kind: "report", status: "done", summary: `${names[0]} is written` },
  ];
}

/** A tool call that ends once this shell condition holds. */
export function waitFor(condition: string): Step {
  return { kind: "run", command: `timeout 60 sh -c 'until ${condition}; do sleep 0.05; done'` };
}
