/**
 * What every runtime adapter promises, with real processes started from its own launch(): the runner stands on these
 * facts and on nothing else. It speaks in prompts that carry scripts, so a real CLI with a model server behind it runs
 * the same suite; it looks only at signals, files and processes, and waits for evidence, never for time.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Pulse } from "#domain/signals/pulse.ts";
import { beat, newPulse } from "#domain/signals/pulse.ts";
import type { Signal, SignalKind } from "#domain/signals/signal.ts";
import { type Child, startChild } from "#runner/child.ts";
import type { HookWiring } from "#runtimes/hook-dialect.ts";
import type { LaunchRequest, Preparation, Reader, Runtime } from "#runtimes/runtime.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { systemProcesses } from "#sys/processes.ts";
import { run, say, wait } from "../support/steps.ts";
import { tempDir, tempRepo } from "../support/temp.ts";

export interface RuntimeUnderTest {
  readonly runtime: Runtime;
  /** What the agent's environment needs beyond PATH and HOME: where its model server is, say. */
  readonly env?: Readonly<Record<string, string>>;
  /** Tokens read and dollars spent for each message of the model, where the suite can set them by a `usage` step. */
  readonly setsUsage: boolean;
}

/** Called once for each test, in a fresh directory. */
export type MakeRuntime = (home: string) => Promise<RuntimeUnderTest> | RuntimeUnderTest;

const DEADLINE_MS = 60_000;
const processes = systemProcesses();

/** The contract is about the runtime itself; hooks have tests of their own. */
const NO_HOOKS: HookWiring = {
  hookCommand: "true",
  permitCommand: "true",
  userHooks: [],
  deniedPaths: [],
  wakePipe: null,
  steered: true,
};

const WISH = { permissionMode: "acceptEdits", interactive: false, project: "/", env: { PATH: process.env.PATH ?? "" } };

/** A tool that says which process it is and runs until the file `go` is there. */
const untilLetGo = run("echo $$ > tool.pid; for i in $(seq 1200); do [ -e go ] && exit 0; sleep 0.05; done");

export function runtimeSuite(name: string, make: MakeRuntime): void {
  setDefaultTimeout(120_000);
  const place = async () => Place.make(make);

  test(`RUN-1: ${name}: probe says that it is ready, which program and which version, as often as asked`, async () => {
    const { runtime } = await place();
    const first = await runtime.probe(WISH);
    expect(first).toMatchObject({
      ready: true,
      program: expect.stringMatching(/./),
      version: expect.stringMatching(/./),
    });
    expect(await runtime.probe(WISH)).toEqual(first);
  });

  test(`RUN-1: ${name}: prepare and launch are pure: same request, same answer, nothing written`, async () => {
    const here = await place();
    const { runtime, request } = here;
    const wanted = { ...request, hooks: NO_HOOKS };
    expect(runtime.prepare(wanted)).toEqual(runtime.prepare(wanted));
    for (const file of runtime.prepare(wanted)) {
      expect(file.path.startsWith(`${request.directory}/`)).toBe(true);
      expect(existsSync(file.path)).toBe(false);
    }
    expect(runtime.launch(request)).toEqual(runtime.launch(request));
    const { argv, env, cwd } = runtime.launch(request);
    expect(cwd).toBe(request.worktree);
    expect(env).toMatchObject(request.env);
    for (const word of argv) expect(word).not.toContain("\0");
    expect(runtime.launch({ ...request, resume: true })).not.toEqual(runtime.launch(request));
  });

  test(`RUN-1: ${name}: a message is taken under its id, and a turn begins and ends around what is said`, async () => {
    const here = await place();
    await using leg = await here.start();
    const id = await leg.give("work", [say("Hello.")]);
    const ended = await leg.until("turn.ended");
    expect(ended.data).toMatchObject({ ok: true, reason: "completed", text: "Hello." });
    expect(leg.all("session.started")).toMatchObject([{ data: { session: here.request.session } }]);
    expect(leg.all("message.taken")).toMatchObject([{ data: { handedAs: id } }]);
    expect(leg.all("said").map((signal) => signal.data.text)).toContain("Hello.");
    expect(leg.order("turn.started", "said", "turn.ended")).toBe(true);
    await leg.give("more", [say("Again.")]);
    await leg.until("turn.ended", 2);
    expect(leg.all("turn.started")).toHaveLength(2);
    // What was said to it is found again on disk by its id: who resumes a session says nothing in it twice.
    const file = here.runtime.sessionFile(here.request.session);
    expect(readFileSync(file ?? "", "utf8")).toContain(id);
    expect(here.runtime.sessionFile(crypto.randomUUID())).toBeUndefined();
  });

  test(`RUN-1: ${name}: calls have a beginning and an end, a time, a hash of what was asked and a kind of failure`, async () => {
    const here = await place();
    await using leg = await here.start();
    await leg.give("work", [run("echo same"), run("echo same"), run("echo other"), run("exit 3"), say("Done.")]);
    await leg.until("turn.ended");
    const started = leg.all("tool.started");
    const ended = leg.all("tool.ended");
    expect(started.map((signal) => signal.data.tool)).toEqual(["Bash", "Bash", "Bash", "Bash"]);
    expect(ended.map((signal) => signal.source)).toEqual(started.map((signal) => signal.source));
    const [a, b, c] = started.map((signal) => signal.data.argsHash);
    expect(a === b && b !== c).toBe(true);
    expect(ended.map((signal) => signal.data.ok)).toEqual([true, true, true, false]);
    for (const { data } of ended) expect(data.ms).toBeGreaterThanOrEqual(0);
    expect(ended[0]?.data).toMatchObject({ tool: "Bash", errorClass: null, result: expect.stringContaining("same") });
    expect(ended[3]?.data.errorClass).toBe("exit-3");
  });

  test(`HOOK-1, HOOK-3: ${name}: asked by HTTP, a refusal is obeyed, silence is consent, and the permit's failure is a refusal`, async () => {
    const here = await place();
    const http = here.runtime.hooks?.http;
    if (!http) return; // a CLI whose hooks are commands only
    const asked: string[] = [];
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        const { pathname } = new URL(request.url);
        const body = await request.text();
        asked.push(`${pathname} ${request.headers.get("authorization")}`);
        if (!pathname.startsWith("/permit/") || body.includes("let-pass")) return new Response("");
        if (body.includes("broken")) return new Response("", { status: 500 });
        return new Response(here.runtime.hooks?.dialect.deny("not that one") ?? "");
      },
    });
    try {
      const probed = await here.runtime.probe(WISH);
      const endpoint = { url: `http://127.0.0.1:${server.port}`, attempt: 7, token: "ovtk_contract" };
      const version = probed.ready ? probed.version : null;
      const { directory, denyTools, env } = here.request;
      const file = http.prepare({ ...{ directory, denyTools, env, endpoint, version, texts: [] }, hooks: NO_HOOKS });
      await Bun.write(file.path, file.text, { mode: file.mode });
      const byHttp = file.text.includes("/permit/7");
      await using leg = await here.start(1, file.path);
      await leg.give("work", [run("echo let-pass > a"), run("echo refused > b"), run("echo broken > c"), say("Done.")]);
      await leg.until("turn.ended");
      const there = ["a", "b", "c"].filter((name) => existsSync(join(here.request.worktree, name)));
      expect(there).toEqual(byHttp ? ["a"] : ["a", "b", "c"]);
      if (byHttp) expect(leg.all("tool.ended")[1]?.data.result).toContain("not that one");
      expect(asked.every((line) => line.endsWith(" Bearer ovtk_contract"))).toBe(true);
      expect(asked.filter((line) => line.includes("SessionStart"))).toEqual([]);
    } finally {
      await server.stop(true);
    }
  });

  test(`RUN-1: ${name}: a message given during a turn is taken within it`, async () => {
    const here = await place();
    await using leg = await here.start();
    await leg.give("work", [untilLetGo, run("true"), say("End.")]);
    await here.tool();
    const id = await leg.give("by the way");
    here.letGo();
    await leg.until("turn.ended");
    const taken = leg.signals.findIndex((signal) => signal.kind === "message.taken" && signal.source === id);
    const over = leg.signals.findIndex((signal) => signal.kind === "turn.ended");
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(over);
  });

  test(`RUN-1: ${name}: an interrupt ends the turn and its tool, and the session continues`, async () => {
    const here = await place();
    await using leg = await here.start();
    await leg.give("work", [untilLetGo, say("Never.")]);
    const tool = await here.tool();
    await leg.write(here.runtime.interrupt("i-1"));
    expect((await leg.until("turn.ended")).data.ok).toBe(false);
    await eventually(() => !processes.alive(tool), "the end of the tool");
    await leg.give("again", [say("Here I am.")]);
    expect((await leg.until("turn.ended", 2)).data).toMatchObject({ ok: true, text: "Here I am." });
    expect(leg.all("session.started")).toHaveLength(1);
  });

  test(`METRIC-1: ${name}: what was spent is counted once, over turns and over legs`, async () => {
    const here = await place();
    const { setsUsage } = here.under;
    const usage: Step = { kind: "usage", inputTokens: 100, outputTokens: 10, costUsd: 0.25 };
    let pulse: Pulse;
    {
      await using leg = await here.start();
      await leg.give("work", [...(setsUsage ? [usage] : []), say("one"), wait, say("two"), wait, say("three"), wait]);
      await leg.until("turn.ended", 1);
      await leg.give("go on");
      await leg.until("turn.ended", 2);
      pulse = leg.pulse();
      leg.child.closeInput();
      expect(await leg.child.exited).toEqual({ code: 0, signal: null });
    }
    const before = pulse.usage;
    await using leg = await here.start(2);
    await leg.give("go on");
    await leg.until("turn.ended", 1);
    const after = leg.pulse(pulse).usage;
    expect(after.turns).toBe(3);
    if (setsUsage) {
      // Each turn is two messages of the model: its words, and that it waits.
      expect([before.inputTokens, before.outputTokens, before.costUsd]).toEqual([400, 40, 1]);
      expect([after.inputTokens, after.outputTokens, after.costUsd]).toEqual([600, 60, 1.5]);
    }
    const leg2 = after.costUsd - before.costUsd;
    expect(leg2).toBeGreaterThan(0);
    expect(leg2).toBeLessThan(before.costUsd);
  });

  test(`RUN-1: ${name}: killed in the middle and resumed by its session, it continues and does nothing twice`, async () => {
    const here = await place();
    const log = (word: string) => run(`echo ${word} >> log.txt`);
    {
      await using leg = await here.start();
      await leg.give("work", [log("one"), untilLetGo, log("two"), say("End.")]);
      const tool = await here.tool();
      expect(processes.list().find((one) => one.pid === tool.pid)?.session).not.toBe(leg.child.identity.pid);
      processes.signal(leg.child.identity, "SIGKILL");
      expect(await leg.child.exited).toEqual({ code: null, signal: "SIGKILL" });
      // In a session of its own it survives; whoever owns the attempt has to end it.
      expect(processes.alive(tool)).toBe(true);
      processes.signal(tool, "SIGKILL");
    }
    await using leg = await here.start(2);
    await leg.give("go on");
    expect((await leg.until("turn.ended")).data).toMatchObject({ ok: true, text: "End." });
    expect(leg.all("session.started")).toMatchObject([{ data: { session: here.request.session } }]);
    expect(readFileSync(join(here.request.worktree, "log.txt"), "utf8")).toBe("one\ntwo\n");
  });

  test(`RUN-1: ${name}: a line of ten megabytes passes both ways`, async () => {
    const here = await place();
    await using leg = await here.start();
    const id = await leg.give("x".repeat(10_000_000), [{ kind: "flood", lines: 1, bytes: 10_000_000, to: "text" }]);
    await leg.until("turn.ended");
    expect(leg.all("message.taken").map((signal) => signal.source)).toEqual([id]);
    expect(leg.all("noise")).toEqual([]);
    for (const signal of leg.signals) expect(JSON.stringify(signal).length).toBeLessThan(32_000);
  });

  test(`RUN-1: ${name}: with its input closed it finishes the turn and leaves; a write after that is answered with no`, async () => {
    const here = await place();
    await using leg = await here.start();
    await leg.give("work", [untilLetGo, say("End.")]);
    await here.tool();
    leg.child.closeInput();
    here.letGo();
    expect((await leg.until("turn.ended")).data.text).toBe("End.");
    expect(await leg.child.exited).toEqual({ code: 0, signal: null });
    expect(await leg.write(here.runtime.render({ id: crypto.randomUUID(), text: "hello?" }))).toBe(false);
  });

  test(`RUN-1: ${name}: a last line without its newline is taken, and what it left in other sessions outlives it`, async () => {
    const here = await place();
    await using leg = await here.start();
    const id = crypto.randomUUID();
    const text = `work ${renderScript([{ kind: "orphan", seconds: 30 }, say("End.")])}`;
    await leg.child.write(here.runtime.render({ id, text }).trimEnd());
    leg.child.closeInput();
    expect((await leg.until("turn.ended")).data).toMatchObject({ ok: true, text: "End." });
    expect(leg.all("message.taken").map((signal) => signal.source)).toEqual([id]);
    expect(await leg.child.exited).toEqual({ code: 0, signal: null });
    const [left] = leg.all("tool.ended");
    const orphan = processes.identify(Number(/left (\d+) behind/.exec(left?.data.result ?? "")?.[1]));
    if (!orphan) throw new Error("Nobody was left behind.");
    const facts = processes.list().find((one) => one.pid === orphan.pid);
    expect(facts?.session).toBe(orphan.pid);
    processes.signal(orphan, "SIGKILL");
  });

  test(`RUN-1: ${name}: an agent that dies while it is written to makes the write answer, not throw`, async () => {
    const here = await place();
    await using leg = await here.start();
    processes.signal(leg.child.identity, "SIGSTOP");
    const writing = leg.write(here.runtime.render({ id: crypto.randomUUID(), text: "y".repeat(1_000_000) }));
    processes.signal(leg.child.identity, "SIGKILL");
    expect(typeof (await writing)).toBe("boolean");
    await leg.child.exited;
    expect(await leg.write("{}\n")).toBe(false);
  });

  test(`RUN-1: ${name}: a given-up API failure is named with its cause; the agent stays`, async () => {
    const here = await place();
    await using leg = await here.start();
    await leg.give("work", [{ kind: "quota", attempts: 1, retryAfterMs: 10, givesUp: true }]);
    expect((await leg.until("turn.ended")).data.ok).toBe(false);
    expect(leg.all("api.failed")).toMatchObject([{ data: { cause: "quota" } }]);
    expect(leg.all("api.retry").length).toBeGreaterThan(0);
    await leg.give("again", [say("Back.")]);
    expect((await leg.until("turn.ended", 2)).data.text).toBe("Back.");
  });

  test(`RUN-1: ${name}: every signal of both legs is unique by source and phase`, async () => {
    const here = await place();
    const seen: string[] = [];
    for (const number of [1, 2]) {
      await using leg = await here.start(number);
      await leg.give("work", [say("a"), say("b"), run("true"), say("c")]);
      await leg.until("turn.ended");
      await leg.give("hello");
      await leg.until("turn.ended", 2);
      leg.child.closeInput();
      await leg.child.exited;
      seen.push(...leg.signals.map((signal) => `${signal.source} ${signal.phase}`));
    }
    expect(new Set(seen).size).toBe(seen.length);
  });

  test(`RUN-1: ${name}: asked once it answers once; an answer that is none is named`, async () => {
    const here = await place();
    const { runtime, request } = here;
    const prompt = `What is it? ${renderScript([say("It is 4.")])}`;
    const { launch, stdin } = runtime.oneShot({ prompt, model: null, cwd: request.worktree, env: request.env });
    const child = Bun.spawn([...launch.argv], {
      cwd: launch.cwd,
      env: { ...launch.env },
      stdin: new Blob([stdin]),
      stdout: "pipe",
    });
    const stdout = await child.stdout.text();
    expect(await child.exited).toBe(0);
    expect(runtime.answer(stdout)).toMatchObject({ text: "It is 4.", costUsd: expect.any(Number) });
    for (const bad of [
      "",
      "nonsense",
      "{}",
      "null",
      "[]",
      '{"result":3}',
      '{"is_error":true,"result":"no"}',
      stdout.slice(0, 20),
    ]) {
      expect(() => runtime.answer(bad)).toThrow(
        expect.objectContaining({ kind: "environment", code: "ANSWER_UNREADABLE" }),
      );
    }
  });
}

/** A repository, a home and a request for one session. */
class Place {
  private constructor(
    readonly under: RuntimeUnderTest,
    readonly request: Preparation,
  ) {}

  static async make(make: MakeRuntime): Promise<Place> {
    const home = tempDir("runtime-");
    const directory = join(home, "attempt");
    mkdirSync(directory);
    const systemPromptFile = join(directory, "system-prompt.md");
    writeFileSync(systemPromptFile, "You are a builder.\n");
    const under = await make(join(home, "state"));
    const { PATH = "", HOME = "", TMPDIR = "" } = process.env;
    const git = Object.entries(process.env).filter(([name]) => name.startsWith("GIT_")) as [string, string][];
    return new Place(under, {
      worktree: tempRepo().path,
      directory,
      session: crypto.randomUUID(),
      resume: false,
      model: null,
      permissionMode: "bypassPermissions",
      allowTools: [],
      denyTools: [],
      systemPromptFile,
      env: { ...Object.fromEntries(git), PATH, HOME, TMPDIR, LANG: "C.UTF-8", ...under.env },
      // Hooks that are there and have nothing against anything; what ours do is shown by test/e2e/hooks.test.ts.
      hooks: {
        hookCommand: "true",
        permitCommand: "true",
        userHooks: [],
        deniedPaths: [],
        wakePipe: null,
        steered: true,
      },
    });
  }

  get runtime(): Runtime {
    return this.under.runtime;
  }

  async start(number = 1, settingsFile?: string): Promise<Leg> {
    for (const file of this.runtime.prepare({ ...this.request, hooks: NO_HOOKS })) {
      await Bun.write(file.path, file.text, { mode: file.mode });
    }
    const others = settingsFile === undefined ? {} : { settingsFile };
    return new Leg(this.runtime, { ...this.request, ...others, resume: number > 1 }, number);
  }

  /** The tool that waits to be let go. */
  async tool() {
    const path = join(this.request.worktree, "tool.pid");
    const pid = await eventually(
      () => existsSync(path) && /^(\d+)\n/.exec(readFileSync(path, "utf8"))?.[1],
      "the tool to say its pid",
    );
    const tool = processes.identify(Number(pid));
    if (!tool) throw new Error("The tool is gone already.");
    return tool;
  }

  letGo(): void {
    writeFileSync(join(this.request.worktree, "go"), "");
  }
}

/** One start of the CLI, held as the runner holds it. */
class Leg {
  readonly signals: Signal[] = [];
  readonly child: Child;
  private readonly reader: Reader;
  private errors = "";

  constructor(
    private readonly runtime: Runtime,
    request: LaunchRequest,
    number: number,
  ) {
    this.reader = runtime.reader(number);
    this.child = startChild(runtime.launch(request), processes, {
      line: (text) => this.signals.push(...this.reader.read(text, Date.now())),
      error: (text) => {
        this.errors = `${this.errors}${text}\n`.slice(-2_000);
      },
    });
  }

  /** Gives a message; returns the id under which it is to come back. */
  async give(words: string, steps: readonly Step[] = []): Promise<string> {
    const id = crypto.randomUUID();
    const text = steps.length === 0 ? words : `${words} ${renderScript(steps)}`;
    expect(await this.write(this.runtime.render({ id, text }))).toBe(true);
    return id;
  }

  write(line: string): Promise<boolean> {
    expect(line.endsWith("\n") && line.indexOf("\n") === line.length - 1).toBe(true);
    return this.child.write(line);
  }

  all<K extends SignalKind>(kind: K): Signal<K>[] {
    return this.signals.filter((signal) => signal.kind === kind) as unknown as Signal<K>[];
  }

  /** The n-th signal of that kind, counted from 1. */
  until<K extends SignalKind>(kind: K, n = 1): Promise<Signal<K>> {
    return eventually(
      () => this.all(kind)[n - 1],
      () => `${kind} ${n}; got ${this.signals.map((signal) => signal.kind).join(", ")} ${this.errors}`,
    );
  }

  /** The first of each came in this order. */
  order(...kinds: SignalKind[]): boolean {
    const places = kinds.map((kind) => this.signals.findIndex((signal) => signal.kind === kind));
    return places.every((at, index) => at >= 0 && at > (places[index - 1] ?? -1));
  }

  pulse(from: Pulse = newPulse(1, "a")): Pulse {
    return this.signals.reduce(beat, from);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    processes.signal(this.child.identity, "SIGKILL");
    await this.child.exited;
  }
}

async function eventually<T>(look: () => T | undefined | false, what: string | (() => string)): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const seen = look();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > deadline)
      throw new Error(`Waited in vain for ${typeof what === "string" ? what : what()}.`);
    await Bun.sleep(10);
  }
}
