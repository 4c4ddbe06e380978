/**
 * The program's entry: builds the real parts and hands them to the door that was asked for; the only file that knows
 * them all. It answers `--version` by itself, and loads everything else only when it is needed, because each import
 * here is paid for by every command.
 */
import type { Parts } from "#cli/parts.ts";
import type { Globals } from "#cli/run.ts";
import { version } from "../package.json" with { type: "json" };

const words = Bun.argv.slice(2);
if (words.length === 1 && (words[0] === "--version" || words[0] === "-v")) console.log(version);
// No top-level await: it would rule out a bundle with bytecode, which starts faster.
else void main().then((code) => process.exit(code));

async function main(): Promise<number> {
  const { MENU, printer, runCli } = await import("#cli/door.ts");
  const { env } = process;
  return runCli(words, { menu: MENU, parts, version, env, out: printer(env) });
}

/** What commands may use, built for one call. */
function parts(_globals: Globals): Parts {
  return { version };
}
