/**
 * What every stream-json agent does, as facts that our drivers stand on. The scripted agent runs it, and so does the
 * real CLI with a model server behind it; therefore it speaks in prompts that carry scripts and looks only at the
 * stream, at hooks, at files and at processes. The order of waiting is always by evidence, never by time.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Step } from "#runtimes/scripted/language.ts";
import { run, say } from "../support/steps.ts";
import { blocks, Child, Driver, eventually, type Launch, type Line, Place } from "./stream-driver.ts";

const write = (file: string, content: string): Step => ({ kind: "edit", file, content });

/** A tool that says which process it is, then runs until the test lets it go, but not for ever. */
const untilLetGo = run("echo $$ > tool.pid; for i in $(seq 600); do [ -e go ] && exit 0; sleep 0.05; done");
const letGo = (place: Place): void => writeFileSync(place.path("go"), "");

export function streamAgentSuite(name: string, launch: Launch): void {
  setDefaultTimeout(60_000);
  const start = (place: Place, ...flags: string[]) => new Driver(launch, place, flags);

  test(`RUN-1: ${name}: a turn is init, one line for each block, tool results, and one result`, async () => {
    using place = new Place();
    await using agent = start(place);
    agent.send("work", [say("I begin."), write("a.txt", "hello\n"), run("cat a.txt"), say("All done.")]);
    const result = await agent.result();
    expect(agent.lines.findIndex((line) => line.subtype === "init")).toBeLessThan(position(agent, "assistant"));
    for (const line of agent.lines.filter((one) => one.type === "assistant"))
      expect(line.message?.content).toHaveLength(1);
    expect(blocks(agent.lines, "tool_use").map((block) => block.name)).toEqual(["Write", "Bash"]);
    const [, catted] = blocks(agent.lines, "tool_result");
    expect(String(catted?.content)).toContain("hello");
    expect(result).toMatchObject({
      subtype: "success",
      is_error: false,
      terminal_reason: "completed",
      result: "All done.",
    });
    expect(result).toMatchObject({
      num_turns: expect.any(Number),
      total_cost_usd: expect.any(Number),
      usage: { input_tokens: expect.any(Number) },
    });
    expect(Object.keys(result.modelUsage as object)).toHaveLength(1);
    expect(new Set(agent.lines.flatMap((line) => line.session_id ?? [])).size).toBe(1);
    expect(place.read("a.txt")).toBe("hello\n");
  });

  test(`RUN-1: ${name}: the session id asked for is the one it has, and cannot be had twice`, async () => {
    using place = new Place();
    const id = crypto.randomUUID();
    await using agent = start(place, "--session-id", id);
    agent.send("work", [say("Hello.")]);
    expect((await agent.result()).session_id).toBe(id);
    agent.closeInput();
    expect((await agent.exit()).code).toBe(0);
    await using again = start(place, "--session-id", id);
    again.closeInput();
    expect((await again.exit()).code).toBe(1);
    expect(await again.stderr).toContain("already in use");
  });

  test(`RUN-1: ${name}: a message sent during a turn is taken at the next tool boundary of that turn`, async () => {
    using place = new Place();
    await using agent = start(place);
    agent.send("work", [untilLetGo, run("true"), say("End.")]);
    using _tool = await Child.fromFile(place, "tool.pid");
    const id = agent.send("by the way");
    await agent.ask("get_context_usage");
    expect(agent.lines.some((line) => line.uuid === id)).toBe(false);
    letGo(place);
    await agent.result();
    const echo = agent.lines.findIndex((line) => line.uuid === id && line.isReplay === true);
    expect(echo).toBeGreaterThan(agent.lines.findIndex((line) => blocks([line], "tool_result").length > 0));
    expect(echo).toBeLessThan(position(agent, "result"));
  });

  test(`RUN-1: ${name}: a message to an idle agent starts a turn in the same process`, async () => {
    using place = new Place();
    await using agent = start(place);
    const first = agent.send("work", [say("One.")]);
    await agent.result(1);
    const second = agent.send("more", [say("Two.")]);
    expect((await agent.result(2)).result).toBe("Two.");
    const echoed = agent.lines.filter((line) => line.isReplay === true).map((line) => line.uuid);
    expect(echoed).toEqual([first, second]);
  });

  test(`RUN-1: ${name}: a turn that waits for a message continues with it`, async () => {
    using place = new Place();
    await using agent = start(place);
    agent.send("work", [write("a.txt", "1"), { kind: "wait" }, write("b.txt", "2"), say("End.")]);
    await agent.result(1);
    expect([place.has("a.txt"), place.has("b.txt")]).toEqual([true, false]);
    agent.send("go on");
    expect((await agent.result(2)).result).toBe("End.");
    expect(place.has("b.txt")).toBe(true);
  });

  test(`RUN-1: ${name}: an interrupt ends the running tool and the turn, not the session`, async () => {
    using place = new Place();
    await using agent = start(place);
    agent.send("work", [untilLetGo, say("Never.")]);
    using tool = await Child.fromFile(place, "tool.pid");
    expect((await agent.ask("interrupt")).response?.subtype).toBe("success");
    expect(await agent.result(1)).toMatchObject({
      subtype: "error_during_execution",
      terminal_reason: "aborted_tools",
    });
    await eventually(() => !tool.alive, "end of the tool");
    agent.send("again", [say("Here I am.")]);
    expect(await agent.result(2)).toMatchObject({ is_error: false, result: "Here I am." });
  });

  test(`RUN-1: ${name}: initialize and get_context_usage are answered, also while a tool runs`, async () => {
    using place = new Place();
    await using agent = start(place);
    expect((await agent.ask("initialize")).response?.subtype).toBe("success");
    agent.send("work", [untilLetGo]);
    using _tool = await Child.fromFile(place, "tool.pid");
    const usage = (await agent.ask("get_context_usage")).response?.response;
    expect(usage).toMatchObject({ totalTokens: expect.any(Number), maxTokens: expect.any(Number) });
    letGo(place);
    await agent.result();
  });

  test(`RUN-1: ${name}: the end of input lets the turn finish and ends the process with 0`, async () => {
    using place = new Place();
    await using agent = start(place);
    agent.send("work", [untilLetGo, write("late.txt", "x"), say("End.")]);
    using _tool = await Child.fromFile(place, "tool.pid");
    agent.closeInput();
    letGo(place);
    expect((await agent.exit()).code).toBe(0);
    expect((await agent.result()).result).toBe("End.");
    expect(place.has("late.txt")).toBe(true);
  });

  test(`RUN-1: ${name}: a last line without its newline counts`, async () => {
    using place = new Place();
    await using agent = start(place);
    agent.write(agent.userLine("work", [say("Heard.")], crypto.randomUUID()));
    agent.closeInput();
    expect((await agent.result()).result).toBe("Heard.");
    expect((await agent.exit()).code).toBe(0);
  });

  test(`RUN-1: ${name}: a line of ten megabytes comes out whole`, async () => {
    using place = new Place();
    await using agent = start(place);
    agent.send("talk", [{ kind: "flood", lines: 1, bytes: 10_000_000, to: "text" }, say("Phew.")]);
    expect((await agent.result()).result).toBe("Phew.");
    expect(blocks(agent.lines, "text").some((block) => block.text?.length === 10_000_000)).toBe(true);
  });

  test(`RUN-1: ${name}: SIGTERM ends it with 143, and the tool with it`, async () => {
    using place = new Place();
    await using agent = start(place);
    agent.send("work", [untilLetGo]);
    using tool = await Child.fromFile(place, "tool.pid");
    agent.kill("SIGTERM");
    expect((await agent.exit()).code).toBe(143);
    expect(agent.lines.some((line) => line.type === "result")).toBe(false);
    await eventually(() => !tool.alive, "end of the tool");
  });

  test(`RUN-1: ${name}: a tool runs in a session of its own and survives the agent's SIGKILL`, async () => {
    using place = new Place();
    await using agent = start(place);
    agent.send("work", [untilLetGo]);
    using tool = await Child.fromFile(place, "tool.pid");
    expect(tool.group).not.toBe(Child.of(agent.pid).group);
    agent.kill("SIGKILL");
    await agent.exit();
    expect(tool.alive).toBe(true);
  });

  test(`RUN-1: ${name}: children left behind outlive the agent in a session of their own`, async () => {
    using place = new Place();
    await using agent = start(place);
    agent.send("work", [{ kind: "orphan", seconds: 30 }, say("Clean.")]);
    await agent.result();
    const [left] = blocks(agent.lines, "tool_result");
    using orphan = Child.of(Number(/left (\d+) behind/.exec(String(left?.content))?.[1]));
    agent.closeInput();
    await agent.exit();
    expect(orphan.alive).toBe(true);
    expect(orphan.group.split(/\s+/)[0]).toBe(String(orphan.pid));
  });

  test(`RUN-1: ${name}: killed in the middle and resumed, it continues and does nothing twice`, async () => {
    using place = new Place();
    const id = crypto.randomUUID();
    const log = (word: string) => run(`echo ${word} >> log.txt`);
    await using agent = start(place, "--session-id", id);
    agent.send("work", [log("one"), log("two"), untilLetGo, log("three"), say("End.")]);
    using _tool = await Child.fromFile(place, "tool.pid");
    // A call that was begun but not yet written down when the agent dies is one that it never made.
    await eventually(() => transcriptHas(place, /tool_use.*tool\.pid/), "the call in the transcript");
    agent.kill("SIGKILL");
    await agent.exit();
    await using resumed = start(place, "--resume", id);
    resumed.send("go on");
    expect(await resumed.result()).toMatchObject({ session_id: id, result: "End.", is_error: false });
    expect(place.read("log.txt")).toBe("one\ntwo\nthree\n");
  });

  test(`RUN-1: ${name}: a session that does not exist cannot be resumed`, async () => {
    using place = new Place();
    await using agent = start(place, "--resume", crypto.randomUUID());
    agent.closeInput();
    expect((await agent.exit()).code).toBe(1);
    expect(await agent.stderr).toContain("No conversation found");
  });

  test(`RUN-1: ${name}: a refused request is retried in the open; given up, it is an error named success`, async () => {
    using place = new Place();
    await using agent = start(place);
    agent.send("work", [{ kind: "quota", attempts: 1, retryAfterMs: 10, givesUp: true }]);
    expect(await agent.result()).toMatchObject({
      subtype: "success",
      is_error: true,
      terminal_reason: "api_error",
      api_error_status: 429,
    });
    const retry = agent.lines.find((line) => line.subtype === "api_retry");
    expect(retry).toMatchObject({ attempt: 1, error_status: 429, retry_delay_ms: expect.any(Number) });
  });

  test(`RUN-1: ${name}: hooks hear of session, prompt, tools and stop, in that order`, async () => {
    using place = new Place();
    const hooks = new HookLog(place);
    await using agent = start(place, "--settings", hooks.settings({}));
    agent.send("work", [write("a.txt", "x"), run("exit 3"), say("Done.")]);
    const session = (await agent.result()).session_id;
    agent.closeInput();
    await agent.exit();
    const names = hooks.all.map((payload) => payload.hook_event_name).filter((event) => event !== "PostToolBatch");
    const tools = ["PreToolUse", "PostToolUse", "PreToolUse", "PostToolUseFailure"];
    expect(names).toEqual(["SessionStart", "UserPromptSubmit", ...tools, "Stop", "SessionEnd"]);
    for (const payload of hooks.all) {
      expect(payload).toMatchObject({
        session_id: session,
        cwd: place.cwd,
        transcript_path: expect.stringContaining(`${session}.jsonl`),
      });
    }
    const used = blocks(agent.lines, "tool_use");
    expect(hooks.of("SessionStart")).toMatchObject([{ source: "startup" }]);
    expect(hooks.of("UserPromptSubmit")[0]?.prompt).toContain("work");
    expect(hooks.of("PreToolUse").map((payload) => payload.tool_use_id)).toEqual(used.map((block) => block.id));
    const [written] = hooks.of("PostToolUse");
    expect(written).toMatchObject({
      tool_name: "Write",
      tool_input: { content: "x" },
      duration_ms: expect.any(Number),
    });
    expect(written?.tool_response).toBeDefined();
    expect(hooks.of("PostToolUseFailure")).toMatchObject([{ tool_name: "Bash", is_interrupt: false }]);
    expect(hooks.of("Stop")).toMatchObject([{ stop_hook_active: false, last_assistant_message: "Done." }]);
  });

  const denials: [why: string, script: string][] = [
    [
      "by its words",
      `printf '%s' '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"outside your scope"}}'`,
    ],
    ["by exit 2", "echo outside your scope >&2; exit 2"],
  ];
  test.each(denials)(`RUN-1: ${name}: what a hook denies does not happen, %s`, async (_why, script) => {
    using place = new Place();
    const hooks = new HookLog(place);
    await using agent = start(place, "--settings", hooks.settings({ PreToolUse: { matcher: "Write|Edit", script } }));
    agent.send("work", [write("a.txt", "x"), run("echo allowed > b.txt"), say("Done.")]);
    expect((await agent.result()).is_error).toBe(false);
    const [denied, allowed] = blocks(agent.lines, "tool_result");
    expect(denied?.is_error).toBe(true);
    expect(JSON.stringify(denied?.content)).toContain("outside your scope");
    expect(allowed?.is_error ?? false).toBe(false);
    expect([place.has("a.txt"), place.has("b.txt")]).toEqual([false, true]);
  });

  test(`RUN-1: ${name}: a hook that fails otherwise lets the tool run`, async () => {
    using place = new Place();
    const hooks = new HookLog(place);
    await using agent = start(place, "--settings", hooks.settings({ PreToolUse: { matcher: "*", script: "exit 1" } }));
    agent.send("work", [write("a.txt", "x"), say("Done.")]);
    await agent.result();
    expect(place.has("a.txt")).toBe(true);
  });

  test(`RUN-1: ${name}: a Stop hook can make it continue, eight times and no more`, async () => {
    using place = new Place();
    const hooks = new HookLog(place);
    const script = `printf '%s' '{"decision":"block","reason":"not yet"}'`;
    await using agent = start(place, "--settings", hooks.settings({ Stop: { matcher: "", script } }));
    agent.send("work", [say("Done.")]);
    await agent.result();
    const active = hooks.of("Stop").map((payload) => payload.stop_hook_active);
    expect(active).toEqual([false, ...Array(8).fill(true)]);
  });

  test(`RUN-1: ${name}: what a hook adds is put before the model`, async () => {
    using place = new Place();
    const hooks = new HookLog(place);
    const script = `printf '%s' '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"[SUPERVISOR] look up"}}'`;
    await using agent = start(place, "--settings", hooks.settings({ PostToolUse: { matcher: "*", script } }));
    agent.send("work", [run("true"), say("Done.")]);
    await agent.result();
    const transcript = String(hooks.of("Stop")[0]?.transcript_path);
    expect(readFileSync(transcript, "utf8")).toContain("[SUPERVISOR] look up");
  });

  test(`RUN-1: ${name}: an interrupt fires no Stop hook`, async () => {
    using place = new Place();
    const hooks = new HookLog(place);
    await using agent = start(place, "--settings", hooks.settings({}));
    agent.send("work", [untilLetGo]);
    using _tool = await Child.fromFile(place, "tool.pid");
    await agent.ask("interrupt");
    await agent.result();
    agent.closeInput();
    await agent.exit();
    expect(hooks.of("Stop")).toEqual([]);
    expect(hooks.of("SessionEnd")).toHaveLength(1);
  });
}

function transcriptHas(place: Place, pattern: RegExp): boolean {
  const files = [...new Bun.Glob("**/*.jsonl").scanSync({ cwd: place.home, dot: true })];
  return files.some((file) =>
    readFileSync(join(place.home, file), "utf8")
      .split("\n")
      .some((line) => pattern.test(line)),
  );
}

function position(agent: Driver, type: string): number {
  return agent.lines.findIndex((line: Line) => line.type === type);
}

interface Payload {
  readonly hook_event_name: string;
  readonly [field: string]: unknown;
}

const EVENTS = [
  "SessionStart",
  "SessionEnd",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "PostToolBatch",
  "Stop",
  "StopFailure",
];

/** Hooks that write down every payload, and on some events do more. */
class HookLog {
  private readonly log: string;

  constructor(private readonly place: Place) {
    this.log = join(place.root, "hooks.jsonl");
    writeFileSync(this.log, "");
  }

  /** Writes the settings; `also` runs after the payload was written down. */
  settings(also: Record<string, { matcher: string; script: string }>): string {
    const hooks = Object.fromEntries(
      EVENTS.map((event) => {
        const program = join(this.place.root, `${event}.sh`);
        const own = also[event];
        writeFileSync(program, `#!/bin/sh\n{ cat; echo; } >> '${this.log}'\n${own?.script ?? ""}\n`);
        chmodSync(program, 0o755);
        return [event, [{ matcher: own?.matcher ?? "", hooks: [{ type: "command", command: program, timeout: 10 }] }]];
      }),
    );
    const path = join(this.place.root, "settings.json");
    writeFileSync(path, JSON.stringify({ hooks }));
    return path;
  }

  get all(): Payload[] {
    const lines = readFileSync(this.log, "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Payload);
  }

  of(event: string): Payload[] {
    return this.all.filter((payload) => payload.hook_event_name === event);
  }
}
