/**
 * Takes the reports that an agent made while its runner did not answer, in the order they were made, and removes each
 * file when it is taken. Cut off between the two it is simply done again: the same words change nothing. One that the
 * attempt did not sign is removed, and that somebody tried is in the log once.
 */
import { recordFenced } from "#act/fence.ts";
import { messageOf } from "#errors.ts";
import { spoolDir } from "#runtimes/hook-spool.ts";
import { isKeptName, MOST_KEPT_BYTES, readKeptReport } from "./kept-report.ts";
import { takeKept, type UpdateParts } from "./take-update.ts";

export interface KeptReports {
  readonly attempt: number;
  /** Its secret; undefined when nobody knows it any more, and then nothing can be believed. */
  readonly token: string | undefined;
}

/** What happened, as sentences for a log. Never throws for what lies there; what cannot be written now stays. */
export async function foldKept(parts: UpdateParts, kept: KeptReports): Promise<string[]> {
  const { files } = parts.git;
  const directory = spoolDir(parts.root.state, kept.attempt);
  const names = ((await files.list(directory)) ?? []).filter(isKeptName).toSorted();
  const notes: string[] = [];
  for (const name of names) {
    const path = `${directory}/${name}`;
    const facts = await files.facts(path);
    if (!facts) continue;
    try {
      const isOurs = facts.kind === "file" && facts.size <= MOST_KEPT_BYTES && kept.token !== undefined;
      const text = isOurs ? await files.read(path) : undefined;
      const report = text === undefined ? undefined : readKeptReport(name, text, kept.attempt, kept.token ?? "");
      if (!report) notes.push(await refuseForged(parts, kept.attempt, name));
      else {
        const { kind } = await takeKept(parts, kept.attempt, report);
        notes.push(kind === "none" ? `${name}: taken before` : `a report that was kept is ${kind}`);
      }
    } catch (error) {
      // The store is busy or gone. The rest would fare no better, and order matters.
      return [...notes, `reports that were kept wait: ${messageOf(error)}`];
    }
    await files.remove(path);
  }
  return notes;
}

async function refuseForged(parts: UpdateParts, attempt: number, name: string): Promise<string> {
  const what = "a report in its spool that it did not sign";
  await recordFenced(await parts.writer(), { attempt, what, because: "not-the-agent", now: parts.clock.now() });
  return `${name} was not written by this attempt; it was removed`;
}
