/**
 * The real Claude Code as the remediating agent, with the scripted model behind it: it repairs a broken config.yaml in the
 * user's own checkout, and what it must not write it is denied by its permit.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RemedyContext } from "#domain/guard/remedy-context.ts";
import type { Step } from "#runtimes/scripted/language.ts";
import { CLAUDE_VERSIONS } from "../support/claude.ts";
import { ClaudeWorld } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import { textOf } from "../support/model-server.ts";
import { run, say } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let world: ClaudeWorld | undefined;
afterEach(async () => {
  await world?.end();
  world = undefined;
});

const CONTEXT: RemedyContext = {
  v: 1,
  failure: { kind: "exited", detail: "The daemon ended with exit code 6.", at: 1_700_000_000_000 },
  registration: null,
  guard: { pid: 1, since: 1_699_999_000_000 },
  try: 1,
};
const edit = (file: string, content: string): Step => ({ kind: "edit", file, content });

test.each(CLAUDE_VERSIONS)(
  "FAIL-21, GUARD-7: Claude Code %s repairs a broken config.yaml, and is denied the database, run/ and the user's checkout",
  async (version) => {
    const steps: Step[] = [];
    const fleet = await ClaudeWorld.start({
      version,
      files: { "notes.txt": "the user's\n" },
      model: { scriptFor: (text) => (text.includes("# What failed") ? steps : undefined) },
      config: { guard: { remediationPrompt: "Repair it." } },
    });
    world = fleet;
    await fleet.ok("config", "accept");
    const config = join(fleet.repo.path, ".overseer/config.yaml");
    const good = readFileSync(config, "utf8");
    writeFileSync(config, good.replace("{", "{{["));
    const database = join(fleet.state, "overseer.db");
    const before = Bun.hash(readFileSync(database));
    writeFileSync(join(fleet.repo.path, ".git/index.lock"), "");
    steps.push(
      run("cat .overseer/config.yaml && git status --short | head -5"),
      edit(database, "gone\n"),
      edit(join(fleet.state, "run/intent.json"), "{}\n"),
      edit(join(fleet.repo.path, "new.txt"), "mine\n"),
      run("echo mine > notes.txt"),
      run("rm -rf .git/overseer"),
      run('python3 -c \'open("new.txt", "w")\''),
      run("rm .git/index.lock"),
      { kind: "read", file: config },
      edit(config, good),
      say("Repaired."),
    );
    const file = join(fleet.state, "run/remedy-context.json");
    writeFileSync(file, JSON.stringify(CONTEXT), { mode: 0o600 });
    const { code, stdout, stderr } = await fleet.run("remediate", file, "--json");
    const { outcome, log, tries } = JSON.parse(stdout || "{}") as { outcome: string; log: string; tries: number };
    const transcript = log ? readFileSync(log, "utf8") : "";
    expect({ code, outcome, tries, stderr }).toEqual({ code: 0, outcome: "finished", tries: 1, stderr: "" });
    expect(readFileSync(config, "utf8")).toBe(good);
    expect(Bun.hash(readFileSync(database))).toBe(before);
    expect(existsSync(join(fleet.state, "run/intent.json"))).toBe(false);
    expect(existsSync(join(fleet.repo.path, "new.txt"))).toBe(false);
    expect(readFileSync(join(fleet.repo.path, "notes.txt"), "utf8")).toBe("the user's\n");
    expect(existsSync(join(fleet.repo.path, ".git/index.lock"))).toBe(false);
    // The CLI's own rules speak first where they know the file.
    expect(transcript.match(/=== \S+ result, failed/g)).toHaveLength(6);
    expect(transcript.match(/Refused by Overseer: /g)?.length).toBeGreaterThanOrEqual(4);
    expect(transcript).toContain("Repaired.");
    const first = fleet.model.requests.find((one) => one.kind === "conversation");
    const heard = first ? textOf(first) : "";
    for (const part of [
      "Repair it.",
      "the last good settings",
      "The daemon ended with exit code 6.",
      "exit normally",
    ]) {
      expect(heard).toContain(part);
    }
    // The settings that came back are the ones in effect.
    await fleet.ok("config", "show");
  },
);

test("GUARD-3, FAIL-1: a guard has Claude Code repair the pool that its daemon died of, and the daemon comes back by itself", async () => {
  const steps: Step[] = [];
  const fleet = await ClaudeWorld.start({
    model: { scriptFor: (text) => (text.includes("# What failed") ? steps : undefined) },
    config: { guard: { checkEvery: "200ms", cooldown: "1s" }, auto: { taskPoolCommand: "exit 1" } },
  });
  world = fleet;
  await fleet.ok("config", "accept");
  const config = join(fleet.repo.path, ".overseer/config.yaml");
  const broken = readFileSync(config, "utf8");
  steps.push(
    { kind: "read", file: config },
    edit(config, broken.replace("exit 1", "exit 4")),
    say("The pool is empty now."),
  );
  const guard = fleet.begin("guard", "--auto");
  try {
    await fleet.until(() => {
      const path = join(fleet.state, "run/auto.heartbeat");
      const said = existsSync(path) ? readFileSync(path, "utf8") : "";
      return said.includes("the pool has no task now");
    }, "a daemon whose pool works again");
  } finally {
    guard.kill("SIGINT");
    await guard.exited;
  }
  const said = await guard.stdout.text();
  expect(said).toContain("The task pool command ended with 1.");
  expect(said).toContain("✓ Remediation complete. Restarting daemon...");
  expect(readFileSync(config, "utf8")).toContain("exit 4");
  expect(guard.exitCode).toBe(0);
});
