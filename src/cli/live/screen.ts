/**
 * The terminal as a sheet of lines: remembers what it drew and writes only the lines that changed, on the terminal's second
 * screen, each write whole, so that nothing flickers. Leaving puts everything back, whichever way one leaves. It knows
 * nothing of what the lines say.
 */
import { type LiveKey, readKeys } from "./key.ts";
import { type Line, padToColumns, readLine, type Size, type Tone } from "./line.ts";
import { addTyped, isTypedWhole, NOTHING_TYPED } from "./typed.ts";

const STYLES: Readonly<Record<Tone, string>> = {
  plain: "",
  title: "\u001b[1m",
  trouble: "\u001b[31m",
  attention: "\u001b[36m",
  good: "\u001b[32m",
  faint: "\u001b[2m",
};
const RESET = "\u001b[0m";
const CHOSEN = "\u001b[7m";
/** The second screen, without a caret; pastes are told from keys. */
const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?2004h\u001b[2J";
const LEAVE = "\u001b[?2004l\u001b[?25h\u001b[?1049l";

export interface LiveScreen {
  size(): Size;
  draw(lines: readonly Line[], caret?: { readonly row: number; readonly column: number } | null): void;
  /** The keys that were pressed; none when none came in time, the size changed, or somebody woke it. */
  keys(withinMs: number): Promise<readonly LiveKey[]>;
  wake(): void;
  /** Its terminal was closed: nobody reads it, and no key comes any more. */
  isGone(): boolean;
  leave(): void;
}

export function openScreen(colour: boolean): LiveScreen {
  const { stdin, stdout } = process;
  const decoder = new TextDecoder();
  let drawn: string[] = [];
  let caretDrawn = "";
  let wakeUp: (() => void) | undefined;
  let isWoken = false;
  let typed = NOTHING_TYPED;
  const wake = () => {
    isWoken = true;
    wakeUp?.();
  };
  const onKeys = (bytes: Buffer) => {
    typed = addTyped(typed, decoder.decode(bytes, { stream: true }), performance.now());
    if (isTypedWhole(typed, performance.now())) wake();
  };
  const onResize = () => {
    drawn = [];
    stdout.write("\u001b[2J");
    wake();
  };
  let gone = false;
  const onGone = () => {
    gone = true;
    wake();
  };
  const size = () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 });
  // Not taken away on leaving: what is still written then may fail too, and nobody is left to be told.
  for (const name of ["end", "close", "error"]) stdin.on(name, onGone);
  stdout.on("error", onGone);
  stdout.write(ENTER);
  stdin.setRawMode(true);
  stdin.on("data", onKeys);
  stdin.resume();
  stdout.on("resize", onResize);
  return {
    size,
    wake,
    isGone: () => gone,
    draw(lines, caret = null) {
      if (gone) return;
      const { columns } = size();
      const styled = lines.map((line) => (colour ? styleLine(line, columns) : readLine(line)));
      const changed = styled.flatMap((text, row) =>
        drawn[row] === text ? [] : [`\u001b[${row + 1};1H\u001b[2K${text}`],
      );
      drawn = styled;
      const at = caret ? `\u001b[${caret.row + 1};${caret.column + 1}H\u001b[?25h` : "\u001b[?25l";
      if (changed.length === 0 && at === caretDrawn) return;
      caretDrawn = at;
      stdout.write(`${changed.join("")}${at}`);
    },
    async keys(withinMs) {
      if (gone) return [];
      if (!isWoken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(() => wakeUp?.(), withinMs);
          wakeUp = () => {
            clearTimeout(timer);
            wakeUp = undefined;
            resolve();
          };
        });
      }
      isWoken = false;
      if (!isTypedWhole(typed, performance.now())) return [];
      const keys = readKeys(typed.text);
      typed = NOTHING_TYPED;
      return keys;
    },
    leave() {
      stdout.off("resize", onResize);
      stdin.off("data", onKeys);
      stdin.pause();
      if (gone) return;
      try {
        stdin.setRawMode(false);
      } catch {
        return onGone(); // closed this moment: nothing is left to put back
      }
      stdout.write(LEAVE);
    },
  };
}

function styleLine(line: Line, columns: number): string {
  if (line.chosen) return `${CHOSEN}${padToColumns(readLine(line), columns)}${RESET}`;
  return line.spans.map(({ text, tone }) => (STYLES[tone] ? `${STYLES[tone]}${text}${RESET}` : text)).join("");
}
