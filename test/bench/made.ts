/** The bundle and the binary, made again where they are older than what they are made from: old code has old figures. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const project = join(import.meta.dir, "../..");

interface Made {
  readonly what: string;
  readonly by: string;
  readonly file: string;
}

const BUNDLE: Made = { what: "dist/", by: "scripts/bundle.sh", file: "dist/overseer.js" };
const BINARY: Made = { what: "build/overseer", by: "scripts/build.sh", file: "build/overseer" };

/** Makes what is needed for these rows, and says so; throws with what the maker said when it cannot. */
export function makeFresh(rows: readonly { readonly name: string }[], say: (line: string) => void): void {
  const binary = rows.some(({ name }) => name.startsWith("binary-"));
  const sources = newest(["src", "scripts", "package.json"]);
  for (const { what, by, file } of binary ? [BUNDLE, BINARY] : [BUNDLE]) {
    if (writtenAt(file) > sources) continue;
    say(`${what} is older than the sources or not there; made again with ${by}`);
    const done = Bun.spawnSync(["sh", by], { cwd: project, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    if (done.exitCode !== 0) throw new Error(`${by} ended with ${done.exitCode}: ${done.stderr}`);
  }
}

function newest(paths: readonly string[]): number {
  const times = paths.flatMap((path) => {
    if (!statSync(join(project, path)).isDirectory()) return [writtenAt(path)];
    return readdirSync(join(project, path), { recursive: true, encoding: "utf8" }).map((name) =>
      writtenAt(join(path, name)),
    );
  });
  return Math.max(...times);
}

/** 0 for what is not there. */
function writtenAt(path: string): number {
  return statSync(join(project, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
