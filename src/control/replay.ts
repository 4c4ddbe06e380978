/**
 * `replay`: the reflex over traces of work as they lie on disk, ours or Claude Code's. It touches neither the store nor
 * any agent; what it needs of the repository is only how strict its roles are, and where there is none the built-in
 * ones serve.
 */
import { BUILT_IN_ROLES, findRole, readRole } from "#config/roles.ts";
import type { Config } from "#config/schema.ts";
import type { Role } from "#domain/model/role.ts";
import type { ReflexRules } from "#domain/signals/reflex.ts";
import { rulesFor } from "#domain/signals/reflex.ts";
import type { Replayed, Tally } from "#domain/signals/reflex-replay.ts";
import { replay, tally } from "#domain/signals/reflex-replay.ts";
import { OverseerError } from "#errors.ts";
import { readTraces } from "#runtimes/claude-code/trace.ts";
import type { Files } from "#sys/files.ts";

export interface ReplayInput {
  readonly files: Files;
  /** A file or a directory; directories are gone through to the bottom. */
  readonly traces: string;
  readonly reflex: Config["reflex"];
  readonly roles: ReadonlyMap<string, Role>;
  /** The role for traces that name none. */
  readonly role: string;
}

export interface ReplayResult {
  readonly files: number;
  readonly traces: readonly Replayed[];
  /** Present when a trace says what there is to be noticed in it. */
  readonly tally: Tally | null;
}

const KINDS = /\.(?:ndjson|jsonl)$/;

export async function replayTraces(input: ReplayInput): Promise<ReplayResult> {
  const paths = await tracesBelow(input.files, input.traces);
  const rules = rulesByRole(input);
  const traces: Replayed[] = [];
  for (const path of paths) {
    const text = (await input.files.read(path)) ?? "";
    const name = path === input.traces ? path : path.slice(input.traces.length + 1);
    for (const trace of readTraces(name, text)) traces.push(replay(trace, rules(trace.role ?? input.role)));
  }
  const labelled = traces.some(({ labels }) => labels !== null);
  return { files: paths.length, traces, tally: labelled ? tally(traces) : null };
}

export function readBuiltInRoles(): ReadonlyMap<string, Role> {
  return new Map([...BUILT_IN_ROLES].map(([name, text]) => [name, readRole(`builtin:${name}.yaml`, text, name)]));
}

function rulesByRole({ roles, reflex }: ReplayInput): (role: string) => ReflexRules {
  const known = new Map<string, ReflexRules>();
  return (name) => {
    const rules =
      known.get(name) ?? rulesFor(findRole({ byCapability: roles, origins: new Map(), notes: [] }, name), reflex);
    known.set(name, rules);
    return rules;
  };
}

async function tracesBelow(files: Files, path: string): Promise<string[]> {
  const facts = await files.facts(path);
  if (facts?.kind === "file") return [path];
  const names = await files.list(path);
  if (!names) {
    throw new OverseerError(
      "not-found",
      "TRACES_UNKNOWN",
      `There is nothing at ${path}.`,
      "Name a directory with .ndjson or .jsonl files, e.g. .git/overseer/logs or a project of Claude Code's.",
    );
  }
  const found: string[] = [];
  for (const name of names) {
    const below = `${path}/${name}`;
    const kind = (await files.facts(below))?.kind;
    if (kind === "directory") found.push(...(await tracesBelow(files, below)));
    // tools.ndjson repeats what events.ndjson beside it says.
    else if (kind === "file" && KINDS.test(name) && name !== "tools.ndjson") found.push(below);
  }
  return found;
}
