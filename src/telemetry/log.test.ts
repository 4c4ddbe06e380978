import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { memoryFiles } from "#sim/virtual-files.ts";
import type { Files } from "#sys/files.ts";
import { scaled } from "../../test/support/scale.ts";
import { PLANTED_SECRETS } from "../../test/support/secrets.ts";
import { ndjsonLine, rotatingLog } from "./log.ts";

const fresh = { at: 0, level: "info", event: "tick.started" } as const;

describe("a line", () => {
  test("LOG-2: time, level, event, agent and data, in one line", () => {
    expect(ndjsonLine({ ...fresh, agent: "builder-1", data: { note: "a\nb" } })).toBe(
      '{"time":"1970-01-01T00:00:00.000Z","level":"info","event":"tick.started","agent":"builder-1","data":{"note":"a\\nb"}}\n',
    );
    expect(ndjsonLine(fresh)).toBe('{"time":"1970-01-01T00:00:00.000Z","level":"info","event":"tick.started"}\n');
  });

  test.each(PLANTED_SECRETS.map((it, index) => [index, it.kind, it] as const))(
    "STORE-7: secret %i (%s) does not reach the log",
    (_index, _kind, { text, secret }) => {
      const line = ndjsonLine({ ...fresh, event: text, agent: text, data: { output: [text], [text]: 1 } });
      expect(line).not.toContain(JSON.stringify(secret).slice(1, -1));
    },
  );

  test("STORE-7: a caller may take out more, never less", () => {
    const same = <T>(value: T): T => value;
    expect(ndjsonLine({ ...fresh, data: { password: "swordfish" } }, { redact: same })).not.toContain("swordfish");
    const blank = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll("acme", "[name]")) as T;
    expect(ndjsonLine({ ...fresh, data: "for acme" }, { redact: blank })).toContain("for [name]");
  });

  test("LOG-2: whatever the data, a line is one bounded line of JSON", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true }), (data) => {
        const line = ndjsonLine({ ...fresh, data });
        expect(line.indexOf("\n")).toBe(line.length - 1);
        expect(JSON.parse(line)).toMatchObject({ event: "tick.started" });
      }),
      { numRuns: scaled(500) },
    );
    const wide = Array.from({ length: 200 }, () => "x y ".repeat(5000));
    expect(Buffer.byteLength(ndjsonLine({ ...fresh, event: "e".repeat(1e6), data: { wide } }))).toBeLessThan(64 * 1024);
  });
});

describe("a rotating file", () => {
  const diskOf = async (files: Files): Promise<[name: string, text: string | undefined][]> => {
    const names = (await files.list("/")) ?? [];
    return Promise.all(
      names.map(async (name): Promise<[string, string | undefined]> => [name, await files.read(`/${name}`)]),
    );
  };

  test("LOG-2: turns over by size, keeps so many, readable by the owner only", async () => {
    const files = memoryFiles();
    const log = rotatingLog({ files, path: "/log", maxBytes: 8, keep: 2 });
    await Promise.all(["1111\n", "2\n", "3333\n", "4444\n", "5555\n"].map((line) => log.append(line)));
    expect(await diskOf(files)).toEqual([
      ["log", "5555\n"],
      ["log.1", "4444\n"],
      ["log.2", "3333\n"],
    ]);
    for (const name of ["/log", "/log.1", "/log.2"]) expect(((await files.facts(name))?.mode ?? 0) & 0o777).toBe(0o600);
  });

  test("LOG-2: with nothing to keep, the file starts over", async () => {
    const files = memoryFiles();
    const log = rotatingLog({ files, path: "/log", maxBytes: 4, keep: 0 });
    await log.append("111\n");
    await log.append("222\n");
    expect(await diskOf(files)).toEqual([["log", "222\n"]]);
  });

  test("LOG-2: a full disk fails the line, not the ones after it", async () => {
    const files = memoryFiles();
    const log = rotatingLog({ files, path: "/log", maxBytes: 100, keep: 1 });
    const emptied = files.failing({ code: "ENOSPC" });
    await expect(log.append("lost\n")).rejects.toThrow("ENOSPC");
    emptied();
    await log.append("kept\n");
    expect(await files.read("/log")).toBe("kept\n");
  });

  test("LOG-2: no line is lost or reordered while enough files are kept", () => {
    return fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(9999), { maxLength: 30 }),
        fc.integer({ min: 1, max: 40 }),
        async (numbers, maxBytes) => {
          const files = memoryFiles();
          const log = rotatingLog({ files, path: "/log", maxBytes, keep: 30 });
          await Promise.all(numbers.map((it) => log.append(`${it}\n`)));
          const inOrder = (await diskOf(files)).sort(
            ([a], [b]) => Number(b.split(".")[1] ?? 0) - Number(a.split(".")[1] ?? 0),
          );
          expect(inOrder.map(([, text]) => text).join("")).toBe(numbers.map((it) => `${it}\n`).join(""));
        },
      ),
    );
  });
});
