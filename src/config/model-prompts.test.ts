/** PLAN-1, GOAL-2: the texts with which models are asked are files that people can read and change. */
import { expect, test } from "bun:test";
import { hashPrompt, listStrangePrompts, loadModelPrompt, MODEL_PROMPTS, PLAN_GOAL } from "./model-prompts.ts";
import type { ReadDir } from "./read-dir.ts";

const GROUND = { project: "/repo", userDir: "/repo/.overseer" };

function folder(files: Readonly<Record<string, string>>): ReadDir {
  return {
    read: async (path) => files[path.replace("/repo/.overseer/prompts/", "")],
    list: async () => Object.keys(files),
  };
}

test("PLAN-1: without a file of the user's it is ours, and a file that says the same is ours too", async () => {
  expect(await loadModelPrompt(folder({}), GROUND, PLAN_GOAL)).toBe(PLAN_GOAL);
  expect(await loadModelPrompt(folder({ "plan-goal.md": PLAN_GOAL.text }), GROUND, PLAN_GOAL)).toBe(PLAN_GOAL);
});

test("GOAL-2: a text of the user's own wins, keeps its id, and has another hash", async () => {
  const own = await loadModelPrompt(folder({ "plan-goal.md": `${PLAN_GOAL.text}\nBe brief.\n` }), GROUND, PLAN_GOAL);
  expect(own).toMatchObject({ id: "plan-goal", own: true });
  expect(own.text).toContain("Be brief.");
  expect(hashPrompt(own)).not.toBe(hashPrompt(PLAN_GOAL));
});

test.each<[what: string, text: string, says: RegExp]>([
  ["lacks its material", PLAN_GOAL.text.replace("{{goal}}", ""), /plan-goal\.md: it has no \{\{goal\}\}/],
  [
    "has a place nobody fills",
    `${PLAN_GOAL.text}{{repositry}}`,
    /no \{\{repositry\}\}; did you mean \{\{repository\}\}\?/,
  ],
])("PLAN-1: a text that %s is refused with the next step", async (_what, text, says) => {
  const files = folder({ "plan-goal.md": text });
  expect(loadModelPrompt(files, GROUND, PLAN_GOAL)).rejects.toThrow(says);
});

test("PLAN-1: a file that is no text of ours is told, with the one that was probably meant", async () => {
  const files = folder({ "plan-gaol.md": "x", "resolve-conflict.md": "y" });
  expect(await listStrangePrompts(files, GROUND)).toEqual([
    "prompts/plan-gaol.md is not used: did you mean plan-goal.md?",
  ]);
});

test.each(MODEL_PROMPTS.map(({ id, text }) => [id, text] as const))(
  "PLAN-2: whatever %s is given stands between marked lines, or is a name, a path or a number",
  (_id, text) => {
    const outside = text.replace(/--- BEGIN [^\n]*\n[\s\S]*?--- END [^\n]*\n/g, "");
    const places = [...outside.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name);
    const allowed = [
      ...["path", "objective", "maxPhases", "maxTasks", "maxSubtasks", "questions"],
      ...["mostParts", "mostActions", "mostMinutes"],
    ];
    expect(places.filter((name) => !allowed.includes(name ?? ""))).toEqual([]);
  },
);
