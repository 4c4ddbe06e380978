/**
 * What the reflex adds to a hook while all is well: the hook at the end of a step, of an agent with a role and of one
 * without, turn about. In the note is what counts: the difference, which is to be at most one millisecond.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILT_IN_ROLES, readRole } from "#config/roles.ts";
import { schema } from "#config/schema.ts";
import { REFLEX_FILE, reflexFile } from "#domain/signals/reflex-file.ts";
import { type Measure, remarked, turnAbout } from "./row.ts";

const project = join(import.meta.dir, "../..");

export const reflex: Measure = async ({ quick, scratch, until }) => {
  const root = join(scratch, "steered");
  const state = join(root, ".git/overseer");
  const role = readRole("builder", BUILT_IN_ROLES.get("builder") ?? "", "builder");
  for (const attempt of [1, 2]) {
    const directory = `${state}/run/attempts/${attempt}`;
    mkdirSync(directory, { recursive: true });
    writeFileSync(`${directory}/policy.json`, JSON.stringify({ v: 1, attempt, interactive: false }));
    if (attempt === 2) continue;
    const who = { agent: "a", attempt, role: "builder", capability: "builder", goalId: "g", workNodeId: "T1" };
    const unit = { ...who, task: "Do it", runtime: "claude-code", worktree: root, branch: "b" };
    const places = { keep: 50, directory: `${state}/salute`, shared: null };
    const file = reflexFile(role, schema.parse({}).reflex, { unit, windows: {}, salute: places });
    writeFileSync(`${directory}/${REFLEX_FILE}`, JSON.stringify(file));
  }
  const call = { tool_name: "Bash", tool_use_id: "t", tool_input: { command: "npm test" }, tool_response: "ok" };
  const payload = new TextEncoder().encode(JSON.stringify({ session_id: "s", cwd: root, tool_calls: [call] }));
  const cpu = (attempt: number) => {
    const env = { PATH: process.env.PATH ?? "", OVERSEER_ROOT: root, OVERSEER_ATTEMPT: String(attempt) };
    const argv = [process.execPath, join(project, "dist/hook.js"), "PostToolBatch"];
    const done = Bun.spawnSync(argv, { cwd: root, env, stdin: payload, stdout: "pipe", stderr: "pipe" });
    if (done.exitCode !== 0 || done.stdout.length > 0) throw new Error(`${done.stdout}${done.stderr}`);
    return Number(done.resourceUsage.cpuTime.total) / 1000;
  };
  const measured = await turnAbout(
    { turns: quick ? 20 : 200, until },
    () => cpu(1),
    () => cpu(2),
  );
  return remarked(measured, `adds ${(measured.workMs - measured.floorMs).toFixed(2)} ms`);
};
