import { expect, test } from "bun:test";
import { upWords } from "./up-words.ts";

const found = { supervision: true, auto: false, flags: {} };
const own = (...flags: string[]) => ({ flags, cwd: "/here" });

test.each([
  ["nothing said, nobody found", own(), null, [], "/here"],
  ["what the guard was told", own("--auto"), null, ["--auto"], "/here"],
  ["which wins over what was found", own("--auto"), { ...found, supervision: false }, ["--auto"], "/here"],
  ["a plain daemon found", own(), found, [], "/repo"],
  ["one without supervision", own(), { ...found, supervision: false }, ["--no-supervision"], "/repo"],
  [
    "one that only watches",
    own(),
    { ...found, watching: { everyMs: 1_500 } },
    ["--no-dispatch", "--every=1500ms"],
    "/repo",
  ],
  [
    "one in auto mode",
    own(),
    {
      ...found,
      auto: true,
      flags: { taskPoolCommand: "./next --json", concurrency: 4, budgetUsd: 2.5, cwd: "/there" },
    },
    ["--auto", "--task-pool-command=./next --json", "--concurrency=4", "--budget=2.5"],
    "/there",
  ],
])("GUARD-9: %s", (_name, told, daemon, words, cwd) => {
  expect(upWords(told, daemon, "/repo")).toEqual({ words, cwd });
});
