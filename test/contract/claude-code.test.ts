/** The real CLI, put through what every stream agent does; the model behind it plays the same scripts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { claudeProgram, modelEnvironment } from "../support/claude.ts";
import { type ModelServer, startModelServer } from "../support/model-server.ts";
import { streamAgentSuite } from "./stream-agent.suite.ts";
import { Driver, eventually, type Launch, Place } from "./stream-driver.ts";

let model: ModelServer;
beforeAll(async () => {
  model = await startModelServer({ speed: 10 });
});
afterAll(() => model.stop());

const launch: Launch = (place, flags) => ({
  argv: [claudeProgram(), ...flags],
  env: { ...place.env, ...modelEnvironment(model.url), CLAUDE_CONFIG_DIR: join(place.home, "claude"), TERM: "xterm" },
});

streamAgentSuite("claude-code", launch);

test("RUN-1: claude-code: it goes on working when nobody reads any more, so somebody has to end it", async () => {
  using place = new Place();
  await using agent = new Driver(launch, place);
  agent.send("work", [{ kind: "loop", steps: [{ kind: "run", command: "echo x >> log.txt" }] }]);
  await agent.until((line) => line.type === "assistant", "a first answer");
  await agent.stopReading();
  const before = place.has("log.txt") ? place.read("log.txt").length : 0;
  await eventually(() => place.has("log.txt") && place.read("log.txt").length > before + 6, "more work");
});

test("RUN-1: claude-code: a prompt of ten megabytes is refused by itself, as one that is too long", async () => {
  using place = new Place();
  await using agent = new Driver(launch, place);
  agent.send("ü".repeat(5_000_000), [{ kind: "say", text: "Never." }]);
  expect(await agent.result()).toMatchObject({ is_error: true, result: "Prompt is too long" });
});
