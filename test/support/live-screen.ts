/** `status --watch` in real terminals, read from their screens and driven by their keys; each has a tmux server of its own. */
import { join } from "node:path";
import { OVERSEER } from "./cli.ts";
import { tempDir } from "./temp.ts";

export class LiveScreen {
  private readonly socket = join(tempDir("live-"), "s");

  private constructor(readonly name: string) {}

  static open(
    cwd: string,
    [columns, rows]: readonly [number, number],
    env: Readonly<Record<string, string>> = {},
  ): LiveScreen {
    const screen = new LiveScreen(`${columns}×${rows}`);
    const given = Object.entries({ PATH: process.env.PATH ?? "", ...env }).flatMap(([key, text]) => [
      "-e",
      `${key}=${text}`,
    ]);
    const size = ["-x", `${columns}`, "-y", `${rows}`];
    screen.tmux("new-session", "-d", "-s", "w", ...size, "-c", cwd, ...given, `${OVERSEER} status --watch`);
    return screen;
  }

  private tmux(...words: string[]): string {
    return Bun.spawnSync(["tmux", "-S", this.socket, "-f", "/dev/null", ...words]).stdout.toString();
  }

  read(): string {
    return this.tmux("capture-pane", "-p", "-t", "w");
  }

  press(...keys: string[]): void {
    this.tmux("send-keys", "-t", "w", ...keys);
  }

  /**
   * Until all of these stand on one screen, in whatever lines they were broken into; what is further down is moved to by the
   * keys that a person has for it.
   */
  async shows(...wanted: readonly string[]): Promise<void> {
    const bare = (text: string) => text.replace(/[\s›!]+/g, "");
    for (let tries = 0; ; tries += 1) {
      // Only the left of a wide screen: the lines of what stands beside it would come between.
      const seen = this.read();
      const found = bare(seen.split("\n").map(cutBeside).join(""));
      if (wanted.every((text) => found.includes(bare(text)))) return;
      if (tries > 200) throw new Error(`${this.name} never showed ${wanted.join(" and ")}, but\n${seen}`);
      // It looks again by itself; only then is it worth to go through what is further down.
      const step = tries % 28;
      if (step === 14) this.press("g");
      else if (step > 14) this.press("j");
      await Bun.sleep(step < 14 ? 120 : 60);
    }
  }

  close(): void {
    this.tmux("kill-server");
  }
}

/** What stands left of the bar, where there is one. */
function cutBeside(line: string): string {
  const bar = line.indexOf("│");
  return bar < 0 ? line : line.slice(0, bar);
}
