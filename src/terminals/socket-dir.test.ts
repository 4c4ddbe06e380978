/** The directory of our sockets: short, private, and refused when anybody else could have prepared it. */
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OverseerError } from "#errors.ts";
import { socketDirectory } from "./socket-dir.ts";

const uid = process.getuid?.() ?? 0;
const root = "/somewhere/deep/in/a/repository";

async function inTemp(use: (tempDir: string) => Promise<void>): Promise<void> {
  const tempDir = realpathSync(mkdtempSync(join(tmpdir(), "sd-")));
  try {
    await use(tempDir);
  } finally {
    rmSync(tempDir, { recursive: true, force: true });
  }
}

async function refusal(place: Parameters<typeof socketDirectory>[0]): Promise<string> {
  try {
    return await socketDirectory(place);
  } catch (error) {
    if (error instanceof OverseerError) return error.code;
    throw error;
  }
}

describe("socket directory", () => {
  test("it is private, the same for the same root, another for another root", () =>
    inTemp(async (tempDir) => {
      const directory = await socketDirectory({ root, tempDir, uid });
      expect(directory).toStartWith(join(tempDir, `overseer-${uid}/`));
      expect(statSync(directory).mode & 0o777).toBe(0o700);
      expect(statSync(join(directory, "..")).mode & 0o777).toBe(0o700);
      expect(await socketDirectory({ root, tempDir, uid })).toBe(directory);
      expect(await socketDirectory({ root: `${root}2`, tempDir, uid })).not.toBe(directory);
    }));

  test("XDG_RUNTIME_DIR comes first, unless it does not exist or is too long", () =>
    inTemp(async (tempDir) => {
      const runtimeDir = join(tempDir, "run");
      mkdirSync(runtimeDir);
      expect(await socketDirectory({ root, runtimeDir, tempDir, uid })).toStartWith(join(runtimeDir, "overseer/"));
      const gone = await socketDirectory({ root, runtimeDir: join(tempDir, "none"), tempDir, uid });
      expect(gone).toStartWith(join(tempDir, `overseer-${uid}/`));
      const long = join(tempDir, "x".repeat(80));
      mkdirSync(long);
      expect(await socketDirectory({ root, runtimeDir: long, tempDir, uid })).toBe(gone);
      expect(await refusal({ root, tempDir: long, uid })).toBe("SOCKET_PATH_TOO_LONG");
    }));

  test("a link, a file, a stranger's directory and one that others can write to are refused", () =>
    inTemp(async (tempDir) => {
      const elsewhere = join(tempDir, "elsewhere");
      mkdirSync(elsewhere, { mode: 0o700 });
      const cases: [name: string, prepare: (path: string) => void][] = [
        ["link", (path) => symlinkSync(elsewhere, path)],
        ["file", (path) => writeFileSync(path, "")],
        [
          "open",
          (path) => {
            mkdirSync(path);
            chmodSync(path, 0o777);
          },
        ],
      ];
      for (const [name, prepare] of cases) {
        const place = join(tempDir, name);
        mkdirSync(place);
        prepare(join(place, `overseer-${uid}`));
        expect(await refusal({ root, tempDir: place, uid })).toBe("SOCKET_DIR_UNSAFE");
      }
      // Nobody here can make a directory for another user, so another user looks at ours.
      const stranger = uid + 1;
      mkdirSync(join(tempDir, `overseer-${stranger}`), { mode: 0o700 });
      expect(await refusal({ root, tempDir, uid: stranger })).toBe("SOCKET_DIR_UNSAFE");
    }));

  test("one of ours that others can only read is closed to them", () =>
    inTemp(async (tempDir) => {
      const parent = join(tempDir, `overseer-${uid}`);
      mkdirSync(parent);
      chmodSync(parent, 0o755);
      await socketDirectory({ root, tempDir, uid });
      expect(statSync(parent).mode & 0o777).toBe(0o700);
    }));
});
