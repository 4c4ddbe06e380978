/**
 * The real Output: console for the words, and what is known about the terminal only when somebody asks. Everything here
 * is chosen by price, because it is paid by every command: `process.stdout` and `node:tty` each cost more than twice
 * the start of the program, console.log costs nothing, and Bun's own isTTY costs a few percent.
 */
import { visibleJson } from "#domain/core/terminal-text.ts";
import type { Output } from "./output.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Thrown by an output that is `live` when nobody reads it any more. Not an error of anybody. */
export class OutputReaderGone extends Error {
  override readonly name = "ReaderGone";
}

/** `shownElsewhere`: what is printed here goes to a terminal, which somebody else has. */
export function printer(env: Environment, shownElsewhere = false): Output {
  let write = (text: string): void => console.log(text);
  let colour: boolean | undefined;
  let width: number | undefined;
  return {
    line: (text = "") => write(text),
    json: (value) => write(visibleJson(JSON.stringify(value, null, isTerminal(1) ? 2 : 0) ?? "null")),
    // Bun paints whatever console.error prints red on a terminal, and nothing that console.warn does.
    remark: (text) => console.warn(text),
    problem: (text) => (env.TERM === "dumb" ? console.warn(text) : console.error(text)),
    get colour() {
      colour ??= wantsColour(env, () => isTerminal(1));
      return colour;
    },
    get width() {
      width ??= widthOf(env, () => (isTerminal(1) ? process.stdout.columns : undefined));
      return width;
    },
    get interactive() {
      return isTerminal(0) && isTerminal(1);
    },
    get cuts() {
      return shownElsewhere || this.interactive;
    },
    live() {
      write = writeThrough;
    },
  };
}

/** The customs of no-color.org and force-color.org; without a word from the user, a terminal decides. */
export function wantsColour(env: Environment, onTerminal: () => boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  return env.TERM !== "dumb" && onTerminal();
}

export function widthOf(env: Environment, columns: () => number | undefined): number {
  const told = Number(env.COLUMNS);
  if (Number.isInteger(told) && told > 0) return told;
  return columns() || 80;
}

interface TerminalBinding {
  isTTY(fd: number): boolean;
}

function isTerminal(fd: number): boolean {
  const { binding } = process as unknown as { binding(name: "tty_wrap"): TerminalBinding };
  return binding("tty_wrap").isTTY(fd);
}

/** console.log swallows EPIPE; this does not. A reader that is merely slow makes it wait. */
function writeThrough(text: string): void {
  const { writeSync } = require("node:fs") as typeof import("node:fs");
  let left = Buffer.from(`${text}\n`);
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(1, left));
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EPIPE") throw new OutputReaderGone("Nobody reads the output any more.", { cause: error });
      if (code !== "EAGAIN") throw error;
      Bun.sleepSync(5);
    }
  }
}
