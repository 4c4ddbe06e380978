/**
 * What a hook costs its agent: the commands exactly as they stand in the agent's settings, shell and fallback included,
 * against Bun with nothing to do. Three of them: a recording hook that writes, one that has nothing to record (what
 * most tool calls of a driven agent meet), and the guard before a command.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GuardPolicy } from "#domain/guard.ts";
import { hookSettings } from "#domain/hook-settings.ts";
import { shellCommand } from "#domain/shell-words.ts";
import { connect } from "#store/sqlite-file.ts";
import { gitIn } from "../support/git-in.ts";
import { cpuOf, type Measured, type Row, turnAbout } from "./row.ts";

const project = join(import.meta.dir, "../..");
const FLOOR = "starting Bun with an empty script";
const ATTEMPT = 7;

interface Place {
  readonly repo: string;
  readonly commands: Readonly<Record<"record" | "nothing" | "guard", string>>;
  readonly env: Record<string, string>;
}

/** A repository with one living attempt, and its hooks. */
function place(scratch: string): Place {
  const repo = join(scratch, "hooked");
  mkdirSync(repo, { recursive: true });
  gitIn(repo, "init", "--quiet");
  const who = ["-c", "user.name=Bench", "-c", "user.email=bench@example.invalid"];
  gitIn(repo, ...who, "commit", "-qm", "x", "--allow-empty");
  cpuOf([join(project, "bin/overseer"), "init"], repo);
  const state = join(repo, ".overseer");
  const db = connect(`${state}/overseer.db`, false);
  db.run(
    `insert or ignore into attempts (id, attempt, agent, goal_id, node_id, status, created_at, version, doc)
     values ('7', ${ATTEMPT}, 'a', 'goal_A', 'T1', 'running', 0, 1, '{}')`,
  );
  db.close();
  const directory = `${state}/run/attempts/${ATTEMPT}`;
  mkdirSync(directory, { recursive: true });
  const policy: GuardPolicy = {
    v: 1,
    attempt: ATTEMPT,
    agent: "a",
    worktree: repo,
    scope: ["src"],
    readOnly: false,
    mainCheckout: repo,
    gitCommonDir: `${repo}/.git`,
    state,
    scratch: ["/tmp"],
    interactive: false,
  };
  writeFileSync(`${directory}/policy.json`, JSON.stringify(policy));
  const { hooks } = hookSettings({
    hookCommand: shellCommand([process.execPath, join(project, "dist/hook.js")]),
    guardCommand: shellCommand([process.execPath, join(project, "dist/guard.js"), `${directory}/policy.json`]),
    userHooks: [],
    denyRules: [],
    wakePipe: null,
  });
  const of = (event: "Notification" | "PostToolUse" | "PreToolUse") => hooks[event]?.[0]?.hooks[0]?.command ?? "";
  return {
    repo,
    commands: { record: of("Notification"), nothing: of("PostToolUse"), guard: of("PreToolUse") },
    // As an agent has it: the marks, and nothing of a test's.
    env: { PATH: process.env.PATH ?? "", OVERSEER_ROOT: repo, OVERSEER_AGENT: "a", OVERSEER_ATTEMPT: String(ATTEMPT) },
  };
}

const PAYLOAD = {
  session_id: "s",
  message: "Claude is waiting for your input",
  notification_type: "idle_prompt",
  tool_name: "Bash",
  tool_use_id: "t",
  tool_input: { command: "npm test && git add -A && git commit -m 'say why'" },
  tool_response: { stdout: "ok", stderr: "" },
};

function hookRow(which: keyof Place["commands"], work: string): Row {
  return {
    name: `hook-${which}`,
    work,
    floor: FLOOR,
    aim: 2.5,
    async measure({ quick, scratch }): Promise<Measured> {
      const { repo, commands, env } = place(scratch);
      // As beside a living agent: its runner has the database open, so no hook is the last to close it.
      const runner = connect(join(repo, ".overseer/overseer.db"), false);
      runner.query("select 1 from attempts").get();
      const empty = join(scratch, "empty.js");
      writeFileSync(empty, "");
      const payload = new TextEncoder().encode(JSON.stringify({ ...PAYLOAD, cwd: repo }));
      const cpu = (argv: string[]) => {
        const done = Bun.spawnSync(argv, { cwd: repo, env, stdin: payload, stdout: "pipe", stderr: "ignore" });
        // A guard that cannot run is quick too.
        if (done.exitCode !== 0 || done.stdout.length > 0) throw new Error(`${argv.join(" ")}: ${done.stdout}`);
        return Number(done.resourceUsage.cpuTime.total) / 1000;
      };
      try {
        return await turnAbout(
          quick ? 20 : 200,
          () => cpu(["sh", "-c", commands[which]]),
          () => cpu([process.execPath, empty]),
        );
      } finally {
        runner.close();
      }
    },
  };
}

export const hooks: readonly Row[] = [
  hookRow("record", "a hook that records, as in the settings"),
  hookRow("nothing", "a hook with nothing to record"),
  hookRow("guard", "the guard before a command"),
];
