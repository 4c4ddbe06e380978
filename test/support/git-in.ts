/** Runs git in any directory and returns what it printed, without the last newline. Throws when git fails. */
export function gitIn(cwd: string, ...args: string[]): string {
  const done = Bun.spawnSync(["git", ...args], { cwd, env: process.env, stdin: "ignore" });
  if (done.exitCode !== 0) throw new Error(`git ${args.join(" ")} ended with ${done.exitCode}: ${done.stderr}`);
  return done.stdout.toString().replace(/\n$/, "");
}
