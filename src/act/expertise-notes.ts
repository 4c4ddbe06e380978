/** What sources of expertise could not do when agents began; a small file, because `status` reads it too. */
import type { ActParts } from "./parts.ts";

/** What a source could not do the last time it was asked. */
export interface ExpertiseNote {
  readonly name: string;
  readonly problem: string;
  readonly waited: boolean;
  readonly at: number;
}

function notesPath({ root }: Pick<ActParts, "root">): string {
  return `${root.state}/run/expertise.json`;
}

export async function readExpertiseNotes(parts: Pick<ActParts, "root" | "files">): Promise<readonly ExpertiseNote[]> {
  try {
    const value: unknown = JSON.parse((await parts.files.read(notesPath(parts))) ?? "[]");
    return Array.isArray(value) ? (value as ExpertiseNote[]) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

export async function writeExpertiseNotes(
  parts: Pick<ActParts, "root" | "files">,
  notes: readonly ExpertiseNote[],
): Promise<void> {
  const path = notesPath(parts);
  if (notes.length === 0) return parts.files.remove(path);
  await parts.files.makeDir(`${parts.root.state}/run`, { mode: 0o700 });
  await parts.files.write(path, `${JSON.stringify(notes)}\n`, { mode: 0o600 });
}

/** For `status`: what agents that began lately were not told, and why. */
export async function tellExpertiseTrouble(parts: Pick<ActParts, "root" | "files">): Promise<string | null> {
  const notes = await readExpertiseNotes(parts);
  if (notes.length === 0) return null;
  return `Agents begin without expertise: ${notes.map(({ problem }) => problem).join("; ")}.`;
}
