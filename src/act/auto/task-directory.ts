/**
 * A directory of task files as a source of the pool: every regular text file in it is a task, by name. Nothing is moved or
 * written there: which were taken is in the log, by name and contents, so a file is a task once, and again when it changes.
 */
import type { ActParts } from "#act/parts.ts";
import { isText } from "#domain/auto/pool-answer.ts";
import { textHash } from "#domain/core/derived-id.ts";
import { messageOf, OverseerError, systemCode } from "#errors.ts";

export interface TaskFile {
  readonly name: string;
  /** Its name and what it holds. */
  readonly key: string;
  readonly text: string;
}

export interface TaskDirectory {
  /** The first that was not taken yet. */
  readonly next: TaskFile | undefined;
  /** Those that cannot be a task, and were not said to be none. */
  readonly refused: readonly { readonly key: string; readonly problem: string }[];
  /** Keys that were known and are of no file any more. */
  readonly gone: readonly string[];
}

/** What a file was found to hold, by name, size and time, so that it is not read again and again. */
export type KnownFiles = Map<string, string>;

/** What lies in it. Rejects with TASK_DIRECTORY_MISSING where there is no such directory. */
export async function assertTaskDirectory({ files }: Pick<ActParts, "files">, path: string): Promise<string[]> {
  const names = await files.list(path);
  if (names !== undefined) return names;
  const hint = "Make the directory, or change auto.taskDirectory.";
  throw new OverseerError("environment", "TASK_DIRECTORY_MISSING", `There is no directory ${path}.`, hint);
}

/** Rejects with TASK_DIRECTORY_MISSING where there is none. */
export async function readTaskDirectory(
  { files }: Pick<ActParts, "files">,
  path: string,
  known: {
    readonly taken: Readonly<Record<string, string>>;
    readonly read: KnownFiles;
    readonly maxBytes: number;
    readonly now: number;
  },
): Promise<TaskDirectory> {
  const names = await assertTaskDirectory({ files }, path);
  const refused: { key: string; problem: string }[] = [];
  const present = new Set<string>();
  let next: TaskFile | undefined;
  for (const name of names.filter((one) => !one.startsWith("."))) {
    const facts = await files.facts(`${path}/${name}`);
    if (facts?.kind !== "file") continue;
    const stamp = `${name}#${facts.size}-${Math.floor(facts.mtimeMs)}`;
    if (facts.size > known.maxBytes) {
      present.add(stamp);
      const problem = `it has ${facts.size} bytes, and a task has at most ${known.maxBytes}`;
      if (known.taken[stamp] === undefined) refused.push({ key: stamp, problem });
      continue;
    }
    const before = known.read.get(stamp);
    if (before !== undefined && known.taken[before] !== undefined) {
      present.add(before);
      continue;
    }
    // One that is being written is a task once it is at rest.
    if (Math.abs(known.now - facts.mtimeMs) < AT_REST_MS) continue;
    const text = await readOrRefuse(files, `${path}/${name}`);
    if (typeof text !== "string") {
      present.add(stamp);
      if (known.taken[stamp] === undefined) refused.push({ key: stamp, problem: text.problem });
      continue;
    }
    const after = await files.facts(`${path}/${name}`);
    if (after?.size !== facts.size || after.mtimeMs !== facts.mtimeMs || text.trim() === "") continue;
    const key = `${name}#${textHash(text)}`;
    known.read.set(stamp, key);
    present.add(key);
    if (known.taken[key] !== undefined) continue;
    if (!isText(text, facts.size)) refused.push({ key, problem: "it is not a text file" });
    else next ??= { name, key, text };
  }
  return { next, refused, gone: Object.keys(known.taken).filter((key) => !present.has(key)) };
}

/** A file that nobody has written for so long is whole. */
const AT_REST_MS = 1_000;

/** One file that cannot be read must not stop the others. */
async function readOrRefuse(files: ActParts["files"], path: string): Promise<string | { readonly problem: string }> {
  try {
    return (await files.read(path)) ?? "";
  } catch (error) {
    if (!["EACCES", "EPERM", "EIO"].includes(systemCode(error) ?? "")) throw error;
    return { problem: `it cannot be read (${messageOf(error)})` };
  }
}
