import { expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { type HookName, Hooks, loadHooks } from "./hooks.ts";

function hooksOf(event: HookName, hook: Record<string, unknown>, matcher = ""): Hooks {
  const settings = JSON.stringify({ hooks: { [event]: [{ matcher, hooks: [{ type: "command", ...hook }] }] } });
  return new Hooks(loadHooks(settings), { cwd: tmpdir() }, { PATH: process.env.PATH ?? "/usr/bin:/bin" });
}

const context = (text: string) =>
  `printf '%s' '${JSON.stringify({ hookSpecificOutput: { additionalContext: text } })}'`;

const cases: [why: string, event: HookName, hook: Record<string, unknown>, verdict: Record<string, unknown>][] = [
  ["silence is consent", "PreToolUse", { command: "true" }, { blocked: undefined, context: [] }],
  [
    "exit 2 blocks and shows the command",
    "PreToolUse",
    { command: "echo no >&2; exit 2" },
    { blocked: "[echo no >&2; exit 2]: no" },
  ],
  ["exit 1 lets pass", "PreToolUse", { command: "exit 1" }, { blocked: undefined }],
  ["a missing program lets pass", "PreToolUse", { command: "/no/such/program" }, { blocked: undefined }],
  ["too late lets pass", "PreToolUse", { command: "sleep 30", timeout: 0.05 }, { blocked: undefined }],
  [
    "unless it is to block",
    "PreToolUse",
    { command: "sleep 30", timeout: 0.05, onFailure: "block" },
    { blocked: expect.stringContaining("timed out") },
  ],
  [
    "context names its event and tool",
    "PostToolUse",
    { command: context("hi") },
    { context: ["PostToolUse:Bash hook additional context: hi"] },
  ],
  [
    "words on stdout count at a prompt",
    "UserPromptSubmit",
    { command: "echo hi" },
    { context: ["UserPromptSubmit:Bash hook success: hi"] },
  ],
  ["but not after a tool", "PostToolUse", { command: "echo hi" }, { context: [] }],
  ["a turn can be stopped", "PostToolUse", { command: `echo '{"continue":false}'` }, { stopped: true }],
  ["broken JSON harms nobody", "PreToolUse", { command: "echo '{'" }, { blocked: undefined }],
  [
    "input can be changed",
    "PreToolUse",
    { command: `echo '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"ls"}}}'` },
    { blocked: undefined, updatedInput: { command: "ls" } },
  ],
  [
    "a hook of another type is not played",
    "PreToolUse",
    { type: "http", url: "http://127.0.0.1:1" },
    { blocked: undefined },
  ],
];

test.each(cases)("RUN-1: hooks as a real agent takes them: %s", async (_why, event, hook, verdict) => {
  expect(await hooksOf(event, hook).call(event, {}, "Bash")).toMatchObject(verdict);
});

const matchers: [matcher: string, tool: string, called: boolean][] = [
  ["", "Bash", true],
  ["*", "Bash", true],
  ["Write|Edit", "Edit", true],
  ["Write|Edit", "NotebookEdit", false],
  ["Bash", "Write", false],
  ["(", "Bash", false],
];

test.each(matchers)("RUN-1: the matcher %p and the tool %s: %p", async (matcher, tool, called) => {
  const hooks = hooksOf("PreToolUse", { command: "exit 2" }, matcher);
  expect((await hooks.call("PreToolUse", {}, tool)).blocked !== undefined).toBe(called);
});

test("RUN-1: a payload larger than a pipe harms nobody, even when the hook reads none of it", async () => {
  const hooks = hooksOf("PreToolUse", { command: "exit 2" });
  expect((await hooks.call("PreToolUse", { tool_input: "x".repeat(3_000_000) }, "Bash")).blocked).toBeDefined();
});

test("asked by HTTP, a hook is understood by status and body, as unkindly as a command; a session's start is not asked", async () => {
  const said: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      said.push(`${pathname} ${request.headers.get("authorization")} ${await request.text()}`);
      if (pathname === "/deny")
        return Response.json({ hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: "no" } });
      if (pathname === "/slow") await Bun.sleep(1_000);
      if (pathname === "/odd") return new Response("odd");
      return new Response(null, { status: pathname === "/broken" ? 500 : 200 });
    },
  });
  try {
    const url = `http://127.0.0.1:${server.port}`;
    const call = async (event: HookName, path: string, more: Record<string, unknown> = {}) => {
      const hook = {
        type: "http",
        url: `${url}${path}`,
        headers: { authorization: "Bearer x" },
        timeout: 0.2,
        ...more,
      };
      const table = loadHooks(JSON.stringify({ hooks: { [event]: [{ hooks: [hook] }] } }));
      return (await new Hooks(table, { cwd: tmpdir() }, {}).call(event, {}, "Bash")).blocked;
    };
    expect(await call("PreToolUse", "/fine")).toBeUndefined();
    expect(said[0]).toStartWith("/fine Bearer x {");
    expect(await call("PreToolUse", "/deny")).toBe("no");
    for (const path of ["/broken", "/odd", "/slow"]) {
      expect(await call("PreToolUse", path)).toBeUndefined();
      expect(await call("PreToolUse", path, { onFailure: "block" })).toContain('onFailure is "block"');
    }
    const asked = said.length;
    await call("SessionStart", "/deny");
    expect(said).toHaveLength(asked);
  } finally {
    await server.stop(true);
  }
});
