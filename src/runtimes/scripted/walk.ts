/**
 * Where one is in a script. A script with loops is a tree; whoever plays it wants the n-th plain step. So a position
 * is a single number, the count of plain steps already begun: it goes into a transcript as it is, survives any crash,
 * and a model server that keeps no state gets it by counting the answers it gave. Nothing is unrolled in memory, so a
 * loop without end costs nothing.
 */
import type { PlainStep, Script, Step } from "./language.ts";

export interface MessageRule {
  readonly pattern: string;
  readonly steps: readonly Step[];
}

export interface Walk {
  /** How many plain steps there are; Infinity with an endless loop. */
  readonly length: number;
  /** The plain step at a position, undefined from the end on. */
  at(position: number): PlainStep | undefined;
  /** What to do on messages; these hold from the first step to long after the last. */
  readonly rules: readonly MessageRule[];
}

export function walk(script: Script): Walk {
  const steps = script.steps.filter((step) => step.kind !== "on");
  return {
    length: lengthOf(steps),
    at: (position) => (Number.isInteger(position) && position >= 0 ? stepAt(steps, position) : undefined),
    rules: script.steps.flatMap((step) => (step.kind === "on" ? [{ pattern: step.message, steps: step.do }] : [])),
  };
}

/** The steps a composed one stands for, played `times` over; a plain one stands for itself. */
function parts(step: Step): { steps: readonly Step[]; times: number } | PlainStep {
  switch (step.kind) {
    case "loop":
      return { steps: step.steps, times: step.times ?? Number.POSITIVE_INFINITY };
    case "oscillate":
      return {
        steps: step.between.map((content) => ({ kind: "edit", file: step.file, content })),
        times: step.times ?? Number.POSITIVE_INFINITY,
      };
    case "on":
      return { steps: [], times: 1 };
    case "lie":
      return {
        kind: "report",
        status: "done",
        summary: step.summary,
        evidence: { commits: step.commits ?? ["0123456789abcdef0123456789abcdef01234567"], testsRun: ["all of them"] },
      };
    case "ask":
      return {
        steps: [
          { kind: "say", text: questionText(step) },
          ...toRunSteps(step.cli ?? askCommand(step)),
          { kind: "wait" },
        ],
        times: 1,
      };
    case "report": {
      if (step.cli === undefined) return step;
      const { cli, ...update } = step;
      return { steps: [update, ...toRunSteps(cli)], times: 1 };
    }
    default:
      return step;
  }
}

/** A POSIX shell word that means exactly this text. */
export function quoteForShell(text: string): string {
  return /^[A-Za-z0-9_./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function toRunSteps(cli: readonly string[] | undefined): Step[] {
  return cli === undefined ? [] : [{ kind: "run", command: cli.map(quoteForShell).join(" ") }];
}

/** As agents are told to ask: saying it alone would ask nobody. */
function askCommand(step: { question: string; options?: readonly string[] }): string[] {
  return ["overseer", "ask", step.question, ...(step.options ?? []).flatMap((option) => ["--option", option])];
}

function questionText(step: { question: string; options?: readonly string[] }): string {
  const options = (step.options ?? []).map((option, index) => `${index + 1}. ${option}`);
  return [`Question: ${step.question}`, ...options].join("\n");
}

function lengthOf(steps: readonly Step[]): number {
  let length = 0;
  for (const step of steps) {
    const inner = parts(step);
    length += "kind" in inner ? 1 : inner.steps.length === 0 ? 0 : inner.times * lengthOf(inner.steps);
  }
  return length;
}

function stepAt(steps: readonly Step[], position: number): PlainStep | undefined {
  let left = position;
  for (const step of steps) {
    const inner = parts(step);
    if ("kind" in inner) {
      if (left === 0) return inner;
      left -= 1;
      continue;
    }
    const round = lengthOf(inner.steps);
    if (left < round * inner.times)
      return stepAt(inner.steps, round === Number.POSITIVE_INFINITY ? left : left % round);
    left -= round * inner.times;
  }
  return undefined;
}
