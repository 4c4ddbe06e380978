/** Every runtime runs the same contract; another one joins with one line. */
import { join } from "node:path";
import { makeScriptedRuntime } from "#runtimes/scripted/scripted.ts";
import { runtimeSuite } from "./runtime.suite.ts";

const AGENT = join(import.meta.dir, "../../src/scripted-agent.ts");

runtimeSuite("scripted", (home) => ({
  runtime: makeScriptedRuntime({ command: [process.execPath, AGENT], home, speed: "10" }),
  setsUsage: true,
}));
