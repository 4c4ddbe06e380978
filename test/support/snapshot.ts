/** Everything a person owns around a repository, byte for byte: what must be the same before and after a fleet worked. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { gitIn } from "./temp.ts";

export type Snapshot = Readonly<Record<string, string>>;

/** Ours: both directories, agents' branches, hidden refs, what git keeps of worktrees and objects, and what was trusted. */
const OURS =
  /^(home\/\.local\/state\/overseer\/|repo\/\.overseer\/|repo\/\.git\/(objects|overseer|worktrees|refs|logs\/refs\/heads\/overseer|logs\/refs\/overseer)\/)/;

/** The checkout, the index, the settings, the stash, every ref that is not ours, and the whole HOME. */
export function snapshot(repo: string, home: string): Snapshot {
  const found: Record<string, string> = {};
  collect(repo, "repo", found);
  collect(home, "home", found);
  const refs = gitIn(repo, "for-each-ref", "--format=%(refname) %(objectname)").split("\n");
  found.refs = refs.filter((line) => !/^refs\/(heads\/)?overseer\//.test(line)).join("\n");
  found.head = gitIn(repo, "rev-parse", "--symbolic-full-name", "HEAD");
  return found;
}

function collect(directory: string, name: string, found: Record<string, string>): void {
  for (const entry of readdirSync(directory)) {
    const [path, label] = [join(directory, entry), `${name}/${entry}`];
    if (OURS.test(`${label}/`)) continue;
    const facts = lstatSync(path);
    if (facts.isDirectory()) collect(path, label, found);
    else if (facts.isSymbolicLink()) found[label] = `-> ${readlinkSync(path)}`;
    else if (facts.isFile()) found[label] = `${facts.mode} ${Bun.hash(readFileSync(path))} ${facts.size}`;
  }
}
