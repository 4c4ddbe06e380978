/**
 * Where a store was last at home, and what it means to find it somewhere else. A repository that was renamed or moved
 * takes its agents' worktrees along, and its dead have to be found by the marks of the old place. One that was copied
 * shares every pointer with its original: acting there would stop somebody else's agents and write into somebody else's
 * worktrees. Pure: facts in, a judgement out.
 */

/** run/place.json: written by whoever begins to put agents to work here. */
export interface StoreHome {
  /** The main checkout. */
  readonly project: string;
  /** Below it or beside it: where the store lies. */
  readonly state: string;
  /** Where its sockets are, wherever XDG_RUNTIME_DIR points to by now. */
  readonly sockets: string;
}

export interface PlaceFacts {
  readonly recorded: StoreHome | undefined;
  /** Where the store is found now. */
  readonly state: string;
  readonly identity: string;
  /** What lies at the recorded place: nothing, this very file, or a store by its identity; "unknown" if it cannot be read. */
  readonly there: "nothing" | "this" | "unknown" | { readonly identity: string };
}

/** `elsewhere` is the same file seen under another path (a bind mount): nothing moved, and nothing is to be changed. */
export type StoreStanding = "first" | "here" | "elsewhere" | "moved" | "copied";

export function judgePlace({ recorded, state, identity, there }: PlaceFacts): StoreStanding {
  if (recorded === undefined) return "first";
  if (recorded.state === state) return "here";
  if (there === "this") return "elsewhere";
  if (there === "nothing") return "moved";
  // In doubt it is a copy: that one only asks.
  return there === "unknown" || there.identity === identity ? "copied" : "moved";
}

/** A store that is not at home where it is found. */
export interface Away {
  readonly standing: "moved" | "copied";
  /** The main checkout at the place that it was at home at. */
  readonly from: string;
}

/** For a person: what it means, and the next step. */
export function sayAway(
  { standing, from }: Away,
  project: string,
): { readonly message: string; readonly hint: string } {
  if (standing === "copied") {
    return {
      message: `${project} is a copy of ${from}, and shares its agents and their worktrees.`,
      hint: "Work in the original; or run 'overseer doctor --fix' here: it makes the copy independent, without touching the original.",
    };
  }
  return {
    message: `The repository was at ${from} before; its agents and their worktrees are still known there.`,
    hint: "'overseer up', or the next command that acts on agents, follows it automatically.",
  };
}

/** The path after the move; undefined for what lay outside of the repository and stayed where it was. */
export function followPath(
  path: string,
  from: Pick<StoreHome, "project">,
  to: Pick<StoreHome, "project">,
): string | undefined {
  if (path === from.project) return to.project;
  return path.startsWith(`${from.project}/`) ? `${to.project}${path.slice(from.project.length)}` : undefined;
}

/**
 * The main checkout that an agent's worktree was made in, by the path that was recorded for it; undefined for one that a
 * person had put elsewhere, and for one that is here.
 */
export function earlierProject(worktree: string, here: Pick<StoreHome, "project">): string | undefined {
  const at = worktree.lastIndexOf("/.overseer/worktrees/");
  const project = at > 0 ? worktree.slice(0, at) : undefined;
  return project === here.project ? undefined : project;
}

/** Undefined for a text that is none, as after a crash or from a later version. */
export function parsePlace(text: string | undefined): StoreHome | undefined {
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as Partial<StoreHome> | null;
    const whole = [value?.project, value?.state, value?.sockets].every((one) => typeof one === "string" && one !== "");
    return whole ? (value as StoreHome) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
