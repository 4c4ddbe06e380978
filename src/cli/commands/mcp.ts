/** `overseer mcp`: our verbs as tools, for agents and for a person's own session; served by a program of its own. */
import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { OverseerError } from "#errors.ts";

const command: Command<Parts> = {
  name: "mcp",
  summary: "Serve the verbs as MCP tools, on standard input and output.",
  details:
    "Agents that Overseer starts get it by themselves (agents.mcp): report, ask, mail, wait, learn and status, and sling where their role may start others. In your own session (Claude Code, Codex, an editor) it also plans, answers, reviews and lands. Every tool is a command of this program; docs/mcp.md lists them.",
  options: [
    { name: "spawns", summary: "Offer sling to an agent; whether it may is still its role's to say." },
    { name: "lead", summary: "Offer tools only where 'overseer lead on' was said; for the plugin." },
  ],
  examples: [
    { line: "claude mcp add overseer -- overseer mcp", why: "in Claude Code, for this project" },
    { line: "codex mcp add overseer -- overseer mcp", why: "in Codex" },
  ],
  async run(_call, parts) {
    // bin/overseer starts the server's own program for this; only what calls the whole program by itself comes here.
    const { ownCommand } = await import("#sys/self.ts");
    const words = process.argv.slice(process.argv.indexOf("mcp") + 1);
    const named = await findNamed(parts);
    const child = Bun.spawn([...ownCommand("mcp"), ...words, ...named], {
      stdio: ["inherit", "inherit", "inherit"],
    });
    const code = await child.exited;
    if (code === 0) return;
    throw new OverseerError("environment", "SERVER_ENDED", `The server ended with ${code}.`, "Start it again.");
  },
};

/** The repository may have been named in front of the command; where there is none, the server says so to its client. */
async function findNamed(parts: Parts): Promise<readonly string[]> {
  try {
    return ["--root", (await parts.world()).root.project];
  } catch (error) {
    if (error instanceof OverseerError && error.code === "NOT_A_REPOSITORY") return [];
    throw error;
  }
}

export default command;
