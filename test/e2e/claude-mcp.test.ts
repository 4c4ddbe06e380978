/**
 * MCP-1 with the real Claude Code: as an agent, driven and on its own screen, it lists our tools beside the person's own
 * servers and calls them without being asked; as a person's session it lists and calls the others.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { claudeProgram } from "../support/claude.ts";
import { ClaudeWorld } from "../support/claude-world.ts";
import { bundled, OVERSEER } from "../support/cli.ts";
import { type ModelRequest, modelPrompt, textOf } from "../support/model-server.ts";
import { isLongLane } from "../support/scale.ts";
import { say, wait } from "../support/steps.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let world: ClaudeWorld | undefined;
afterEach(async () => {
  await world?.end();
  world = undefined;
});

/** A server of the person's own, of one tool. */
function ownServer(): { readonly command: string; readonly args: readonly string[] } {
  const path = join(tempDir("server-"), "server.ts");
  const sdk = join(import.meta.dir, "../../node_modules/@modelcontextprotocol/sdk/dist/esm/server");
  writeFileSync(
    path,
    `import { McpServer } from "${sdk}/mcp.js";
import { StdioServerTransport } from "${sdk}/stdio.js";
const server = new McpServer({ name: "own", version: "1" });
server.registerTool("shout", { description: "Shouts." }, () => ({ content: [{ type: "text", text: "OF MY OWN" }] }));
await server.connect(new StdioServerTransport());
`,
  );
  return { command: process.execPath, args: [path] };
}

/** It names them to the model, a line each, and loads what the model wants to know more about. */
const offers = (request: ModelRequest | undefined, tool: string) =>
  request !== undefined && textOf(request).split("\n").includes(tool);
const talks = (fleet: ClaudeWorld) => fleet.model.requests.filter((one) => one.kind === "conversation");

test.each<readonly [how: string, flags: readonly string[]]>([
  ["driven", []],
  ...(isLongLane() ? [["on its own screen", ["--interactive"]] as const] : []),
])("MCP-1: an agent %s reports by its tool, with the person's own servers beside", async (_how, flags) => {
  const fleet = await ClaudeWorld.start();
  world = fleet;
  // At user scope, as `claude mcp add --scope user` leaves it.
  const known = join(fleet.configDir, ".claude.json");
  const state = (await Bun.file(known).json()) as object;
  writeFileSync(known, JSON.stringify({ ...state, mcpServers: { own: { type: "stdio", ...ownServer() } } }));
  const prompt = modelPrompt("Report it", [say("reported"), wait], {
    0: { calls: [{ tool: "mcp__overseer__report", input: { status: "in_progress", summary: "By tool" } }] },
    1: { calls: [{ tool: "mcp__overseer__status", input: {} }] },
    2: { calls: [{ tool: "mcp__overseer__accept", input: { what: "builder-1" } }] },
  });
  const slung = await fleet.sling(prompt, "--name", "ada", ...flags);
  await fleet.turns(slung, 1);
  const last = talks(fleet).at(-1);
  const text = last === undefined ? "" : textOf(last);
  expect(text).toContain("Reported goal_");
  expect(text).toContain("ada#1");
  expect(fleet.events(slung, "update.taken").map(({ data }) => data.via)).toEqual(["command"]);
  expect(
    ["report", "ask", "mail", "wait", "learn", "status"].filter((name) => !offers(last, `mcp__overseer__${name}`)),
  ).toEqual([]);
  expect(["accept", "answer", "sling"].filter((name) => offers(talks(fleet)[0], `mcp__overseer__${name}`))).toEqual([]);
  expect(offers(last, "mcp__own__shout")).toBe(true);
  expect(fleet.status(slung)).toBe("");
});

test("MCP-1: a person's own session is offered the person's tools and calls them", async () => {
  const fleet = await ClaudeWorld.start();
  world = fleet;
  const servers = JSON.stringify({ mcpServers: { overseer: { command: OVERSEER, args: ["mcp"] } } });
  const prompt = modelPrompt("Look around", [say("seen")], {
    0: { calls: [{ tool: "mcp__overseer__mail", input: { do: "send", to: "human", subject: "Hello", body: "b" } }] },
    1: { calls: [{ tool: "mcp__overseer__status", input: {} }] },
  });
  const { ANTHROPIC_BASE_URL: _none, ...env } = process.env;
  const { modelEnvironment } = await import("../support/claude.ts");
  const child = Bun.spawn(
    [
      claudeProgram(),
      "-p",
      prompt,
      `--mcp-config=${servers}`,
      "--permission-mode=default",
      "--allowedTools=mcp__overseer",
    ],
    {
      cwd: fleet.repo.path,
      env: { ...env, ...modelEnvironment(fleet.model.url), CLAUDE_CONFIG_DIR: fleet.configDir },
      ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    },
  );
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  expect({ code, out, err }).toMatchObject({ code: 0 });
  const last = talks(fleet).at(-1);
  expect(last && textOf(last)).toContain("Daemon: not running");
  expect(
    ["do", "plan", "accept", "reject", "answer", "sling"].filter((name) => !offers(last, `mcp__overseer__${name}`)),
  ).toEqual([]);
  const [row] = fleet.rows<{ doc: string }>("select doc from messages where kind = 'mail'");
  expect(JSON.parse(row?.doc ?? "{}")).toMatchObject({ from: "orchestrator", subject: "Hello" });
});
