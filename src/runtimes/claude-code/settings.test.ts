import { describe, expect, test } from "bun:test";
import { shellCommand } from "#domain/core/shell-words.ts";
import { HOOK_MOMENTS, listOwnPaths } from "#domain/permit/hook-moments.ts";
import type { HookWiring } from "#runtimes/hook-dialect.ts";
import { hookSettings, httpHookSettings } from "./settings.ts";

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
      expect(recording[0]?.command).toEndWith(`${event} 2>/dev/null || cat >/dev/null || true`);
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
    expect(deny).toHaveLength(own.length + 1);
  });
});

describe("httpHookSettings", () => {
  const endpoint = { url: "http://127.0.0.1:4000", attempt: 7, token: "ovtk_hook" };
  const safe = { failsClosed: true, listed: false };
  const driven = { ...wiring, steered: false };

  test("HOOK-1: of a driven agent only those hooks are there that have something to do, and none shows its secret in a URL", () => {
    const { hooks } = httpHookSettings(driven, [], endpoint, safe);
    const installed = Object.entries(hooks).map(
      ([event, groups]) => `${event} ${groups.map(({ hooks: [hook] }) => hook?.type)}`,
    );
    expect(installed.toSorted()).toEqual(
      [
        "Notification http",
        "PermissionRequest http",
        "PostCompact http",
        "PreCompact http",
        "PreToolUse http,http",
        "SessionEnd http",
        "SessionStart command",
        "SubagentStart http",
        "SubagentStop http",
      ].toSorted(),
    );
    expect(Object.keys(httpHookSettings({ ...driven, steered: true }, [], endpoint, safe).hooks)).toContain(
      "PostToolBatch",
    );
    const all = Object.values(hooks).flatMap((groups) => groups.flatMap((group) => group.hooks));
    const asked = all.filter((hook) => hook.type === "http");
    expect(
      asked.every(({ url, headers }) => !url.includes("ovtk") && headers.authorization === "Bearer ovtk_hook"),
    ).toBe(true);
  });

  test("SCOPE-1: only the permit blocks what it cannot be asked about, and other tools ask something else", () => {
    const { hooks } = httpHookSettings(driven, [], endpoint, safe);
    const [permit, reading] = hooks.PreToolUse ?? [];
    expect(permit?.hooks[0]).toMatchObject({ url: "http://127.0.0.1:4000/permit/7", onFailure: "block", timeout: 20 });
    const blocking = Object.values(hooks).flatMap((groups) =>
      groups.flatMap((group) => group.hooks.filter((hook) => hook.onFailure)),
    );
    expect(blocking).toHaveLength(1);
    const asks = (group: typeof permit, tool: string) => new RegExp(group?.matcher ?? "").test(tool);
    for (const tool of ["Write", "Bash", "NotebookEdit"])
      expect([asks(permit, tool), asks(reading, tool)]).toEqual([true, false]);
    for (const tool of ["Read", "BashOutput", "mcp__x__Write", "Task"]) expect(asks(reading, tool)).toBe(true);
  });

  test("SCOPE-1: a version that would make the call all the same keeps its permit as a command", () => {
    const { hooks } = httpHookSettings(driven, [], endpoint, { ...safe, failsClosed: false });
    expect(hooks.PreToolUse?.[0]?.hooks[0]).toEqual(hookSettings(wiring).hooks.PreToolUse?.[0]?.hooks[0]);
    expect(hooks.PreToolUse?.[1]?.hooks[0]?.type).toBe("http");
  });

  test("HOOK-2: of an agent on its own screen every moment is told, and what wakes it stays as it is", () => {
    const onScreen = { ...driven, wakePipe: "/a/wake" };
    const { hooks, statusLine } = httpHookSettings(onScreen, [], endpoint, safe);
    expect(Object.keys(hooks).toSorted()).toEqual([...HOOK_MOMENTS].toSorted());
    expect(hooks.Stop?.[1]).toEqual(hookSettings(onScreen).hooks.Stop?.[1] ?? { hooks: [] });
    expect(statusLine).toEqual(hookSettings(onScreen).statusLine);
    expect(hooks.PreToolUse?.[1]?.matcher).toBeUndefined();
  });

  test("HOOK-4: the user's hooks stay, also at moments at which we have nothing to say", () => {
    const own = { event: "Stop", matcher: null, command: "echo hi", timeoutSeconds: null } as const;
    const { hooks, allowedHttpHookUrls } = httpHookSettings({ ...driven, userHooks: [own] }, [], endpoint, safe);
    expect(hooks.Stop).toEqual([{ hooks: [{ type: "command", command: "echo hi" }] }]);
    expect(allowedHttpHookUrls).toBeUndefined();
    const listed = httpHookSettings(driven, [], endpoint, { ...safe, listed: true });
    expect(listed.allowedHttpHookUrls).toEqual(["http://127.0.0.1:4000/*"]);
  });
});
