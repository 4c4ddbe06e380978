/**
 * Entry of the MCP server's bundle: `overseer mcp [--spawns] [--lead]`, on standard input and output. A bundle of its
 * own because the protocol's library is large, and nothing else of the program is to load it.
 */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { OverseerError } from "#errors.ts";
import { openServer } from "#mcp/open.ts";
import { version } from "../package.json" with { type: "json" };

void openServer(Bun.argv.slice(2), process.env, version, new StdioServerTransport()).then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`overseer: ${error instanceof Error ? error.message : String(error)}`);
    if (error instanceof OverseerError) console.error(error.hint);
    process.exit(error instanceof OverseerError ? error.exitCode : 1);
  },
);
