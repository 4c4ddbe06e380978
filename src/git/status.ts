/**
 * What `git status --porcelain=v2 -z` says, as values. The format is made for programs: fields are counted, paths
 * come last and raw, a rename is followed by its origin as an entry of its own. Pure; unknown lines are passed over,
 * because git promises to add some.
 */

export type StatusEntry =
  | {
      readonly kind: "changed";
      readonly staged: string;
      readonly unstaged: string;
      readonly path: string;
      readonly submodule: boolean;
      /** Of a submodule, what is otherwise than recorded. */
      readonly inside?: SubmoduleState;
    }
  | {
      readonly kind: "renamed";
      readonly staged: string;
      readonly unstaged: string;
      readonly path: string;
      readonly from: string;
      readonly submodule: boolean;
    }
  | { readonly kind: "unmerged"; readonly conflict: string; readonly path: string; readonly submodule: boolean }
  | { readonly kind: "untracked"; readonly path: string }
  | { readonly kind: "ignored"; readonly path: string };

export interface SubmoduleState {
  readonly commit: boolean;
  readonly files: boolean;
  readonly untracked: boolean;
}

/** How many fields, separated by single spaces, stand before the path. */
const FIELDS_BEFORE_PATH: Readonly<Record<string, number>> = { "1": 8, "2": 9, u: 10 };

export function parseStatus(output: string): StatusEntry[] {
  const records = output.split("\0");
  const entries: StatusEntry[] = [];
  for (let at = 0; at < records.length; at += 1) {
    const record = records[at] ?? "";
    const type = record[0] ?? "";
    if (record.startsWith("? ")) entries.push({ kind: "untracked", path: record.slice(2) });
    else if (record.startsWith("! ")) entries.push({ kind: "ignored", path: record.slice(2) });
    const count = FIELDS_BEFORE_PATH[type];
    if (count === undefined) continue;
    const { fields, path } = splitFields(record, count);
    const xy = fields[1] ?? "..";
    const submodule = (fields[2] ?? "N").startsWith("S");
    const staged = xy[0] ?? ".";
    const unstaged = xy[1] ?? ".";
    if (type === "u") entries.push({ kind: "unmerged", conflict: xy, path, submodule });
    else if (type === "1") {
      const state = submodule ? { inside: insideOf(fields[2] ?? "") } : {};
      entries.push({ kind: "changed", staged, unstaged, path, submodule, ...state });
    } else {
      at += 1;
      entries.push({ kind: "renamed", staged, unstaged, path, from: records[at] ?? "", submodule });
    }
  }
  return entries;
}

export interface CheckedOut {
  /** Undefined where there is no commit yet. */
  readonly commit?: string;
  /** Short; undefined when detached. */
  readonly branch?: string;
  /** What is not as committed, as parseStatus reads it. */
  readonly rest: string;
}

/** What `--branch` says before everything else. */
export function parseCheckedOut(output: string): CheckedOut {
  const records = output.split("\0");
  const headers = records.filter((record) => record.startsWith("# "));
  const read = (name: string) => headers.find((header) => header.startsWith(`# ${name} `))?.slice(name.length + 3);
  const [commit, branch] = [read("branch.oid"), read("branch.head")];
  return {
    ...(commit === undefined || commit === "(initial)" ? {} : { commit }),
    ...(branch === undefined || branch === "(detached)" ? {} : { branch }),
    rest: records.slice(headers.length).join("\0"),
  };
}

function insideOf(flags: string): SubmoduleState {
  return { commit: flags[1] === "C", files: flags[2] === "M", untracked: flags[3] === "U" };
}

function splitFields(record: string, count: number): { fields: string[]; path: string } {
  const fields: string[] = [];
  let start = 0;
  while (fields.length < count) {
    const space = record.indexOf(" ", start);
    if (space < 0) return { fields, path: "" };
    fields.push(record.slice(start, space));
    start = space + 1;
  }
  return { fields, path: record.slice(start) };
}
