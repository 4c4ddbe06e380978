/** Which command is run on the target after each landing, if any: auto mode's own, where that runs and has one. */
import { autoNow } from "#act/auto/auto-settings.ts";
import type { ActParts } from "#act/parts.ts";

const TIMEOUT_MS = 30 * 60_000;

export async function commandAfterLand(
  parts: Pick<ActParts, "config" | "root" | "files" | "processes">,
): Promise<{ readonly line: string; readonly timeoutMs: number; readonly auto: boolean } | null> {
  const auto = await autoNow(parts);
  if (auto?.postAccept) return { ...auto.postAccept, auto: true };
  const { afterLand } = (await parts.config()).landing;
  return afterLand === null ? null : { line: afterLand, timeoutMs: TIMEOUT_MS, auto: false };
}
