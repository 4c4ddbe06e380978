/**
 * Writes the labelled traces: `bun test/traces/generate.ts <directory> [seed]`. Each file holds many episodes; each
 * begins with a line that says what it is and what is to be noticed in it, and goes on with its signals. One seed
 * gives one set of files, byte for byte; the tests measure on the kept set and on others that nobody has looked at.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Episode, TROUBLES } from "./anomalies.ts";
import { PROJECTS } from "./ground.ts";
import { HEALTHY } from "./healthy.ts";
import { Dice, Story } from "./story.ts";

export const KEPT_SEED = 20_261_116;

/**
 * All episodes of one seed, by file name. Untidy ones are harder: trouble in the middle of healthy work, by an agent
 * that looks aside now and then.
 */
export function traces(seed: number, untidy = false): Map<string, string> {
  const files = new Map<string, string[]>();
  let count = 0;
  for (const [times, episode] of [...TROUBLES, ...HEALTHY]) {
    for (let number = 1; number <= times; number += 1) {
      count += 1;
      const lines = told(episode, number, new Dice(seed + 7_919 * count), untidy);
      const file = `${episode.labels[0] ?? "healthy"}.ndjson`;
      files.set(file, [...(files.get(file) ?? []), ...lines]);
    }
  }
  return new Map([...files].map(([file, lines]) => [file, `${lines.join("\n")}\n`]));
}

function told(episode: Episode, number: number, dice: Dice, untidy: boolean): string[] {
  const story = new Story(dice, untidy ? 0.08 : 0);
  const project = dice.pick(PROJECTS);
  const around = HEALTHY.map(([, one]) => one).filter(({ role }) => role === episode.role);
  if (untidy) dice.pick(around).tell(story, project);
  episode.tell(story, project);
  if (untidy) dice.pick(around).tell(story, project);
  const { name, role, labels, may } = episode;
  return [{ trace: `${name}-${number}`, role, labels, may }, ...story.lines].map((line) => JSON.stringify(line));
}

if (import.meta.main) {
  const [directory = import.meta.dir, seed = String(KEPT_SEED)] = process.argv.slice(2);
  mkdirSync(directory, { recursive: true });
  for (const [file, text] of traces(Number(seed))) writeFileSync(join(directory, file), text);
}
