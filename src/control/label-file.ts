/** A file of labels as it grows: whole lines, whoever wrote the last one and however they ended it. */
import type { Files } from "#sys/files.ts";

/** Begins on a line of its own: an editor may have left the last one without its end. */
export async function appendLabels(files: Files, path: string, lines: readonly string[]): Promise<void> {
  const before = (await files.read(path)) ?? "";
  const gap = before === "" || before.endsWith("\n") ? "" : "\n";
  await files.append(path, `${gap}${lines.join("\n")}\n`);
}
