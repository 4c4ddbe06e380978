/** What every file system promises, asked of the disk and of the one in memory; then the faults of the latter. */
import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { systemCode } from "#errors.ts";
import { memoryFiles } from "#sim/virtual-files.ts";
import { type Files, systemFiles } from "#sys/files.ts";
import { tempDir } from "../support/temp.ts";

interface Subject {
  readonly name: string;
  /** A file system and an empty directory in it. */
  readonly make: () => Promise<{ files: Files; home: string; link: (target: string, path: string) => void }>;
}

const subjects: Subject[] = [
  {
    name: "system",
    make: async () => ({
      files: systemFiles(),
      home: tempDir("files-"),
      link: (target, path) => symlinkSync(target, path),
    }),
  },
  {
    name: "memory",
    make: async () => {
      const files = memoryFiles({ now: Date.now });
      await files.makeDir("/home/someone");
      return { files, home: "/home/someone", link: files.link };
    },
  },
];

const codeOf = (result: Promise<unknown>) =>
  result.then(
    () => "no error",
    (error: unknown) => systemCode(error) ?? String(error),
  );

describe.each(subjects)("files: $name", ({ make }) => {
  test("what is written is read, in any script, and replaced whole", async () => {
    const { files, home } = await make();
    const path = `${home}/Übung mit Leerzeichen – 日本.txt`;
    await files.write(path, "ein längerer erster Text\n");
    await files.write(path, "kürzer ✓");
    expect(await files.read(path)).toBe("kürzer ✓");
    expect((await files.facts(path))?.size).toBe(10 + 1);
    expect(await files.list(home)).toHaveLength(1);
  });

  test("what is not there, is a directory, or lies below a file, reads as nothing", async () => {
    const { files, home } = await make();
    await files.write(`${home}/file`, "x");
    expect(await files.read(`${home}/none`)).toBeUndefined();
    expect(await files.read(home)).toBeUndefined();
    expect(await files.read(`${home}/file/below`)).toBeUndefined();
    expect(await files.facts(`${home}/none`)).toBeUndefined();
    expect(await files.facts(`${home}/file/below`)).toBeUndefined();
    expect(await files.list(`${home}/none`)).toBeUndefined();
  });

  test("writing needs its directory and never replaces one", async () => {
    const { files, home } = await make();
    await files.makeDir(`${home}/dir`);
    expect(await codeOf(files.write(`${home}/none/file`, "x"))).toBe("ENOENT");
    expect(await codeOf(files.append(`${home}/none/file`, "x"))).toBe("ENOENT");
    expect(await codeOf(files.write(`${home}/dir`, "x"))).toBe("EISDIR");
    expect(await codeOf(files.append(`${home}/dir`, "x"))).toBe("EISDIR");
    expect(await files.list(home)).toEqual(["dir"]);
  });

  test("a new file is private; a replaced one keeps its mode; a mode asked for is given exactly", async () => {
    const { files, home } = await make();
    const modeOf = async (name: string) => (await files.facts(`${home}/${name}`))?.mode;
    await files.write(`${home}/new`, "x");
    await files.append(`${home}/log`, "x");
    await files.write(`${home}/open`, "x", { mode: 0o666 });
    await files.write(`${home}/open`, "y");
    expect([await modeOf("new"), await modeOf("log"), await modeOf("open")]).toEqual([0o600, 0o600, 0o666]);
  });

  test("replacing makes a new inode, appending keeps it", async () => {
    const { files, home } = await make();
    const inodeOf = async () => (await files.facts(`${home}/file`))?.inode;
    await files.append(`${home}/file`, "one\n");
    const first = await inodeOf();
    await files.append(`${home}/file`, "two\n");
    expect(await inodeOf()).toBe(first);
    expect(await files.read(`${home}/file`)).toBe("one\ntwo\n");
    await files.write(`${home}/file`, "three\n");
    expect(await inodeOf()).not.toBe(first);
  });

  test("concurrent appends lose nothing and do not mix", async () => {
    const { files, home } = await make();
    const lines = Array.from({ length: 50 }, (_, index) => `${index}:${"x".repeat(500)}\n`);
    await Promise.all(lines.map((line) => files.append(`${home}/log`, line)));
    const text = await files.read(`${home}/log`);
    expect(text?.split("\n").sort()).toEqual(lines.join("").split("\n").sort());
  });

  test("a file is created once, copied whole, and known by how it begins", async () => {
    const { files, home } = await make();
    const [lock, copy, more] = [`${home}/lock`, `${home}/copy`, `${home}/more`];
    expect(await files.create(lock, "mine\n")).toBe(true);
    expect(await files.create(lock, "theirs\n")).toBe(false);
    await files.copy(lock, copy);
    expect(await files.read(copy)).toBe("mine\n");
    await files.write(more, "mine\nand more\n");
    expect(await files.isBeginningOf(copy, more)).toBe(true);
    expect(await files.isBeginningOf(copy, lock)).toBe(true);
    expect(await files.isBeginningOf(more, copy)).toBe(false);
    await files.write(copy, "mind\n");
    expect(await files.isBeginningOf(copy, more)).toBe(false);
    expect(await codeOf(files.copy(`${home}/none`, copy))).toBe("ENOENT");
  });

  test("directories are made with their parents, twice without complaint, never over a file", async () => {
    const { files, home } = await make();
    await files.makeDir(`${home}/a/b/c`);
    await files.makeDir(`${home}/a/b/c`);
    await files.write(`${home}/file`, "x");
    expect((await files.facts(`${home}/a/b/c`))?.kind).toBe("directory");
    expect(await codeOf(files.makeDir(`${home}/file`))).toBe("EEXIST");
    expect(await codeOf(files.makeDir(`${home}/file/below`))).toBe("ENOTDIR");
  });

  test("names are listed sorted", async () => {
    const { files, home } = await make();
    for (const name of ["b", "a", "Z", "10", "9"]) await files.write(`${home}/${name}`, "");
    expect(await files.list(home)).toEqual(["10", "9", "Z", "a", "b"]);
  });

  test("removing takes a whole tree, nothing at all, but never what a symlink points to", async () => {
    const { files, home, link } = await make();
    await files.makeDir(`${home}/kept`);
    await files.write(`${home}/kept/file`, "precious");
    await files.makeDir(`${home}/tree/below`);
    link(`${home}/kept`, `${home}/tree/below/link`);
    link(`${home}/kept`, `${home}/link`);
    await files.remove(`${home}/tree`);
    await files.remove(`${home}/link`);
    await files.remove(`${home}/none`);
    expect(await files.list(home)).toEqual(["kept"]);
    expect(await files.read(`${home}/kept/file`)).toBe("precious");
  });

  test("removing one thing takes a file, a link or an empty directory, and never a full one", async () => {
    const { files, home, link } = await make();
    await files.makeDir(`${home}/full`);
    await files.write(`${home}/full/file`, "precious");
    await files.makeDir(`${home}/empty`);
    await files.write(`${home}/one`, "1");
    await link(`${home}/full`, `${home}/link`);
    for (const name of ["full", "empty", "one", "link", "none", "full/file/none"]) {
      await files.removeUnlessFull(`${home}/${name}`);
    }
    expect(await files.list(home)).toEqual(["full"]);
    expect(await files.read(`${home}/full/file`)).toBe("precious");
  });

  test("renaming replaces a file, moves a tree, and refuses a full directory", async () => {
    const { files, home } = await make();
    await files.makeDir(`${home}/tree/below`);
    await files.write(`${home}/tree/below/file`, "x");
    await files.write(`${home}/one`, "1");
    await files.write(`${home}/two`, "2");
    await files.rename(`${home}/one`, `${home}/two`);
    await files.makeDir(`${home}/empty`);
    await files.rename(`${home}/tree`, `${home}/empty`);
    await files.makeDir(`${home}/other`);
    expect(await files.read(`${home}/two`)).toBe("1");
    expect(await files.read(`${home}/empty/below/file`)).toBe("x");
    expect(await files.list(home)).toEqual(["empty", "other", "two"]);
    expect(await codeOf(files.rename(`${home}/none`, `${home}/x`))).toBe("ENOENT");
    expect(["ENOTEMPTY", "EEXIST"]).toContain(await codeOf(files.rename(`${home}/other`, `${home}/empty`)));
    expect(await codeOf(files.rename(`${home}/two`, `${home}/empty`))).toBe("EISDIR");
    expect(await codeOf(files.rename(`${home}/other`, `${home}/two`))).toBe("ENOTDIR");
    expect(await codeOf(files.rename(`${home}/empty`, `${home}/empty/below/self`))).toBe("EINVAL");
  });

  test("a symlink is seen as itself, read through, and replaced by a write", async () => {
    const { files, home, link } = await make();
    await files.write(`${home}/target`, "old");
    link("target", `${home}/link`);
    expect((await files.facts(`${home}/link`))?.kind).toBe("symlink");
    expect(await files.read(`${home}/link`)).toBe("old");
    expect(await files.realPath(`${home}/link`)).toBe(`${home}/target`);
    await files.write(`${home}/link`, "new");
    expect((await files.facts(`${home}/link`))?.kind).toBe("file");
    expect(await files.read(`${home}/target`)).toBe("old");
  });

  test("a real path needs something there; a circle of symlinks is refused", async () => {
    const { files, home, link } = await make();
    link("gone", `${home}/dangling`);
    link("circle", `${home}/circle`);
    expect(await codeOf(files.realPath(`${home}/none`))).toBe("ENOENT");
    expect(await codeOf(files.realPath(`${home}/dangling`))).toBe("ENOENT");
    expect(await codeOf(files.read(`${home}/circle`))).toBe("ELOOP");
    expect(await files.read(`${home}/dangling`)).toBeUndefined();
  });

  test("free space is a number of bytes", async () => {
    const { files, home } = await make();
    expect(await files.freeBytes(home)).toBeGreaterThan(0);
    expect(await codeOf(files.freeBytes(`${home}/none`))).toBe("ENOENT");
  });
});

describe("faults of the memory files", () => {
  test("a full disk refuses to grow, keeps what it has, lets things be removed, and recovers", async () => {
    const files = memoryFiles();
    await files.write("/state", "old");
    const recover = files.failing({ code: "ENOSPC" });
    expect(await codeOf(files.write("/state", "new"))).toBe("ENOSPC");
    expect(await codeOf(files.append("/log", "x"))).toBe("ENOSPC");
    expect(await codeOf(files.makeDir("/dir"))).toBe("ENOSPC");
    expect(await files.read("/state")).toBe("old");
    await files.remove("/state");
    recover();
    await files.write("/state", "new");
    expect(await files.list("/")).toEqual(["state"]);
  });

  test("a read-only directory refuses every change below it and none beside it", async () => {
    const files = memoryFiles();
    await files.makeDir("/ro");
    await files.write("/ro/file", "x");
    files.failing({ code: "EROFS", under: "/ro" });
    expect(await codeOf(files.remove("/ro/file"))).toBe("EROFS");
    expect(await codeOf(files.rename("/ro/file", "/file"))).toBe("EROFS");
    await files.write("/rose", "beside");
    expect(await files.read("/ro/file")).toBe("x");
  });

  test("a fault may concern one operation only", async () => {
    const files = memoryFiles();
    files.failing({ code: "EIO", operations: ["read"] });
    await files.write("/file", "x");
    expect(await codeOf(files.read("/file"))).toBe("EIO");
  });
});

test("a failed replacement leaves no temporary neighbour behind", async () => {
  const files = systemFiles();
  const home = tempDir("files-");
  await files.makeDir(`${home}/dir`);
  await files.write(`${home}/dir/file`, "x");
  expect(await codeOf(files.write(`${home}/dir`, "x"))).toBe("EISDIR");
  expect(await files.list(home)).toEqual(["dir"]);
});
