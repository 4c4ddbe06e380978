/**
 * What a person sees of the demo: lines of the story as they happen and, on a terminal, one line below them that moves:
 * how far the plan is and who is at work. In a pipe there are only the lines. The one question can be answered with a key.
 */
import type { Output } from "#cli/output.ts";
import { inert } from "#cli/text.ts";
import { paragraph } from "./lines.ts";
import type { StoryLine, StoryTone, ToldEvent } from "./narrate.ts";

const COLOURS: Readonly<Record<StoryTone, string>> = {
  plain: "",
  trouble: "31",
  recovery: "33",
  good: "32",
  person: "36",
};
const BAR_WIDTH = 24;
const REDRAW_MS = 200;
const CLEAR_LINE = "\r\u001b[2K";

export interface Show {
  readonly live: boolean;
  tell(line: StoryLine): void;
  /** Something happened, told or not. */
  note(event: ToldEvent): void;
  /** The key of a choice, or undefined when none was pressed in time. */
  choose(choices: readonly string[], withinMs: number): Promise<string | undefined>;
  end(): void;
}

export interface ShowOptions {
  readonly live: boolean;
  readonly tasks: number;
  readElapsedMs(): number;
}

export function show(out: Output, options: ShowOptions): Show {
  const working = new Map<string, string>();
  let landed = 0;
  const footer = () => {
    const full = Math.round((landed / options.tasks) * BAR_WIDTH);
    const bar = "█".repeat(full) + "░".repeat(BAR_WIDTH - full);
    const tasks = [...working.values()].filter((task) => task !== "").join(" ");
    const who = tasks === "" ? "" : `  at work: ${tasks}`;
    const line = `${seconds(options.readElapsedMs())}  ${bar} ${landed}/${options.tasks} landed${who}`;
    return [...line].slice(0, out.width - 1).join("");
  };
  const draw = () => process.stdout.write(`${CLEAR_LINE}${footer()}`);
  const timer = options.live ? setInterval(draw, REDRAW_MS) : undefined;
  const clear = () => {
    if (options.live) process.stdout.write(CLEAR_LINE);
  };
  return {
    live: options.live,
    tell({ tone, about, text }) {
      clear();
      const start = `${seconds(options.readElapsedMs())}  ${about.padEnd(3)}  `;
      const width = options.live ? out.width : Number.POSITIVE_INFINITY;
      const colour = out.colour && options.live ? COLOURS[tone] : "";
      for (const line of paragraph(start, inert(text), width, " ".repeat(start.length))) {
        out.line(colour ? `\u001b[${colour}m${line}\u001b[0m` : line);
      }
      if (options.live) draw();
    },
    note({ type, nodeId, agent }) {
      if (type === "agent.slung" && agent) working.set(agent, nodeId ?? "");
      if (type === "agent.ended" && agent) working.delete(agent);
      if (type === "landing.landed") landed += 1;
    },
    choose: (choices, withinMs) => (options.live ? keyFor(choices, withinMs) : Promise.resolve(undefined)),
    end() {
      clearInterval(timer);
      clear();
    },
  };
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1).padStart(5)}s`;
}

/** Waits for the number of a choice to be pressed. */
function keyFor(choices: readonly string[], withinMs: number): Promise<string | undefined> {
  const { stdin } = process;
  return new Promise((resolve) => {
    const finish = (choice: string | undefined) => {
      clearTimeout(timer);
      stdin.off("data", onKey);
      stdin.setRawMode(false);
      stdin.pause();
      resolve(choice);
    };
    const onKey = (bytes: Buffer) => {
      const key = bytes.toString();
      if (key === "\u0003") {
        finish(undefined);
        process.kill(process.pid, "SIGINT"); // a raw terminal hands Ctrl-C over as a key
        return;
      }
      const choice = choices[Number(key) - 1];
      if (choice !== undefined) finish(choice);
    };
    const timer = setTimeout(() => finish(undefined), withinMs);
    stdin.setRawMode(true);
    stdin.on("data", onKey);
    stdin.resume();
  });
}
