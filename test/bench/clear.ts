/**
 * Clears a bench away that was interrupted in the middle of whatever it did. Agents that are just being started belong to
 * the process that starts them, so it has to be gone first: a shell outlives it, ends what it finds in the repositories
 * below, and removes them.
 */
import { join } from "node:path";

const OVERSEER = join(import.meta.dir, "../../bin/overseer");

const SCRIPT = `while kill -0 "$1" 2>/dev/null; do sleep 0.1; done
for state in "$2"/*/*/.overseer; do
  repo=\${state%/.overseer}
  [ -d "$state" ] || continue
  "$3" --root "$repo" down
  "$3" --root "$repo" doctor --fix
  "$3" --root "$repo" nuke --all
done
rm -rf "$2"`;

export function clearAfterwards(scratch: string): void {
  const argv = ["sh", "-c", SCRIPT, "clear", String(process.pid), scratch, OVERSEER];
  Bun.spawn(argv, { cwd: "/", detached: true, stdin: "ignore", stdout: "ignore", stderr: "ignore" }).unref();
}
