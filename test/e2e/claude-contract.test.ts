/** The real CLI, put through what every stream agent does; the model behind it plays the same scripts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { beat, newPulse } from "#domain/signals/pulse.ts";
import { streamReaders } from "#runtimes/claude-code/stream.ts";
import { streamAgentSuite } from "../contract/stream-agent.suite.ts";
import { blocks, Child, Driver, eventually, type Launch, Place } from "../contract/stream-driver.ts";
import { claudeProgram, modelEnvironment } from "../support/claude.ts";
import { type ModelServer, startModelServer } from "../support/model-server.ts";

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

test("RUN-1: claude-code: it keeps working when nobody reads any more, so somebody has to end it", async () => {
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

test("RUN-1: claude-code: killed in the middle of a turn and resumed, what it spent is counted once", async () => {
  using place = new Place();
  const id = crypto.randomUUID();
  const readers = streamReaders();
  const signalsOf = (agent: Driver, leg: number) => {
    const reader = readers(leg);
    return agent.lines.flatMap((line) => reader.read(JSON.stringify(line), 0));
  };
  await using agent = new Driver(launch, place, ["--session-id", id]);
  agent.send("first", [{ kind: "say", text: "One." }]);
  await agent.result(1);
  const hold = "echo $$ > tool.pid; for i in $(seq 600); do sleep 0.05; done";
  agent.send("second", [
    { kind: "run", command: hold },
    { kind: "say", text: "Never." },
  ]);
  using _tool = await Child.fromFile(place, "tool.pid");
  await agent.until((line) => blocks([line], "tool_use").length > 0, "the call on the stream");
  agent.kill("SIGKILL");
  await agent.exit();
  await using resumed = new Driver(launch, place, ["--resume", id]);
  resumed.send("third", [{ kind: "say", text: "Three." }]);
  expect((await resumed.result(1)).result).toBe("Three.");
  const pulse = [...signalsOf(agent, 1), ...signalsOf(resumed, 2)].reduce(beat, newPulse(1, "ada"));
  // Of the killed turn's answer only what it read is known, and that it said something.
  expect(pulse.usage).toMatchObject({ inputTokens: 3_000, outputTokens: 21, toolCalls: 1 });
});
