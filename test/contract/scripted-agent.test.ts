/** The scripted agent: first all that is true of any stream agent, then the misdeeds only it can be asked for. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "#errors.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { LOST_CALL } from "#runtimes/scripted/transcript.ts";
import { say } from "../support/steps.ts";
import { streamAgentSuite } from "./stream-agent.suite.ts";
import { blocks, Child, Driver, eventually, type Launch, type Line, Place } from "./stream-driver.ts";

const PROGRAM = join(import.meta.dir, "../../src/runtimes/scripted/agent.ts");

const launch: Launch = (place, flags) => ({
  argv: [process.execPath, PROGRAM, ...flags],
  env: { ...place.env, OVERSEER_SCRIPTED_HOME: place.home, OVERSEER_SCRIPT_SPEED: "10" },
});

streamAgentSuite("scripted", launch);

const start = (place: Place, ...flags: string[]) => new Driver(launch, place, flags);

test("RUN-1: a line of ten megabytes goes in", async () => {
  using place = new Place();
  await using agent = start(place);
  const padding = "ü".repeat(5_000_000);
  const id = agent.send(padding, [say("Heard.")]);
  expect((await agent.result()).result).toBe("Heard.");
  const echo = agent.lines.find((line) => line.uuid === id);
  expect(blocks(echo === undefined ? [] : [echo], "text")[0]?.text?.startsWith(padding)).toBe(true);
});

test("RUN-1: when nobody reads any more, it ends by itself and without a fuss", async () => {
  using place = new Place();
  await using agent = start(place);
  agent.send("work", [{ kind: "flood", lines: 20_000, bytes: 10_000, to: "text" }]);
  await agent.until((line) => line.type === "assistant", "the flood");
  await agent.stopReading();
  expect((await agent.exit()).code).not.toBe(0);
  expect((await agent.stderr).length).toBeLessThan(2_000);
});

function oneShot(place: Place, flags: readonly string[], env: Record<string, string> = {}) {
  const whole = launch(place, flags);
  const child = Bun.spawnSync(whole.argv, { cwd: place.cwd, env: { ...whole.env, ...env }, stdin: "ignore" });
  return { code: child.exitCode, stdout: child.stdout.toString(), stderr: child.stderr.toString() };
}

test("RUN-1: asked once, it prints one result and leaves", () => {
  using place = new Place();
  const answer = oneShot(place, ["-p", `do ${renderScript([say("It is 4.")])}`, "--output-format", "json"]);
  expect(JSON.parse(answer.stdout)).toMatchObject({ type: "result", result: "It is 4.", is_error: false });
  expect(answer.code).toBe(0);
  expect(oneShot(place, ["-p", "hello there"]).stdout).toBe("Understood: hello there\n");
});

test("RUN-1: asked once and failing, it says so and leaves with 1, or as the script wants", () => {
  using place = new Place();
  const fail = (exitCode?: number) =>
    renderScript([
      exitCode === undefined ? { kind: "fail", message: "no" } : { kind: "fail", message: "no", exitCode },
    ]);
  const answer = oneShot(place, ["-p", fail(), "--output-format", "json"]);
  expect(JSON.parse(answer.stdout)).toMatchObject({ is_error: true, result: "no", terminal_reason: "api_error" });
  expect(answer.code).toBe(1);
  expect(oneShot(place, ["-p", fail(7)]).code).toBe(7);
});

const refusals: [why: string, flags: string[], env: Record<string, string>, says: string][] = [
  ["an unknown flag", ["-p", "x", "--frobnicate"], {}, "Unknown option --frobnicate"],
  ["no -p", ["x"], {}, "Start it with -p"],
  ["no home", ["-p", "x"], { OVERSEER_SCRIPTED_HOME: "" }, "OVERSEER_SCRIPTED_HOME"],
  ["an odd speed", ["-p", "x"], { OVERSEER_SCRIPT_SPEED: "fast" }, "OVERSEER_SCRIPT_SPEED"],
  ["a session id that is none", ["-p", "x", "--session-id", "me"], {}, "must be a UUID"],
  ["settings that are not there", ["-p", "x", "--settings", "/nowhere.json"], {}, "Settings file not found"],
  ["stream-json without --verbose", ["-p", "x", "--output-format", "stream-json"], {}, "needs --verbose"],
  [
    "a system prompt file that is not there",
    ["-p", "x", "--append-system-prompt-file", "/nowhere.md"],
    {},
    "not found",
  ],
];

test.each(refusals)("RUN-1: it refuses %s", (_why, flags, env, says) => {
  using place = new Place();
  const answer = oneShot(place, flags, env);
  expect(answer.code).toBe(1);
  expect(answer.stderr).toContain(says);
  expect(answer.stdout).toBe("");
});

test("RUN-1: in front of a real pipe that breaks it leaves at once and says nothing", () => {
  using place = new Place();
  const flood = renderScript([{ kind: "flood", lines: 20_000, bytes: 10_000, to: "text" }]);
  const { argv, env } = launch(place, ["-p", flood, "--output-format", "stream-json", "--verbose"]);
  const pipe = Bun.spawnSync(["sh", "-c", '"$@" | head -c 100', "sh", ...argv], {
    cwd: place.cwd,
    env,
    stdin: "ignore",
  });
  expect([pipe.stdout.length, pipe.stderr.toString()]).toEqual([100, ""]);
});

test("RUN-1: a line that is not JSON ends it with a sentence", async () => {
  using place = new Place();
  await using agent = start(place);
  agent.write("hello\n");
  expect((await agent.exit()).code).toBe(1);
  expect(await agent.stderr).toContain("Error parsing streaming input line");
});

test("RUN-1: a message without a script is acknowledged, unless messages are ignored", async () => {
  using place = new Place();
  await using agent = start(place);
  agent.send("hello");
  expect((await agent.result(1)).result).toBe("Understood: hello");
  agent.send("work", [{ kind: "ignore", messages: "content" }, { kind: "wait" }, say("Never.")]);
  await agent.result(2);
  const ignored = agent.send("hello?");
  expect((await agent.result(3)).result).toBe("");
  expect(agent.lines.some((line) => line.uuid === ignored)).toBe(true);
});

test("RUN-1: a deaf agent takes no message at all", async () => {
  using place = new Place();
  await using agent = start(place);
  agent.send("work", [{ kind: "ignore", messages: "deaf" }]);
  await agent.result();
  const unheard = agent.send("hello?");
  await agent.ask("get_context_usage");
  agent.closeInput();
  expect((await agent.exit()).code).toBe(0);
  expect(agent.lines.some((line) => line.uuid === unheard)).toBe(false);
});

test("RUN-1: a rule of the script answers a message in the middle of a turn", async () => {
  using place = new Place();
  await using agent = start(place);
  const wait: Step = {
    kind: "run",
    command: "echo $$ > tool.pid; for i in $(seq 600); do [ -e go ] && exit 0; sleep 0.05; done",
  };
  agent.send("work", [
    { kind: "on", message: "/status/", do: [{ kind: "report", status: "in_progress", summary: "Half way." }] },
    wait,
    say("End."),
  ]);
  using _tool = await Child.fromFile(place, "tool.pid");
  agent.send("status please");
  await agent.ask("get_context_usage");
  writeFileSync(place.path("go"), "");
  await agent.result();
  const [report, end] = blocks(agent.lines, "text").filter(
    (block) => !block.text?.includes("@@SCRIPT") && block.text !== "status please",
  );
  expect(JSON.parse(/```json\n([\s\S]*)\n```/.exec(report?.text ?? "")?.[1] ?? "")).toEqual({
    overseerUpdate: { status: "in_progress", summary: "Half way." },
  });
  expect(end?.text).toBe("End.");
});

test("RUN-1: a hang in thought can be interrupted and the script continued", async () => {
  using place = new Place();
  await using agent = start(place);
  agent.send("work", [say("Hm."), { kind: "hang", in: "thought" }, say("Where was I?")]);
  await agent.until((line) => line.type === "assistant", "a word");
  await agent.ask("interrupt");
  expect(await agent.result(1)).toMatchObject({
    subtype: "error_during_execution",
    terminal_reason: "aborted_streaming",
  });
  agent.send("go on");
  expect((await agent.result(2)).result).toBe("Where was I?");
});

test("RUN-1: a quota that clears is only seen in the retries; one that does not names its reset time", async () => {
  using place = new Place();
  await using agent = start(place);
  const quota = { kind: "quota", attempts: 3, retryAfterMs: 10 } as const;
  agent.send("work", [{ ...quota, givesUp: false }, say("Back again.")]);
  expect(await agent.result(1)).toMatchObject({ is_error: false, result: "Back again." });
  expect(agent.lines.filter((line) => line.subtype === "api_retry")).toHaveLength(3);
  agent.send("more", [{ ...quota, givesUp: true, resetsAt: "2030-01-01T00:00:00Z" }]);
  expect(String((await agent.result(2)).result)).toContain("2030-01-01T00:00:00Z");
  expect(agent.lines.some((line) => line.type === "rate_limit_event")).toBe(true);
});

test("RUN-1: tokens, cost and context are what the script says", async () => {
  using place = new Place();
  await using agent = start(place);
  agent.send("work", [
    { kind: "usage", inputTokens: 90, outputTokens: 10, contextWindow: 100, costUsd: 0.5 },
    say("a"),
    say("b"),
  ]);
  expect(await agent.result()).toMatchObject({
    num_turns: 2,
    total_cost_usd: 1,
    usage: { input_tokens: 180, output_tokens: 20 },
  });
  expect((await agent.ask("get_context_usage")).response?.response).toMatchObject({
    totalTokens: 90,
    maxTokens: 100,
    percentage: 90,
  });
});

test("RUN-1: a flood on stderr does not stop the stream", async () => {
  using place = new Place();
  await using agent = start(place);
  agent.send("work", [{ kind: "flood", lines: 200, bytes: 10_000, to: "stderr" }, say("Done.")]);
  expect((await agent.result()).result).toBe("Done.");
  agent.closeInput();
  await agent.exit();
  expect((await agent.stderr).length).toBe(200 * 10_001);
});

test("RUN-1: it dies in the middle of a commit, which leaves git's lock and no commit", async () => {
  using place = new Place();
  await using agent = start(place);
  agent.send("work", [
    { kind: "edit", file: "a.txt", content: "x" },
    { kind: "commit", message: "first" },
    { kind: "edit", file: "a.txt", content: "y" },
    { kind: "die", at: "mid-commit", signal: "SIGKILL" },
  ]);
  expect((await agent.exit()).signal).toBe("SIGKILL");
  expect(existsSync(join(place.cwd, ".git/index.lock"))).toBe(true);
  const log = Bun.spawnSync(["git", "log", "--format=%s"], { cwd: place.cwd, env: place.env }).stdout.toString();
  expect(log).toBe("first\n");
  await endStrays(place);
});

test("RUN-1: it dies in the middle of an edit, which leaves half a file", async () => {
  using place = new Place();
  await using agent = start(place);
  agent.send("work", [{ kind: "die", at: "mid-edit", signal: "SIGKILL" }]);
  expect((await agent.exit()).signal).toBe("SIGKILL");
  expect(place.read("half-written.txt")).toBe("half a li");
  await endStrays(place);
});

test("RUN-1: what is to happen once does not happen in the next life", async () => {
  using place = new Place();
  const steps: Step[] = [{ kind: "die", at: "now", signal: "SIGKILL", once: true }, say("Alive.")];
  await using first = start(place);
  first.send("work", steps);
  expect((await first.exit()).signal).toBe("SIGKILL");
  await using second = start(place);
  second.send("work", steps);
  expect((await second.result()).result).toBe("Alive.");
  await endStrays(place);
});

test("RUN-1: after a kill the transcript says which call was lost, and half a line does no harm", async () => {
  using place = new Place();
  const id = crypto.randomUUID();
  await using agent = start(place, "--session-id", id);
  agent.send("work", [{ kind: "die", at: "now", signal: "SIGKILL" }, say("End.")]);
  await agent.exit();
  await endStrays(place);
  const path = transcriptOf(place, id);
  writeFileSync(path, `${readFileSync(path, "utf8")}{"type":"assist`);
  await using resumed = start(place, "--resume", id);
  resumed.send("go on");
  expect((await resumed.result()).result).toBe("End.");
  expect(readFileSync(path, "utf8")).toContain(LOST_CALL);
});

test("RUN-1: a resumed session is found from another directory", async () => {
  using place = new Place();
  const id = crypto.randomUUID();
  await using agent = start(place, "--session-id", id);
  agent.send("work", [{ kind: "wait" }, say("Moved.")]);
  await agent.result();
  agent.closeInput();
  await agent.exit();
  mkdirSync(place.path("elsewhere"));
  const moved: Launch = (where, flags) => {
    const { argv, env } = launch(where, flags);
    return { argv: ["sh", "-c", 'cd elsewhere && exec "$@"', "sh", ...argv], env };
  };
  await using resumed = new Driver(moved, place, ["--resume", id]);
  resumed.send("go on");
  expect((await resumed.result()).result).toBe("Moved.");
});

test("RUN-1: the system prompt it was given is in its transcript", async () => {
  using place = new Place();
  const file = join(place.root, "overlay.md");
  writeFileSync(file, "You are a builder.");
  const id = crypto.randomUUID();
  await using agent = start(place, "--session-id", id, "--append-system-prompt-file", file, "--model", "m-1");
  agent.send("hello");
  await agent.result();
  expect(agent.lines.find((line: Line) => line.subtype === "init")).toMatchObject({
    model: "m-1",
    permissionMode: "bypassPermissions",
  });
  expect(readFileSync(transcriptOf(place, id), "utf8")).toContain("You are a builder.");
});

test("RUN-1: a report can also be told by a command", async () => {
  using place = new Place();
  await using agent = start(place);
  agent.send("work", [
    { kind: "report", status: "done", cli: ["sh", "-c", 'printf %s "$1" > told.txt', "sh", "it's $HOME"] },
  ]);
  await agent.result();
  expect(place.read("told.txt")).toBe("it's $HOME");
});

function transcriptOf(place: Place, session: string): string {
  const projects = join(place.home, "projects");
  const [folder] = readdirSync(projects);
  return join(projects, folder ?? "", `${session}.jsonl`);
}

/**
 * Ends what a dead agent left running in this place, told by working directory, and looks again until there is
 * nothing: one that was just being forked is not in the first list. Without /proc it ends by itself within a minute.
 */
async function endStrays(place: Place): Promise<void> {
  if (existsSync("/proc")) await eventually(() => !endedStray(place), "end of what was left running");
}

function endedStray(place: Place): boolean {
  let found = false;
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (readlinkSync(`/proc/${entry}/cwd`) !== place.cwd) continue;
      found = true;
      process.kill(Number(entry), "SIGKILL");
    } catch (error) {
      // Gone between the look and the act, or somebody else's: both are what we want to see.
      if (!["ENOENT", "ESRCH", "EACCES"].includes(systemCode(error) ?? "")) throw error;
    }
  }
  return found;
}
