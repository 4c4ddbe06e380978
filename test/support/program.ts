/**
 * The program as people start it: bin/overseer over a fresh bundle, in a copy of the clone so that bundling disturbs
 * nobody. Clock and ids are pinned by the environment: each call is a minute after the one before, so that what the
 * program says compares as text.
 */
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { T0 } from "./samples.ts";
import { tempDir } from "./temp.ts";

const project = join(import.meta.dir, "../..");

export interface Called {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

export interface Program {
  /** Starts it there and waits for its end. */
  call(cwd: string, words: readonly string[], more?: CallOptions): Promise<Called>;
  /** The same; throws unless it ends well. */
  ok(cwd: string, ...words: string[]): Promise<string>;
}

export interface CallOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function bundledProgram(): Program {
  const clone = tempDir("clone-");
  for (const part of ["bin", "scripts", "src", "sim", "package.json"]) {
    cpSync(join(project, part), join(clone, part), { recursive: true });
  }
  symlinkSync(join(project, "node_modules"), join(clone, "node_modules"));
  const bundled = Bun.spawnSync(["sh", join(clone, "scripts/bundle.sh")], { stderr: "pipe" });
  if (bundled.exitCode !== 0) throw new Error(bundled.stderr.toString());
  let calls = 0;

  const call: Program["call"] = async (cwd, words, { stdin, env = {} } = {}) => {
    calls += 1;
    const pins = { USER: "ada", OVERSEER_TEST_NOW: String(T0 + calls * 60_000), OVERSEER_TEST_SEED: String(calls) };
    const child = Bun.spawn([join(clone, "bin/overseer"), ...words], {
      cwd,
      env: { ...process.env, ...pins, ...env },
      stdin: stdin === undefined ? "ignore" : new TextEncoder().encode(stdin),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { stdout, stderr, code };
  };
  return {
    call,
    async ok(cwd, ...words) {
      const { stdout, stderr, code } = await call(cwd, words);
      if (code !== 0) throw new Error(`overseer ${words.join(" ")} ended with ${code}: ${stderr}`);
      return stdout;
    },
  };
}
