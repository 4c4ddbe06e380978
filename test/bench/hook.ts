/**
 * What a hook costs its agent: the commands exactly as they stand in the agent's settings, shell and fallback included,
 * fed through a pipe as its CLI does it, against Bun with nothing to do. A recording hook that writes, the same with a
 * tool call of an interactive agent, one that has nothing to record (what most tool calls of a driven agent meet), and
 * the permit before a command and before a file. Each from the bundle, and from the single binary (rows `binary-hook-…`);
 * main.ts has both made again where they are older than the sources.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shellCommand } from "#domain/core/shell-words.ts";
import type { HookMoment } from "#domain/permit/hook-moments.ts";
import type { PermitPolicy } from "#domain/permit/permit.ts";
import { systemCode } from "#errors.ts";
import { hookSettings } from "#runtimes/claude-code/settings.ts";
import { connect } from "#store/sqlite/file.ts";
import { hashOfToken, makeToken } from "#sys/attempt-token.ts";
import { gitIn } from "../support/git-in.ts";
import { cpuOf, type Measure, turnAbout } from "./row.ts";

const project = join(import.meta.dir, "../..");
const binary = join(project, "build/overseer");
const ATTEMPT = 7;

type From = "bundle" | "binary";

interface Place {
  readonly repo: string;
  readonly env: Record<string, string>;
  command(event: HookMoment, which: "record" | "permit", from: From): string;
}

const TOKEN = makeToken();

/** A repository with one living attempt, and its hooks. */
function place(scratch: string, interactive: boolean): Place {
  const repo = join(scratch, "hooked");
  mkdirSync(repo, { recursive: true });
  gitIn(repo, "init", "--quiet");
  const who = ["-c", "user.name=Bench", "-c", "user.email=bench@example.invalid"];
  gitIn(repo, ...who, "commit", "-qm", "x", "--allow-empty");
  cpuOf([join(project, "bin/overseer"), "init"], repo);
  const state = join(repo, ".git/overseer");
  const db = connect(`${state}/overseer.db`, false);
  db.run(
    `insert or ignore into attempts (id, attempt, agent, goal_id, node_id, status, created_at, version, doc)
     values ('7', ${ATTEMPT}, 'a', 'goal_A', 'T1', 'running', 0, 1, '{}')`,
  );
  db.close();
  const directory = `${state}/run/attempts/${ATTEMPT}`;
  mkdirSync(directory, { recursive: true });
  const policy: PermitPolicy = {
    v: 1,
    attempt: ATTEMPT,
    agent: "a",
    tokenHash: hashOfToken(TOKEN),
    worktree: repo,
    scope: ["src"],
    readOnly: false,
    mainCheckout: repo,
    gitCommonDir: `${repo}/.git`,
    state,
    scratch: ["/tmp"],
    interactive,
    signalCaps: { textBytes: 16_384, saidBytes: 2_048 },
  };
  writeFileSync(`${directory}/policy.json`, JSON.stringify(policy));
  const programs: Record<From, readonly [hook: string[], permit: string[]]> = {
    bundle: [
      [process.execPath, join(project, "dist/hook.js")],
      [process.execPath, join(project, "dist/permit.js")],
    ],
    binary: [
      [binary, "__hook"],
      [binary, "__permit"],
    ],
  };
  return {
    repo,
    // As an agent has it: the marks, and nothing of a test's.
    env: {
      PATH: process.env.PATH ?? "",
      OVERSEER_ROOT: repo,
      OVERSEER_AGENT: "a",
      OVERSEER_ATTEMPT: String(ATTEMPT),
      OVERSEER_TOKEN: TOKEN,
    },
    command(event, which, from) {
      const [hook, permit] = programs[from];
      const { hooks } = hookSettings({
        hookCommand: shellCommand(hook),
        permitCommand: shellCommand([...permit, `${directory}/policy.json`]),
        userHooks: [],
        deniedPaths: [],
        wakePipe: null,
        steered: true,
      });
      const all = (hooks[event] ?? []).flatMap((group) => group.hooks);
      return all.find((one) => (one.onFailure === "block") === (which === "permit"))?.command ?? "";
    },
  };
}

const PAYLOAD = {
  session_id: "s",
  message: "Claude is waiting for your input",
  notification_type: "idle_prompt",
  tool_name: "Bash",
  tool_input: { command: "npm test && git add -A && git commit -m 'say why'" },
  tool_response: { stdout: "ok", stderr: "" },
};

interface HookWork {
  readonly event: HookMoment;
  readonly which: "record" | "permit";
  readonly interactive?: boolean;
  readonly payload?: Readonly<Record<string, unknown>>;
}

export const RECORD: HookWork = { event: "Notification", which: "record" };
export const TOOL: HookWork = {
  event: "PostToolUse",
  which: "record",
  interactive: true,
  payload: { duration_ms: 40, tool_input: { command: "npm test", description: "Run the tests" } },
};
export const NOTHING: HookWork = { event: "PostToolUse", which: "record" };
export const PERMIT: HookWork = { event: "PreToolUse", which: "permit" };
export const PERMIT_FILE: HookWork = {
  event: "PreToolUse",
  which: "permit",
  payload: { tool_name: "Write", tool_input: { file_path: "src/parser/a.ts", content: "export const a = 1;\n" } },
};

export function hook({ event, which, interactive, payload }: HookWork, from: From): Measure {
  return async ({ quick, scratch, until }) => {
    const { repo, env, command } = place(scratch, interactive === true);
    // As beside a living agent: its runner has the database open, so no hook is the last to close it.
    const runner = connect(join(repo, ".git/overseer/overseer.db"), false);
    runner.query("select 1 from attempts").get();
    const empty = join(scratch, "empty.js");
    writeFileSync(empty, "");
    let call = 0;
    const cpu = async (argv: string[]) => {
      call += 1;
      const told = JSON.stringify({ ...PAYLOAD, ...payload, tool_use_id: `toolu_${call}`, cwd: repo });
      const child = Bun.spawn(argv, { cwd: repo, env, stdin: "pipe", stdout: "pipe", stderr: "ignore" });
      try {
        child.stdin.write(told);
        await child.stdin.end();
      } catch (error) {
        if (systemCode(error) !== "EPIPE") throw error; // Bun with nothing to do reads nothing, and may be gone
      }
      const [code, said] = [await child.exited, await child.stdout.text()];
      // A permit that cannot run is quick too.
      if (code !== 0 || said !== "") throw new Error(`${argv.join(" ")}: ${said}`);
      return Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1000;
    };
    try {
      return await turnAbout(
        { turns: quick ? 20 : 200, until },
        () => cpu(["sh", "-c", command(event, which, from)]),
        () => cpu([process.execPath, empty]),
      );
    } finally {
      runner.close();
    }
  };
}
