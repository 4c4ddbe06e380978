/**
 * A disk of a few megabytes for one test, mounted where everybody sees it: a daemon and its agents are processes of their
 * own. Needs root and the right to mount; where either is missing, `cannotMount` says which, and tests skip by that name.
 */
import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./fleet.ts";
import { tempDir } from "./temp.ts";

const mount = (...args: string[]) => Bun.spawnSync(["mount", ...args], { stdout: "ignore", stderr: "ignore" }).exitCode;
const unmount = (...args: string[]) => Bun.spawnSync(["umount", ...args], { stdout: "ignore", stderr: "ignore" });

/** Why no disk can be mounted here; undefined where one can. Leaves none. */
export function cannotMount(): string | undefined {
  if (process.getuid?.() !== 0) return "needs root";
  const path = tempDir("mount-");
  if (mount("-t", "tmpfs", "-o", "size=64k", "none", path) !== 0) return "needs the right to mount";
  return unmount(path).exitCode === 0 ? undefined : "needs the right to unmount";
}

export class SmallDisk {
  private readonly filler: string;

  private constructor(readonly path: string) {
    this.filler = join(path, "filler");
  }

  static make(megabytes: number): SmallDisk {
    const path = tempDir("disk-");
    if (mount("-t", "tmpfs", "-o", `size=${megabytes}m`, "none", path) !== 0) throw new Error("mount failed");
    return new SmallDisk(path);
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return bavail * bsize;
  }

  /** Takes all but so many bytes; 0 leaves none, whatever others let go of meanwhile. */
  fill(leave: number): void {
    const file = openSync(this.filler, "a");
    const block = new Uint8Array(64 * 1024);
    try {
      for (let free = this.freeBytes - leave; free > 0; free = this.freeBytes - leave) {
        writeSync(file, block.subarray(0, Math.min(free, block.length)));
      }
    } catch (error) {
      if (!(error instanceof Error) || !("code" in error) || error.code !== "ENOSPC") throw error;
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(this.filler, { force: true });
  }

  /** Once those that were ended are gone. Should somebody stay, it goes from sight all the same, and that is told. */
  async end(): Promise<void> {
    try {
      await eventually(
        () => unmount(this.path).exitCode === 0,
        () => `${this.path} to be let go of`,
        10_000,
      );
    } catch (error) {
      unmount(this.path, "--lazy");
      throw error;
    }
  }
}
