/** One line on a terminal that says what is waited for and for how long, written over itself; gone when it is done. */
import { shortSpan } from "#cli/short-time.ts";
import { fit } from "#cli/text.ts";

const ERASE = "\r\u001b[2K";
const EVERY_MS = 1_000;

export interface ProgressLine {
  /** From now on it says this; with `counting`, for how long already. */
  say(text: string, counting?: boolean): void;
  /** Makes room for a line of the answer; the next `say`, or second, brings it back. */
  clear(): void;
  end(): void;
}

const SILENT: ProgressLine = { say: () => undefined, clear: () => undefined, end: () => undefined };

/** Silent where nobody looks: pipes and files stay clean. */
export function openProgressLine(isWatched: boolean, width: number): ProgressLine {
  const { stderr } = process;
  if (!isWatched || !stderr.isTTY) return SILENT;
  let said: { readonly text: string; readonly since: number | null } | null = null;
  const draw = () => {
    if (said === null) return;
    const span = said.since === null ? "" : ` … ${shortSpan(performance.now() - said.since)}`;
    stderr.write(`${ERASE}\u001b[2m${fit(`${said.text}${span}`, Math.max(20, width - 1))}\u001b[22m`);
  };
  const timer = setInterval(draw, EVERY_MS);
  timer.unref();
  return {
    say(text, counting = false) {
      if (text === said?.text) return;
      said = { text, since: counting ? performance.now() : null };
      draw();
    },
    clear: () => void stderr.write(ERASE),
    end() {
      clearInterval(timer);
      said = null;
      stderr.write(ERASE);
    },
  };
}
