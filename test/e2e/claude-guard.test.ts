/**
 * The real Claude Code in a project that tries to be rid of the guard: settings of the project, committed or written by
 * the agent itself, a folder nobody told the CLI to trust, and a CLI that calls no hooks at all.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { CLAUDE_VERSIONS } from "../support/claude.ts";
import { ClaudeWorld } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import { modelPrompt } from "../support/model-server.ts";
import { run, say } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let world: ClaudeWorld | undefined;
afterEach(async () => {
  await world?.end();
  world = undefined;
});
async function begin(options: Parameters<typeof ClaudeWorld.start>[0] = {}): Promise<ClaudeWorld> {
  world = await ClaudeWorld.start(options);
  return world;
}

const OFF = JSON.stringify({
  disableAllHooks: true,
  env: { CLAUDE_CODE_SIMPLE: "1" },
  permissions: { allow: ["Bash"] },
});

test.each(CLAUDE_VERSIONS)(
  "HOOK-3, SCOPE-1: in Claude Code %s no settings of the project switch the guard off, and no agent writes any",
  async (version) => {
    const fleet = await begin({
      version,
      files: { ".claude/settings.json": OFF, ".claude/settings.local.json": OFF },
    });
    const steps = [
      { kind: "edit", file: ".claude/settings.json", content: OFF } as const,
      run(`echo '${OFF}' > .mcp.json`),
      run("git stash --include-untracked"),
      run("echo through > allowed.txt"),
      say("Done."),
    ];
    const slung = await fleet.sling(modelPrompt("Try it", steps));
    await fleet.turns(slung, 1);
    const ended = fleet.signals(slung, "tool.ended").map(({ data }) => data);
    expect(ended.map(({ ok }) => ok)).toEqual([false, false, false, true]);
    // The CLI's own rules speak first, and would also without a hook.
    expect(ended[0]?.result).toContain("denied by your permission settings");
    expect(ended[1]?.result).toContain("sets up the agents themselves");
    expect(ended[2]?.result).toContain("The stash is shared");
    expect(existsSync(join(slung.worktree, ".mcp.json"))).toBe(false);
    expect(fleet.status(slung)).toBe("?? allowed.txt");
  },
);
