/**
 * A command of somebody else's, turn about with one of ours. What is compared is exactly this: `sh -c` with the command
 * as it was named, in the directory the bench was started from, and `overseer` with a few words in a fresh repository
 * that has nothing in it; CPU time with children, and time on the wall. Whether the two do the same is for the reader.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { gitIn } from "../support/git-in.ts";
import { cpuOf, median, type Options } from "./row.ts";

const OVERSEER = join(import.meta.dir, "../../bin/overseer");
const TURNS = 20;

export interface Peer {
  readonly command: string;
  /** Where it is run. */
  readonly cwd: string;
  /** Ours. */
  readonly words: readonly string[];
}

/** A version is held against a version, anything else against a look at the state of the fleet. */
export function oursBeside(command: string, against: string | null): readonly string[] {
  if (against !== null) return against.split(/\s+/).filter((word) => word !== "");
  return /(^|\s)(--version|-V|-v|version)\s*$/.test(command) ? ["--version"] : ["status", "--json"];
}

interface Cost {
  readonly cpuMs: number;
  readonly wallMs: number;
}

export interface Compared {
  readonly ours: Cost;
  readonly theirs: Cost;
  readonly turns: number;
}

export function compare({ command, cwd, words }: Peer, { quick, scratch, until }: Options): Compared {
  const repo = join(scratch, "beside-a-peer");
  mkdirSync(repo, { recursive: true });
  gitIn(repo, "init", "--quiet");
  gitIn(repo, "-c", "user.name=Bench", "-c", "user.email=bench@example.invalid", "commit", "-qm", "x", "--allow-empty");
  cpuOf([OVERSEER, "init"], repo);
  const ours = () => costOf([OVERSEER, ...words], repo);
  const theirs = () => costOf(["sh", "-c", command], cwd);
  ours();
  theirs();
  const costs: { ours: Cost; theirs: Cost }[] = [];
  for (let turn = 0; turn < (quick ? 5 : TURNS) && (turn === 0 || performance.now() < until); turn += 1) {
    if (turn % 2 === 0) costs.push({ ours: ours(), theirs: theirs() });
    else costs.push({ theirs: theirs(), ours: ours() });
  }
  const middle = (of: "ours" | "theirs"): Cost => ({
    cpuMs: median(costs.map((cost) => cost[of].cpuMs)),
    wallMs: median(costs.map((cost) => cost[of].wallMs)),
  });
  return { ours: middle("ours"), theirs: middle("theirs"), turns: costs.length };
}

function costOf(argv: readonly string[], cwd: string): Cost {
  const begun = performance.now();
  const cpuMs = cpuOf(argv, cwd);
  return { cpuMs, wallMs: performance.now() - begun };
}

export function comparedText({ command, words }: Peer, { ours, theirs, turns }: Compared): string[] {
  const line = (name: string, of: keyof Cost) =>
    `  ${name.padEnd(18)} ${ours[of].toFixed(1)} ms to ${theirs[of].toFixed(1)} ms: ${(ours[of] / theirs[of]).toFixed(2)} ×`;
  return [
    `overseer ${words.join(" ")}, in a fresh repository, to ${command}, where you are; medians of ${turns} turns about:`,
    line("CPU time", "cpuMs"),
    line("time on the wall", "wallMs"),
  ];
}
