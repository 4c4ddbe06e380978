import { describe, expect, test } from "bun:test";
import { shellCommand } from "#domain/core/shell-words.ts";
import { HOOK_MOMENTS, listOwnPaths } from "#domain/permit/hook-moments.ts";
import type { HookWiring } from "#runtimes/hook-dialect.ts";
import { hookSettings } from "./settings.ts";

const wiring: HookWiring = {
  hookCommand: shellCommand(["/opt/my bun/bun", "/opt/it's/dist/hook.js"]),
  permitCommand: shellCommand(["/opt/bun", "/opt/dist/permit.js", "/repo ü/policy.json"]),
  userHooks: [],
  deniedPaths: [],
  wakePipe: null,
  steered: true,
};

describe("hookSettings", () => {
  test("HOOK-1: every event has exactly one recording hook, which always ends well", () => {
    const { hooks } = hookSettings(wiring);
    expect(Object.keys(hooks).toSorted()).toEqual([...HOOK_MOMENTS].toSorted());
    for (const event of HOOK_MOMENTS) {
      const recording = (hooks[event] ?? [])
        .flatMap((group) => group.hooks)
        .filter((hook) => hook.command.includes("hook.js"));
      expect(recording).toHaveLength(1);
      expect(recording[0]?.command).toEndWith(`${event} 2>/dev/null || true`);
    }
  });

  test("SCOPE-1: the permit is an entry of its own and refuses when it cannot run", async () => {
    const missing = { ...wiring, permitCommand: shellCommand(["/nowhere/bun", "/nowhere/permit.js"]) };
    const [permit] = hookSettings(missing).hooks.PreToolUse ?? [];
    expect(permit?.matcher).toBe("Edit|Write|NotebookEdit|MultiEdit|Bash");
    expect(permit?.hooks[0]?.onFailure).toBe("block");
    const run = Bun.spawnSync(["sh", "-c", permit?.hooks[0]?.command ?? ""]);
    expect(run.exitCode).toBe(0);
    expect(JSON.parse(run.stdout.toString()).hookSpecificOutput.permissionDecision).toBe("deny");
  });

  test("HOOK-3: a recording hook whose program is gone says nothing and exits 0", () => {
    const [group] = hookSettings({ ...wiring, hookCommand: "/nowhere/bun" }).hooks.Stop ?? [];
    const run = Bun.spawnSync(["sh", "-c", group?.hooks[0]?.command ?? "exit 9"]);
    expect([run.exitCode, run.stdout.toString(), run.stderr.toString()]).toEqual([0, "", ""]);
  });

  test("HOOK-4: the user's hooks are added behind ours and take nothing away", () => {
    const own = { event: "PreToolUse", matcher: "Bash", command: "echo hi", timeoutSeconds: 3 } as const;
    const groups = hookSettings({ ...wiring, userHooks: [own] }).hooks.PreToolUse ?? [];
    expect(groups).toHaveLength(3);
    expect(groups[2]).toEqual({ matcher: "Bash", hooks: [{ type: "command", command: "echo hi", timeout: 3 }] });
    expect(groups.slice(0, 2)).toEqual([...(hookSettings(wiring).hooks.PreToolUse ?? [])]);
  });

  test("deny rules are written once each, absolute paths with the double slash", () => {
    const own = listOwnPaths({ gitCommonDir: "/r/.git", userDir: "/r/.overseer" });
    const { deny } = hookSettings({ ...wiring, deniedPaths: [...own, ...own] }, ["Task"]).permissions;
    expect(deny).toContain("Edit(//r/.git/**)");
    expect(deny).toContain("Task");
    expect(deny.some((rule) => rule.includes("worktrees"))).toBe(false);
    expect(deny).toHaveLength(2 * own.length + 1);
  });
});
