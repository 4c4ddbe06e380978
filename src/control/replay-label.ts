/** `replay --label`: what a person says about a sentence that was shown, appended to a small file of labels. */
import { dirname, relative, resolve } from "node:path";
import { readLabel, type WindowLabel, writeLabel } from "#domain/signals/replay-label.ts";
import { OverseerError } from "#errors.ts";
import type { Files } from "#sys/files.ts";
import { appendLabels } from "./label-file.ts";
import type { ReplayedSession, SaidSentence } from "./replay.ts";

export interface ShownSentence extends SaidSentence {
  readonly session: ReplayedSession;
}

export function listSentences(sessions: readonly ReplayedSession[]): ShownSentence[] {
  return sessions.flatMap((session) => session.fired.map((said) => ({ ...said, session })));
}

export function findSentence(sentences: readonly ShownSentence[], id: string): ShownSentence {
  const [found, ...more] = sentences.filter((one) => one.id === id);
  if (found !== undefined && more.length > 0) {
    const files = [found, ...more].map(({ session }) => session.file).slice(0, 5);
    const which = `${id} means ${more.length + 1} sentences, in ${files.join(", ")}.`;
    throw new OverseerError("conflict", "SENTENCE_AMBIGUOUS", which, "Name the one file with --file <file>.");
  }
  if (found) return found;
  const hint = "`overseer replay --traces <file> --all` shows each sentence with its id.";
  throw new OverseerError(
    "not-found",
    "SENTENCE_UNKNOWN",
    `Nothing with the id ${id.slice(0, 40)} was said there.`,
    hint,
  );
}

/**
 * Right: something was wrong with the agent when it was said. Wrong: nothing was to be said there. Both are about the
 * step at which it was said, for a person sees that; how far the trouble reaches they can write into the file.
 * `base`: what the names of session files are relative to. False: the last label about it says the same already.
 */
export async function labelSentence(
  files: Files,
  labels: string,
  base: string,
  { session, anomaly, call, id }: ShownSentence,
  isRight: boolean,
): Promise<boolean> {
  const place = { id: call.id, ordinal: call.ordinal };
  const label: WindowLabel = {
    what: "window",
    file: relative(dirname(resolve(labels)), resolve(base, session.file)),
    runtime: session.runtime,
    anomaly,
    from: place,
    to: place,
    sure: true,
    wrong: !isRight,
    note: "",
    said: id,
  };
  if ((await listJudged(files, labels)).get(id) === isRight) return false;
  await appendLabels(files, labels, [writeLabel(label)]);
  return true;
}

/** Which sentences are labelled, and whether as right. */
export async function listJudged(files: Files, labels: string): Promise<ReadonlyMap<string, boolean>> {
  const facts = await files.facts(labels);
  if (facts !== undefined && facts.kind !== "file" && facts.kind !== "symlink") {
    const hint = "Name a file; it is begun where there is none.";
    throw new OverseerError("usage", "LABELS_NO_FILE", `${labels} is no file that labels could be added to.`, hint);
  }
  const judged = new Map<string, boolean>();
  for (const line of ((await files.read(labels)) ?? "").split("\n")) {
    const label = readLabel(line);
    if (typeof label === "object" && label.what === "window" && label.said !== undefined)
      judged.set(label.said, !label.wrong);
  }
  return judged;
}
