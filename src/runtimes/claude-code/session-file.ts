/**
 * Where coding agents keep their sessions: one file for each, in a folder named after the directory it was begun in,
 * below the CLI's own configuration. It is looked for by its id alone, because a session may be resumed elsewhere. What
 * the lines say is each CLI's own affair and not known here.
 */
import { existsSync, readdirSync } from "node:fs";

export function findSessionFile(home: string, session: string): string | undefined {
  const projects = `${home}/projects`;
  if (!existsSync(projects)) return undefined;
  const paths = readdirSync(projects).map((folder) => `${projects}/${folder}/${session}.jsonl`);
  return paths.find((path) => existsSync(path));
}
