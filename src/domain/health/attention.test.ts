import { expect, test } from "bun:test";
import { reasonUnwatched, type Watcher } from "./attention.ts";

const LOOKING: Watcher = { state: "running", supervision: true, enabled: true };

test.each<[string, Partial<Watcher>, string | null]>([
  ["a daemon that runs", {}, null],
  ["one whose tick hangs looks all the same", { state: "not-ticking" }, null],
  ["no daemon", { state: "stopped" }, "No daemon runs"],
  ["no daemon, and the watch is off anyway", { state: "stopped", enabled: false }, "No daemon runs"],
  ["a daemon that died", { state: "died" }, "The daemon died"],
  ["a daemon that hangs", { state: "not-beating" }, "The daemon does not beat"],
  ["up --no-supervision", { supervision: false }, "The daemon runs without supervision: nobody is watched"],
  ["watch.enabled: false", { enabled: false }, "watch.enabled is false: nobody is watched"],
])("WATCH-1: whether anybody looks at agents: %s", (_what, parts, expected) => {
  expect(reasonUnwatched({ ...LOOKING, ...parts })).toBe(expected);
});
