/** The adapter alone: what it would start, what it writes, and why it refuses. The CLI itself is met in test/contract. */
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HookWiring } from "#runtimes/hook-dialect.ts";
import type { LaunchRequest, Wish } from "#runtimes/runtime.ts";
import type { Exec, ExecResult } from "#sys/exec.ts";
import { makeClaudeCodeRuntime } from "./launch.ts";
import type { ClaudeCodeOptions } from "./probe.ts";
import { hookSettings, type httpHookSettings } from "./settings.ts";

const bin = mkdtempSync(join(tmpdir(), "bin-"));
writeFileSync(join(bin, "claude"), "#!/bin/sh\n");
chmodSync(join(bin, "claude"), 0o755);

function answering(version: string, auth = '{"loggedIn": true}'): Exec {
  return {
    async run(argv): Promise<ExecResult> {
      const stdout = argv.at(-1) === "--version" ? version : auth;
      return { code: stdout === "" ? 1 : 0, signal: null, stdout, stderr: "", timedOut: false, truncated: false };
    },
  };
}

const GOOD: ClaudeCodeOptions = {
  exec: answering("2.1.325 (Claude Code)"),
  command: ["claude"],
  searchPath: `/nowhere:${bin}`,
  home: bin,
  configDir: null,
  keys: [],
  uid: 1000,
  trustedFolder: "/repo",
};
const WISH: Wish = { permissionMode: "acceptEdits", interactive: false, project: "/repo", env: { PATH: bin } };

describe("probe", () => {
  test("RUN-1: a fit program is ready, with its place and version", async () => {
    const ready = { ready: true as const, program: `${bin}/claude`, version: "2.1.325" };
    expect(await makeClaudeCodeRuntime(GOOD).probe(WISH)).toEqual(ready);
  });

  const loggedOut = answering("2.1.325", '{\n  "loggedIn": false }');
  const bypass = { permissionMode: "bypassPermissions" };
  const refusals: [
    why: string,
    options: Partial<ClaudeCodeOptions>,
    wish: Partial<Wish>,
    says: RegExp,
    hint: RegExp,
  ][] = [
    ["not installed", { searchPath: "/nowhere" }, {}, /not installed/, /npm install -g @anthropic-ai\/claude-code/],
    [
      "not where it was said to be",
      { command: ["/nowhere/claude"] },
      {},
      /\/nowhere\/claude/,
      /runtimes\.claude-code\.command/,
    ],
    ["another program", { exec: answering("hello") }, {}, /does not answer like Claude Code/, /--version/],
    ["too old", { exec: answering("2.0.14 (Claude Code)") }, {}, /2\.0\.14 is too old/, /claude update/],
    ["much too old", { exec: answering("1.9.99") }, {}, /too old/, /claude update/],
    ["root", { uid: 0 }, bypass, /root/, /IS_SANDBOX=1/],
    ["not logged in", { exec: loggedOut }, {}, /not logged in/, /claude auth login/],
    [
      "a key that agents do not see",
      { exec: loggedOut, keys: ["ANTHROPIC_API_KEY"] },
      {},
      /ANTHROPIC_API_KEY is set here/,
      /agents\.passEnv/,
    ],
    [
      "a key and its gateway that agents do not see",
      { exec: loggedOut, keys: ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "EDITOR", "HTTPS_PROXY"] },
      {},
      /ANTHROPIC_API_KEY is set here/,
      /^Add ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL to agents\.passEnv .*also set here and not passed: HTTPS_PROXY/,
    ],
    [
      "a key that agents do not see beside a gateway that they do",
      { exec: loggedOut, keys: ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"] },
      { env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:1" } },
      /ANTHROPIC_AUTH_TOKEN is set here/,
      /^Add ANTHROPIC_AUTH_TOKEN to agents\.passEnv in \.overseer\/config\.yaml, or log in: 'claude auth login'\.$/,
    ],
    [
      "not trusted, driven",
      { trustedFolder: null },
      {},
      /trust \/repo; run 'claude' once there/,
      /OVERSEER_TRUSTED_FOLDER/,
    ],
    [
      "not trusted, on its screen",
      { trustedFolder: "/re" },
      { interactive: true },
      /trust \/repo/,
      /would run unasked/,
    ],
    ["not set up", {}, { interactive: true }, /not been set up/, /Run 'claude' once in \/repo/],
  ];
  test.each(refusals)("RUN-1: refused with the next step: %s", async (_why, options, wish, says, hint) => {
    const readiness = await makeClaudeCodeRuntime({ ...GOOD, ...options }).probe({ ...WISH, ...wish });
    if (readiness.ready) throw new Error("it was ready");
    expect(readiness.reason).toMatch(says);
    expect(readiness.hint).toMatch(hint);
  });

  test("RUN-1: root in a sandbox, root without bypass, and a version that cannot say who is logged in are let through", async () => {
    const sandbox = { ...WISH, ...bypass, env: { IS_SANDBOX: "1" } };
    expect((await makeClaudeCodeRuntime({ ...GOOD, uid: 0 }).probe(sandbox)).ready).toBe(true);
    expect((await makeClaudeCodeRuntime({ ...GOOD, uid: 0 }).probe(WISH)).ready).toBe(true);
    const mute = answering("2.1.3", "");
    expect((await makeClaudeCodeRuntime({ ...GOOD, exec: mute }).probe(WISH)).ready).toBe(true);
  });

  test("RUN-1: a folder that the CLI was told to trust may be worked in, and no other", async () => {
    const configDir = mkdtempSync(join(tmpdir(), "cfg-"));
    const state = { hasCompletedOnboarding: true, projects: { "/repo": { hasTrustDialogAccepted: true } } };
    writeFileSync(join(configDir, ".claude.json"), JSON.stringify(state));
    const runtime = makeClaudeCodeRuntime({ ...GOOD, trustedFolder: null, configDir });
    for (const interactive of [true, false]) {
      expect((await runtime.probe({ ...WISH, interactive })).ready).toBe(true);
      for (const project of ["/other", "/repo/below", "/"]) {
        const refused = { ready: false, code: "FOLDER_NOT_TRUSTED" };
        expect(await runtime.probe({ ...WISH, interactive, project })).toMatchObject(refused);
      }
    }
  });
});

const REQUEST: LaunchRequest = {
  worktree: "/w",
  directory: "/state/run/attempts/7",
  session: "5f0c",
  resume: false,
  model: null,
  permissionMode: "acceptEdits",
  allowTools: ["Bash", "Read"],
  denyTools: ["Agent"],
  systemPromptFile: "/state/run/attempts/7/system-prompt.md",
  env: { PATH: "/bin", OVERSEER_ATTEMPT: "7" },
};

describe("launch", () => {
  const flag = (argv: readonly string[], name: string) => argv[argv.indexOf(name) + 1];

  test("RUN-1: it is driven by stream-json both ways, in its worktree, with the agent's environment", () => {
    const { argv, env, cwd } = makeClaudeCodeRuntime(GOOD).launch(REQUEST);
    expect(argv.slice(0, 2)).toEqual(["claude", "-p"]);
    expect([flag(argv, "--input-format"), flag(argv, "--output-format")]).toEqual(["stream-json", "stream-json"]);
    expect(flag(argv, "--session-id")).toBe("5f0c");
    expect(flag(argv, "--append-system-prompt-file")).toBe(REQUEST.systemPromptFile);
    expect(argv).toContain("--allowedTools=Bash,Read");
    expect(argv.find((word) => word.startsWith("--disallowedTools="))).toMatch(
      /^--disallowedTools=Agent,.*EnterWorktree/,
    );
    expect(argv).not.toContain("--model");
    expect(cwd).toBe("/w");
    expect(env).toEqual({ ...REQUEST.env, DISABLE_AUTOUPDATER: "1" });
  });

  test("RUN-1: a resumed session keeps its id; a model and a moved configuration are passed on", () => {
    const runtime = makeClaudeCodeRuntime({ ...GOOD, configDir: "/home/ada/cfg" });
    const { argv, env } = runtime.launch({ ...REQUEST, resume: true, model: "opus" });
    expect(argv).not.toContain("--session-id");
    expect([flag(argv, "--resume"), flag(argv, "--model")]).toEqual(["5f0c", "opus"]);
    expect(env.CLAUDE_CONFIG_DIR).toBe("/home/ada/cfg");
  });

  test("RUN-1: on its own screen the first message is the last word, even when it looks like a flag", () => {
    const launch = makeClaudeCodeRuntime(GOOD).screen?.launch(REQUEST, "--help me");
    expect(launch?.argv.slice(-2)).toEqual(["--", "--help me"]);
    expect(launch?.argv).not.toContain("-p");
  });
});

test("HOOK-1: settings go into the attempt's own directory, and nobody speaks to the agent past us", () => {
  const hooks = {
    hookCommand: "hook",
    permitCommand: "permit",
    userHooks: [],
    deniedPaths: ["/etc/**"],
    wakePipe: null,
    steered: true,
  };
  const files = makeClaudeCodeRuntime(GOOD).prepare({ ...REQUEST, hooks });
  expect(files.map(({ path, mode }) => [path, mode])).toEqual([["/state/run/attempts/7/claude-settings.json", 0o600]]);
  expect(JSON.parse(files[0]?.text ?? "")).toEqual({
    ...JSON.parse(JSON.stringify(hookSettings(hooks))),
    env: { CLAUDE_CODE_SIMPLE: "0" },
    crossSessionInbound: "refuse",
    enabledPlugins: { "overseer@overseer": false },
  });
});

test("HOOK-3: hooks by HTTP go past proxies and lists of allowed URLs, and the permit only where it fails closed", () => {
  const { http } = makeClaudeCodeRuntime(GOOD).hooks ?? {};
  const hooks = {
    hookCommand: "hook",
    permitCommand: "permit",
    userHooks: [],
    deniedPaths: [],
    wakePipe: null,
    steered: false,
  };
  const endpoint = { url: "http://127.0.0.1:4000", attempt: 7, token: "ovtk_hook" };
  const prepare = (version: string | null, env: Record<string, string> = {}, texts: string[] = []) => {
    const file = http?.prepare({ directory: "/d", hooks, denyTools: [], env, endpoint, version, texts });
    expect(file).toMatchObject({ path: "/d/settings.http.json", mode: 0o600 });
    return JSON.parse(file?.text ?? "") as ReturnType<typeof httpHookSettings> & { env: Record<string, string> };
  };
  const permitOf = ({ hooks: of }: ReturnType<typeof prepare>) => of.PreToolUse?.[0]?.hooks[0]?.type;
  const versions = ["2.1.325", "2.2.0", "3.0.0", "2.1.324", "2.1.197", "2.0.999", null];
  expect(versions.map((version) => permitOf(prepare(version)))).toEqual([
    ...Array.from({ length: 3 }, () => "http" as const),
    ...Array.from({ length: 4 }, () => "command" as const),
  ]);
  // Also where none is set: the agent can write one into its settings while it runs.
  expect(prepare("2.1.325").env).toEqual({ CLAUDE_CODE_SIMPLE: "0", NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" });
  expect(prepare("2.1.325", { https_proxy: "http://p", NO_PROXY: "corp" }).env).toMatchObject({
    NO_PROXY: "corp,127.0.0.1",
    no_proxy: "corp,127.0.0.1",
  });
  expect(
    prepare("2.1.325", { no_proxy: "corp" }, ['{"env":{"NO_PROXY":"a.example, corp"}}', "{", '{"env":7}']).env.NO_PROXY,
  ).toBe("corp,a.example,127.0.0.1");
  expect(prepare("2.1.325", {}, ['{"allowedHttpHookUrls":[]}']).allowedHttpHookUrls).toEqual([
    "http://127.0.0.1:4000/*",
  ]);
  expect(http?.listRivals("/w")).toContain("/w/.claude/settings.json");
  const { argv } = makeClaudeCodeRuntime(GOOD).launch({ ...REQUEST, settingsFile: "/d/settings.http.json" });
  expect(argv[argv.indexOf("--settings") + 1]).toBe("/d/settings.http.json");
});

const HOOKS: HookWiring = {
  ...{ hookCommand: "hook", permitCommand: "permit", userHooks: [], deniedPaths: [], wakePipe: null, steered: false },
};

test("MCP-1: our server of tools is one more, its tools need no asking, and without it there is no word of it", () => {
  const runtime = makeClaudeCodeRuntime(GOOD);
  const request = { ...REQUEST, toolServer: ["/opt/overseer/bin/overseer", "mcp", "--spawns"] };
  const { argv } = runtime.launch(request);
  expect(argv).toContain(`--mcp-config=${REQUEST.directory}/claude-mcp.json`);
  expect(argv).toContain("--allowedTools=Bash,Read,mcp__overseer");
  expect(argv).not.toContain("--strict-mcp-config");
  const file = runtime.prepare({ ...request, hooks: HOOKS }).find(({ path }) => path.endsWith("claude-mcp.json"));
  expect(JSON.parse(file?.text ?? "")).toEqual({
    mcpServers: { overseer: { type: "stdio", command: "/opt/overseer/bin/overseer", args: ["mcp", "--spawns"] } },
  });
  expect(runtime.launch(REQUEST).argv.join(" ")).not.toContain("mcp");
  expect(runtime.prepare({ ...REQUEST, hooks: HOOKS })).toHaveLength(1);
});
