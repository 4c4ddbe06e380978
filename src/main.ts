/**
 * The program's entry: every command of the menu, with the real parts of wiring.ts. It answers `--version` before it
 * loads anything, because each import here is paid for by whoever waits. fast.ts is its smaller sister.
 */
import { asksRunner } from "#domain/agents/verbs.ts";
import { version } from "../package.json" with { type: "json" };

const words = Bun.argv.slice(2);
if (words.length === 1 && (words[0] === "--version" || words[0] === "-v")) console.log(version);
// The single binary starts its other parts by starting itself (sys/self.ts).
else if (words[0] === "__runner") void import("./runner.ts");
else if (words[0] === "__scripted-agent") void import("./scripted-agent.ts");
else if (words[0] === "__daemon") void import("./daemon.ts");
else if (words[0] === "__daemon-guard") void import("./daemon-guard.ts");
else if (words[0] === "__exporter") void import("#exporter.ts");
else if (words[0] === "__mcp") void import("#mcp.ts");
else if (words[0] === "__permit" || words[0] === "__guard") void import("./permit-hook.ts");
// Hooks are called by agents at every boundary, under three names; whoever is no agent is told so by the menu's entry.
else if (words[0] === "__hook" || isHookOfAgent(words)) void import("./hook.ts");
// The guard is a program of its own, as bin/overseer starts it; questions about it are commands like others.
else if (words[0] === "guard" && !process.env.OVERSEER_ATTEMPT && isGuardRun(words[1]))
  void import("./daemon-guard.ts");
// An agent's command is carried out by its runner.
else if (asksRunner(words, process.env)) void import("./verb.ts");
// No top-level await: it would rule out a bundle with bytecode, which starts faster.
else void main().then((code) => process.exit(code));

function isHookOfAgent([name, event = "-"]: readonly string[]): boolean {
  return (name === "hook" || name === "log") && !!process.env.OVERSEER_ATTEMPT && !event.startsWith("-");
}

function isGuardRun(next: string | undefined): boolean {
  return next === undefined || (next.startsWith("--") && next !== "--help");
}

async function main(): Promise<number> {
  const { MENU } = await import("#cli/menu.ts");
  const { runWithRealParts } = await import("./wiring.ts");
  return runWithRealParts(words, MENU, version);
}
