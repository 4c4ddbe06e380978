/**
 * Disks that are small or read-only, in a mount namespace of their own: they exist for one command only and nobody else
 * sees them. Needs the right to mount, as root or by user namespaces; where neither is given, tests say so and skip.
 */

function mayMount(flags: string): boolean {
  const probe = ["unshare", flags, "sh", "-c", "mount -t tmpfs none /mnt"];
  if (Bun.which("unshare") === null) return false;
  return Bun.spawnSync(probe, { stdout: "ignore", stderr: "ignore" }).exitCode === 0;
}

const FLAGS = ["-m", "-rm"].find(mayMount);

/** Whether this machine lets the test make such disks. */
export const canMount = FLAGS !== undefined;

/** Runs a shell script that may mount; `$1…` are the arguments. */
export function inNamespace(script: string, ...args: string[]): { stdout: string; stderr: string; code: number } {
  const done = Bun.spawnSync(["unshare", FLAGS ?? "-m", "sh", "-c", script, "sh", ...args], { stderr: "pipe" });
  return { stdout: done.stdout.toString(), stderr: done.stderr.toString(), code: done.exitCode };
}
