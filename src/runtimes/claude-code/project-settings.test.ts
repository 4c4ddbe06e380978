import { expect, test } from "bun:test";
import type { ProjectSettings } from "#runtimes/runtime.ts";
import { judgeProjectSettings } from "./project-settings.ts";

const settings = (value: object): ProjectSettings => ({
  files: { ".claude/settings.json": JSON.stringify(value) },
  args: [],
});

test.each<[why: string, given: ProjectSettings, ok: boolean, says: RegExp]>([
  ["nothing there", { files: {}, args: ["--verbose"] }, true, /nothing of the project's/],
  ["settings that do nothing", settings({ permissions: { allow: ["Bash"] } }), true, /nothing of the project's/],
  ["hooks switched off", settings({ disableAllHooks: true }), true, /disableAllHooks, which is outweighed/],
  ["hooks of its own", settings({ hooks: { Stop: [], PreToolUse: [] } }), true, /hooks \(Stop, PreToolUse\).*rewrite/],
  ["another model", settings({ env: { ANTHROPIC_BASE_URL: "x", TZ: "UTC" } }), true, /env \(ANTHROPIC_BASE_URL\)/],
  ["a key helper", settings({ apiKeyHelper: "x" }), true, /apiKeyHelper/],
  ["servers", { files: { ".mcp.json": '{"mcpServers":{"db":{}}}' }, args: [] }, true, /MCP servers \(db\)/],
  ["a broken file", { files: { ".claude/settings.json": "{" }, args: [] }, false, /not valid JSON/],
  ["a CLI without hooks", { files: {}, args: ["--bare"] }, false, /--bare.*no permit/],
  ["other settings in the place of ours", { files: {}, args: ["--settings=x.json"] }, false, /no permit/],
  ["names that are none", settings({ env: { "PATH\u001b[2J": "x" } }), true, /nothing of the project's/],
])("HOOK-3: %s", (_why, given, ok, says) => {
  const finding = judgeProjectSettings(given);
  expect(finding).toMatchObject({ check: "project settings", ok, detail: expect.stringMatching(says) });
  expect(finding.next === undefined).toBe(ok);
});
