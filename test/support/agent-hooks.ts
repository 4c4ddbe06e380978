/** The hooks of one attempt, called as its CLI would: the commands of its settings, its environment, a pipe. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { HookMoment } from "#domain/permit/hook-moments.ts";
import type { HookSettings } from "#runtimes/claude-code/settings.ts";
import type { Fleet } from "./fleet.ts";

export interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly denied: string | undefined;
}

export class AgentHooks {
  readonly directory: string;
  readonly settings: HookSettings;
  readonly env: Record<string, string>;
  readonly worktree: string;

  constructor(
    readonly fleet: Fleet,
    readonly attempt: number,
  ) {
    this.directory = `${fleet.state}/run/attempts/${attempt}`;
    this.worktree = fleet.attempt(attempt).worktree;
    this.settings = JSON.parse(readFileSync(`${this.directory}/settings.json`, "utf8")) as HookSettings;
    this.env = (
      JSON.parse(readFileSync(`${this.directory}/launch.json`, "utf8")) as { env: Record<string, string> }
    ).env;
  }

  get spooled(): string[] {
    const directory = `${this.fleet.state}/run/spool/${this.attempt}`;
    return existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith(".json")) : [];
  }

  command(event: HookMoment, which: "record" | "permit" = "record"): string {
    const groups = this.settings.hooks[event] ?? [];
    const hook = groups
      .flatMap((group) => group.hooks)
      .find((one) => (one.onFailure === "block") === (which === "permit"));
    if (!hook) throw new Error(`There is no hook to ${which} ${event}.`);
    return hook.command;
  }

  async call(command: string, payload: Record<string, unknown>, env = this.env): Promise<Answer> {
    // A pipe that is written to while it is read, as the CLI does it.
    const child = Bun.spawn(["sh", "-c", command], {
      cwd: this.worktree,
      env,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
    child.stdin.write(JSON.stringify({ session_id: "s", cwd: this.worktree, ...payload }));
    void child.stdin.end();
    const [stdout, code] = await Promise.all([child.stdout.text(), child.exited]);
    const spoken = stdout === "" ? {} : (JSON.parse(stdout) as { hookSpecificOutput?: Record<string, string> });
    const { permissionDecision, permissionDecisionReason } = spoken.hookSpecificOutput ?? {};
    return { code, stdout, denied: permissionDecision === "deny" ? permissionDecisionReason : undefined };
  }

  record(event: HookMoment, fields: Record<string, unknown> = {}): Promise<Answer> {
    return this.call(this.command(event), { hook_event_name: event, ...fields });
  }

  permit(tool: string, input: Record<string, unknown>, env = this.env): Promise<Answer> {
    const payload = { hook_event_name: "PreToolUse", tool_name: tool, tool_input: input };
    return this.call(this.command("PreToolUse", "permit"), payload, env);
  }

  write(path = "src/a.ts", env = this.env): Promise<Answer> {
    return this.permit("Write", { file_path: path, content: "x" }, env);
  }
}
