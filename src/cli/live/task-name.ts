/** What a task is called on a screen: `T1 Parse dates` instead of `goal_…/T1`, which commands still name. Pure. */
import { nodeKey } from "#domain/model/work.ts";
import { clipToColumns } from "./line.ts";
import type { View } from "./view.ts";

const MOST_NAME = 40;

/** By key; made once a look. */
const known = new WeakMap<View["status"], ReadonlyMap<string, string>>();

function listNames({ work, status }: View): ReadonlyMap<string, string> {
  const before = known.get(status);
  if (before) return before;
  const names = new Map<string, string>();
  const call = (goalId: string, node: string, name: string) =>
    names.set(nodeKey(goalId, node), clipToColumns(`${node} ${name}`.replace(/\s+/g, " ").trim(), MOST_NAME));
  for (const { goalId, workNodeId, task } of status.agents) call(goalId, workNodeId, task ?? "");
  for (const { goalId, workNodeId, name } of work) call(goalId, workNodeId, name);
  const counts = new Map<string, number>();
  for (const name of names.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const found = new Map([...names].filter(([, name]) => counts.get(name) === 1));
  known.set(status, found);
  return found;
}

/** The key itself where its name is not known, or two open tasks would be called the same. */
export function nameTask(key: string, view: View): string {
  return listNames(view).get(key) ?? key;
}

/** A sentence with its tasks by name; a command in it stays as it is typed. */
export function nameTasksIn(text: string, keys: readonly string[], view: View): string {
  return keys.reduce((said, key) => {
    const name = nameTask(key, view);
    if (name === key || !said.includes(key)) return said;
    const plain = key.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    // The words of a command before it are part of what is found, and then nothing is changed.
    const found = new RegExp(`(overseer [a-z -]* )?${plain}(?![\\w.-]*\\w)`, "g");
    return said.replace(found, (all: string, command: string | undefined) => (command === undefined ? name : all));
  }, text);
}
