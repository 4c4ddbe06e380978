/**
 * Which files of `.overseer/` Overseer made or asked for: what `init` writes, what a person adds in the places that it reads,
 * and what it leaves there while it runs, now or in earlier versions. Worktrees are git's to tell. Pure.
 */
const OWN: readonly RegExp[] = [
  /^(\.gitignore|config\.yaml|hooks\.yaml|manifest\.yaml)$/,
  /^roles\/[^/]+\.ya?ml$/,
  /^agents\/[^/]+\.md$/,
  /^manual_intervention_needed_[^/]*\.txt$/,
  /^overseer\.db(-wal|-shm)?$/,
  /^(run|logs|specs|salute)\//,
  // What a write that was cut short leaves beside its file.
  /^([^/]+\/)?\.[^/]+\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/,
];

/** `path` is seen from `.overseer/`. */
export function isOwnFile(path: string): boolean {
  return OWN.some((pattern) => pattern.test(path));
}
