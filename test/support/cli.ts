/** The bundled program as a person starts it, for tests that need real processes and the real door. */
import { statSync } from "node:fs";
import { join } from "node:path";

const project = join(import.meta.dir, "../..");
export const OVERSEER = join(project, "bin/overseer");

export interface Said {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** Bundles what bin/overseer starts, unless that is newer than every source. Call it in beforeAll. */
export function bundled(): void {
  const built = statSync(join(project, "dist/fast.js"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = [...new Bun.Glob("{src,sim}/**/*").scanSync({ cwd: project })].filter(
    (name) => !name.endsWith(".test.ts"),
  );
  if (sources.every((name) => statSync(join(project, name)).mtimeMs < built)) return;
  const done = Bun.spawnSync(["sh", join(project, "scripts/bundle.sh")], { stderr: "pipe" });
  if (done.exitCode !== 0) throw new Error(done.stderr.toString());
}

export function startOverseer(cwd: string, words: readonly string[]) {
  return Bun.spawn([OVERSEER, ...words], { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
}

/** Runs a command to its end. */
export async function overseer(cwd: string, ...words: string[]): Promise<Said> {
  const child = startOverseer(cwd, words);
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, code };
}

/** Runs a command that has to work, and returns what it printed. */
export async function overseerOk(cwd: string, ...words: string[]): Promise<string> {
  const { stdout, stderr, code } = await overseer(cwd, ...words);
  if (code !== 0) throw new Error(`overseer ${words.join(" ").slice(0, 200)} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}
