/**
 * The program's entry. It answers `--version` by itself and loads everything else only when it is needed, because
 * each import here is paid for by every command. The real parts are built in wiring.ts, which alone knows them all.
 */
import { version } from "../package.json" with { type: "json" };

const words = Bun.argv.slice(2);
if (words.length === 1 && (words[0] === "--version" || words[0] === "-v")) console.log(version);
// No top-level await: it would rule out a bundle with bytecode, which starts faster.
else void main().then((code) => process.exit(code));

async function main(): Promise<number> {
  const { MENU, printer, runCli } = await import("#cli/door.ts");
  const { realParts } = await import("./wiring.ts");
  const { env } = process;
  return runCli(words, {
    menu: MENU,
    parts: (globals) => realParts(globals, version, env),
    version,
    env,
    out: printer(env),
  });
}
