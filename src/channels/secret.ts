/** A secret of this repository's own, made when it is first needed, for this user only. */
import type { ChannelParts } from "./channel.ts";

export async function readSecret(
  { root, files, ids }: Pick<ChannelParts, "root" | "files" | "ids">,
  name: string,
): Promise<string> {
  const path = `${root.state}/run/${name}`;
  const known = (await files.read(path))?.trim();
  if (known) return known;
  const made = Array.from({ length: 4 }, () => ids.next("")).join("");
  await files.makeDir(`${root.state}/run`, { mode: 0o700 });
  await files.write(path, `${made}\n`, { mode: 0o600 });
  return made;
}
