/**
 * A person's own Claude Code session with Overseer's plugin, against the scripted model: kept open over several prompts,
 * closed, killed, compacted and resumed. What the model was shown is read from the model server.
 */
import { join } from "node:path";
import { claudeProgram, modelEnvironment } from "./claude.ts";
import type { ClaudeWorld } from "./claude-world.ts";
import { eventually } from "./fleet.ts";
import { type ModelRequest, textOf } from "./model-server.ts";

export const PLUGIN = join(import.meta.dir, "../../plugin");
const WITH_PLUGIN = ["--plugin-dir", PLUGIN];
/** What Claude Code calls a tool of the plugin's server. */
export const leadTool = (name: string) => `mcp__plugin_overseer_fleet__${name}`;

export class PersonSession {
  private readonly results: string[] = [];
  private readonly child: Bun.Subprocess<"pipe", "pipe", "pipe">;
  private errors = "";

  private constructor(
    private readonly world: ClaudeWorld,
    readonly session: string,
    flags: readonly string[],
  ) {
    const words = [
      ...["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"],
      ...["--permission-mode", "bypassPermissions", ...flags],
    ];
    this.child = Bun.spawn([claudeProgram(), ...words], {
      cwd: world.repo.path,
      env: { ...process.env, ...modelEnvironment(world.model.url), CLAUDE_CONFIG_DIR: world.configDir },
      ...{ stdin: "pipe", stdout: "pipe", stderr: "pipe" },
    });
    void this.listen();
    void this.child.stderr.text().then((text) => {
      this.errors += text;
    });
  }

  /** `flags` say where the plugin is; none where it is installed. */
  static open(world: ClaudeWorld, flags: readonly string[] = WITH_PLUGIN): PersonSession {
    const id = crypto.randomUUID();
    return new PersonSession(world, id, [...flags, "--session-id", id]);
  }

  /** The same conversation in a new process. */
  static resume(before: PersonSession): PersonSession {
    return new PersonSession(before.world, before.session, [...WITH_PLUGIN, "--resume", before.session]);
  }

  private async listen(): Promise<void> {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of this.child.stdout) {
      rest += decoder.decode(chunk, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.includes('"type":"result"')) this.results.push(line);
    }
  }

  /** Says it and waits until the turn is over; what the model was shown last. */
  async prompt(text: string): Promise<string> {
    const before = this.results.length;
    const content = [{ type: "text", text }];
    this.child.stdin.write(
      `${JSON.stringify({ type: "user", message: { role: "user", content }, parent_tool_use_id: null })}\n`,
    );
    this.child.stdin.flush();
    await eventually(
      () => this.results.length > before,
      () => `the end of the turn; ${this.errors}`,
    );
    return this.shown;
  }

  get requests(): readonly ModelRequest[] {
    return this.world.model.requests.filter(({ kind, session }) => kind === "conversation" && session === this.session);
  }

  /** The conversation as it was last sent to the model, whole. */
  get shown(): string {
    const last = this.requests.at(-1);
    return last === undefined ? "" : textOf(last);
  }

  async close(): Promise<void> {
    this.child.stdin.end();
    await this.child.exited;
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.child.exited;
  }
}
