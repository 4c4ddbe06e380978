/** A real terminal with somebody at it: tmux on a socket of its own, keys that are pressed, a screen that is read. */
import { join } from "node:path";
import { eventually } from "./fleet.ts";
import { tempDir } from "./temp.ts";

export class LiveTerminal {
  private readonly socket = join(tempDir("w-"), "s");

  constructor(cwd: string, columns: number, rows: number) {
    const path = `PATH=${process.env.PATH}`;
    this.tmux("new-session", "-d", "-s", "w", "-x", `${columns}`, "-y", `${rows}`, "-c", cwd, "-e", path, "sh");
  }

  tmux(...words: string[]): string {
    return Bun.spawnSync(["tmux", "-S", this.socket, "-f", "/dev/null", ...words]).stdout.toString();
  }

  /** Keys by their tmux names; what is no name is typed. */
  press(...keys: string[]): void {
    this.tmux("send-keys", "-t", "w", ...keys);
  }

  type(text: string): void {
    this.tmux("send-keys", "-t", "w", "-l", text);
  }

  screen(): string[] {
    return this.tmux("capture-pane", "-p", "-t", "w").replace(/\n$/, "").split("\n");
  }

  /** What it shows as running text, lines put together. */
  words(): string {
    return this.screen().join(" ").replace(/\s+/g, " ");
  }

  /** Waits until it shows this, wrapped or not. */
  shows(text: string): Promise<string> {
    return eventually(
      () => this.words().includes(text) && this.words(),
      () => `"${text}" on\n${this.screen().join("\n")}`,
    );
  }

  hides(text: string): Promise<true> {
    return eventually(
      () => !this.words().includes(text),
      () => `"${text}" to be gone from\n${this.screen().join("\n")}`,
    );
  }

  resize(columns: number, rows: number): void {
    this.tmux("resize-window", "-t", "w", "-x", `${columns}`, "-y", `${rows}`);
  }

  end(): void {
    this.tmux("kill-server");
  }
}
