/** Whether the repository stands where its store is at home; for whoever only looks. */
import type { Away } from "#domain/health/place.ts";
import { runFiles } from "#sys/run-files.ts";
import type { World } from "./world.ts";

/** Null where it is at home, or nobody was put to work yet. Mostly so: then one small file is read, and nothing loaded. */
export async function awayFromHome({ root, files, readNow }: World): Promise<Away | null> {
  const text = readNow(runFiles(root.state).place);
  if (text === undefined || text.includes(`"state":${JSON.stringify(root.state)}`)) return null;
  const { judgeStanding } = await import("#act/place.ts");
  const { standing, recorded } = await judgeStanding(files, root);
  if (recorded === undefined || (standing !== "moved" && standing !== "copied")) return null;
  return { standing, from: recorded.project };
}
