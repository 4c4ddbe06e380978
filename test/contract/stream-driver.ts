/**
 * A driver for contract tests of stream-json agents: starts one in a directory of its own, talks to it, and waits for
 * lines with a deadline. Everything it starts it ends, by pid. It deliberately knows nothing about our runner: the
 * suite says what an agent does, not what we make of it.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { readLines } from "#runtimes/scripted/stream.ts";

export interface Line {
  readonly type: string;
  readonly subtype?: string;
  readonly uuid?: string;
  readonly session_id?: string;
  readonly isReplay?: boolean;
  readonly is_error?: boolean;
  readonly terminal_reason?: string | null;
  readonly message?: { readonly content: string | readonly Block[]; readonly usage?: Record<string, number> };
  readonly response?: {
    readonly subtype: string;
    readonly request_id: string;
    readonly response?: Record<string, unknown>;
  };
  readonly [field: string]: unknown;
}

export interface Block {
  readonly type: string;
  readonly text?: string;
  readonly name?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
  readonly content?: unknown;
  readonly is_error?: boolean;
}

/** How to start the agent under test: its program with these flags, and its whole environment. */
export type Launch = (place: Place, flags: readonly string[]) => { argv: string[]; env: Record<string, string> };

const DEADLINE_MS = 20_000;

/** A repository to work in and a home for the agent, gone at the end of the test. */
export class Place {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "overseer-stream-")));
  readonly cwd = join(this.root, "repo");
  readonly home = join(this.root, "home");

  constructor() {
    mkdirSync(this.cwd);
    mkdirSync(this.home);
    const git = Bun.spawnSync(["git", "init", "-q", this.cwd], { env: this.env });
    if (git.exitCode !== 0) throw new Error(git.stderr.toString());
  }

  /** What any agent gets: no settings of the person who runs the tests. */
  get env(): Record<string, string> {
    return {
      PATH: process.env.PATH ?? "/usr/bin:/bin",
      HOME: this.home,
      LANG: "C.UTF-8",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "A",
      GIT_AUTHOR_EMAIL: "a@localhost",
      GIT_COMMITTER_NAME: "A",
      GIT_COMMITTER_EMAIL: "a@localhost",
    };
  }

  path(name: string): string {
    return join(this.cwd, name);
  }

  has(name: string): boolean {
    return existsSync(this.path(name));
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

const STREAM = [
  "-p",
  "--input-format",
  "stream-json",
  "--output-format",
  "stream-json",
  "--verbose",
  "--replay-user-messages",
];

export class Driver {
  readonly lines: Line[] = [];
  /** Everything it wrote to stderr, once it has ended. */
  readonly stderr: Promise<string>;
  private readonly child: Bun.Subprocess<"pipe", "pipe", "pipe">;
  private requests = 0;
  private deaf = false;
  private readonly collecting: Promise<void>;

  constructor(launch: Launch, place: Place, flags: readonly string[] = []) {
    const { argv, env } = launch(place, [...STREAM, "--permission-mode", "bypassPermissions", ...flags]);
    this.child = Bun.spawn(argv, { cwd: place.cwd, env, stdin: "pipe", stdout: "pipe", stderr: "pipe" });
    this.stderr = new Response(this.child.stderr).text();
    this.collecting = this.collect();
  }

  get pid(): number {
    return this.child.pid;
  }

  /** Sends a user message; returns its id. */
  send(words: string, steps: readonly Step[] = []): string {
    const uuid = crypto.randomUUID();
    this.write(`${this.userLine(words, steps, uuid)}\n`);
    return uuid;
  }

  userLine(words: string, steps: readonly Step[], uuid: string): string {
    const text = steps.length === 0 ? words : `${words} ${renderScript(steps)}`;
    const content = [{ type: "text", text }];
    return JSON.stringify({ type: "user", message: { role: "user", content }, parent_tool_use_id: null, uuid });
  }

  /** Asks, and waits for the answer. Input is read in order, so it also proves that what was sent before has arrived. */
  async ask(subtype: string): Promise<Line> {
    this.requests += 1;
    const id = `r${this.requests}`;
    this.write(`${JSON.stringify({ type: "control_request", request_id: id, request: { subtype } })}\n`);
    return this.until((line) => line.response?.request_id === id, `answer to ${subtype}`);
  }

  write(text: string): void {
    this.child.stdin.write(text);
    this.child.stdin.flush();
  }

  closeInput(): void {
    this.child.stdin.end();
  }

  /** Nobody reads any more. */
  async stopReading(): Promise<void> {
    this.deaf = true;
    await this.collecting;
  }

  kill(signal: "SIGKILL" | "SIGTERM"): void {
    this.child.kill(signal);
  }

  /** The first line that fits, already seen or still to come. */
  async until(fits: (line: Line) => boolean, what: string): Promise<Line> {
    return eventually(() => this.lines.find(fits), `${what}; got ${this.summary()}`);
  }

  /** The n-th result, counted from 1. */
  async result(n = 1): Promise<Line> {
    return eventually(
      () => this.lines.filter((line) => line.type === "result")[n - 1],
      `result ${n}; got ${this.summary()}`,
    );
  }

  async exit(): Promise<{ code: number | null; signal: string | number | null }> {
    await within(this.child.exited, "exit of the agent");
    return { code: this.child.exitCode, signal: this.child.signalCode };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill("SIGKILL");
    await this.child.exited;
  }

  private async collect(): Promise<void> {
    for await (const text of readLines(this.child.stdout)) {
      // Leaving the loop closes the pipe.
      if (this.deaf) return;
      this.lines.push(JSON.parse(text) as Line);
    }
  }

  private summary(): string {
    return this.lines
      .map((line) => [line.type, line.subtype, line.terminal_reason].filter(Boolean).join("/"))
      .join(", ");
  }
}

export function blocks(lines: readonly Line[], type: string): Block[] {
  return lines.flatMap((line) => {
    const content = line.message?.content;
    return Array.isArray(content) ? content.filter((block: Block) => block.type === type) : [];
  });
}

/** Polls: real processes tell nobody when they are ready. */
export async function eventually<T>(look: () => T | undefined | false, what: string): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const seen = look();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > deadline) throw new Error(`Waited in vain for ${what}.`);
    await Bun.sleep(5);
  }
}

async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited in vain for ${what}.`)), DEADLINE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A process of the test's own making, told by the pid it wrote down itself. */
export class Child {
  private constructor(readonly pid: number) {}

  static async fromFile(place: Place, name: string): Promise<Child> {
    return new Child(
      await eventually(() => place.has(name) && /^\d+\n/.test(place.read(name)) && Number(place.read(name)), name),
    );
  }

  static of(pid: number): Child {
    return new Child(pid);
  }

  get alive(): boolean {
    const state = Bun.spawnSync(["ps", "-o", "stat=", "-p", String(this.pid)])
      .stdout.toString()
      .trim();
    return state !== "" && !state.startsWith("Z");
  }

  /** Process group and session, as ps prints them. */
  get group(): string {
    return Bun.spawnSync(["ps", "-o", "pgid=,sess=", "-p", String(this.pid)])
      .stdout.toString()
      .trim();
  }

  [Symbol.dispose](): void {
    if (this.alive) process.kill(this.pid, "SIGKILL");
  }
}
