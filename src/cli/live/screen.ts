/**
 * The terminal as a sheet of lines: remembers what it drew and writes only the lines that changed, on the terminal's second
 * screen, each write whole, so that nothing flickers. Leaving puts everything back, whichever way one leaves. It knows
 * nothing of what the lines say.
 */
import type { Line, Size, Tone } from "./frame.ts";

const STYLES: Readonly<Record<Tone, string>> = {
  plain: "",
  title: "\u001b[1m",
  trouble: "\u001b[31m",
  attention: "\u001b[36m",
  good: "\u001b[32m",
  faint: "\u001b[2m",
};
const ENTER = "\u001b[?1049h\u001b[?25l\u001b[2J";
const LEAVE = "\u001b[?25h\u001b[?1049l";

export interface LiveScreen {
  size(): Size;
  draw(lines: readonly Line[]): void;
  /** The next key, or undefined when none came in time or the size changed. */
  key(withinMs: number): Promise<string | undefined>;
  leave(): void;
}

export function openScreen(colour: boolean): LiveScreen {
  const { stdin, stdout } = process;
  let drawn: string[] = [];
  let wake: ((key: string | undefined) => void) | undefined;
  const keys: string[] = [];
  const onKeys = (bytes: Buffer) => {
    // Several keys may arrive at once; a sequence such as an arrow stays one.
    const text = bytes.toString();
    keys.push(...(text.startsWith("\u001b") ? [text] : text));
    wake?.(keys.shift());
  };
  const onResize = () => {
    drawn = [];
    stdout.write("\u001b[2J");
    wake?.(undefined);
  };
  stdout.write(ENTER);
  stdin.setRawMode(true);
  stdin.on("data", onKeys);
  stdin.resume();
  stdout.on("resize", onResize);
  return {
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    draw(lines) {
      const styled = lines.map(({ text, tone }) => (colour && STYLES[tone] ? `${STYLES[tone]}${text}\u001b[0m` : text));
      const changed = styled.flatMap((text, row) =>
        drawn[row] === text ? [] : [`\u001b[${row + 1};1H\u001b[2K${text}`],
      );
      drawn = styled;
      if (changed.length > 0) stdout.write(changed.join(""));
    },
    key(withinMs) {
      const waiting = keys.shift();
      if (waiting !== undefined) return Promise.resolve(waiting);
      return new Promise((resolve) => {
        const timer = setTimeout(() => wake?.(undefined), withinMs);
        wake = (key) => {
          clearTimeout(timer);
          wake = undefined;
          resolve(key);
        };
      });
    },
    leave() {
      stdout.off("resize", onResize);
      stdin.off("data", onKeys);
      stdin.setRawMode(false);
      stdin.pause();
      stdout.write(LEAVE);
    },
  };
}
