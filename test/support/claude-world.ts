/**
 * A repository in which `overseer` puts the real Claude Code to work, with the scripted model behind it and a
 * configuration directory of its own instead of a person's. Everything goes through bin/overseer; what happened is
 * read from the database, the model server and git. Call `end()` when done: it stops every agent and looks for leftovers.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { wakeRunner } from "#act/attempt-files.ts";
import { attemptEvent } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import type { Signal, SignalKind } from "#domain/signals/signal.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { findRoot } from "#sys/root.ts";
import { realWorld } from "#wiring.ts";
import { type ClaudeVersion, claudeProgram, type HookWay, knownToTheCli, modelEnvironment, NEWEST } from "./claude.ts";
import { eventually, readRows } from "./fleet.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./model-server.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "./temp.ts";

const OVERSEER = join(import.meta.dir, "../../bin/overseer");
const DEADLINE_MS = 30_000;

export interface Slung {
  readonly agent: string;
  readonly attempt: number;
  readonly worktree: string;
  readonly branch: string;
}

export interface ClaudeWorldOptions {
  readonly version?: ClaudeVersion;
  readonly idleEnd?: string;
  /** How the CLI asks its hooks. */
  readonly hooks?: HookWay;
  /** Arguments for the CLI before ours. */
  readonly args?: readonly string[];
  /** Lets the CLI start agents of its own, which no role of ours may. */
  readonly subagents?: boolean;
  /** A runner that is to be stopped must not live in tmux, which makes it continue at once. */
  readonly terminal?: "detached";
  /** How many seconds the CLI waits for each of its hooks, instead of as many as we tell it to. */
  readonly hookSeconds?: number;
  /** What the model says where its script has `{{name}}`. */
  readonly words?: Readonly<Record<string, string>>;
  /** What is committed in the repository besides its README. */
  readonly files?: Readonly<Record<string, string>>;
  /** False: the person has never told the CLI to trust this folder. */
  readonly trusted?: boolean;
  /** What the model says besides scripts that travel in prompts. */
  readonly model?: Pick<ModelServerOptions, "oneShot" | "scriptFor">;
  /** More of config.yaml. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Variables of the person's that agents get to see, too. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another copy of the program than this project's. */
  readonly overseer?: string;
}

/** A wrapper as a person might have one: it takes our list of forbidden tools away. */
function withSubagents(program: string): string {
  const path = join(tempDir("wrap-"), "claude");
  const swap = 'for word; do shift; case $word in --disallowedTools=*) continue ;; esac; set -- "$@" "$word"; done';
  writeFileSync(path, `#!/bin/sh\n${swap}\nexec '${program}' "$@"\n`, { mode: 0o755 });
  return path;
}

/** The same, but it shortens the time for which hooks are waited for. */
function withPatience(program: string, seconds: number): string {
  const path = join(tempDir("wrap-"), "claude");
  const shorten = `case $last in --settings) sed -i -E 's/"timeout": (20|5)([^0-9]|$)/"timeout": ${seconds}\\2/' "$word" ;; esac; last=$word`;
  writeFileSync(path, `#!/bin/sh\nlast=\nfor word; do ${shorten}; done\nexec '${program}' "$@"\n`, { mode: 0o755 });
  return path;
}

export class ClaudeWorld {
  private constructor(
    readonly repo: TempRepo,
    readonly model: ModelServer,
    readonly configDir: string,
    private readonly env: Record<string, string>,
    private readonly overseer: string,
  ) {}

  static async start(options: ClaudeWorldOptions = {}): Promise<ClaudeWorld> {
    const model = await startModelServer({
      ...{ speed: 10, ...(options.words ? { words: options.words } : {}) },
      ...options.model,
    });
    const repo = tempRepo({ files: { "README.md": "# A repository\n", ...options.files } });
    const configDir = join(tempDir("claude-"), "config");
    mkdirSync(configDir);
    writeFileSync(join(configDir, "settings.json"), '{ "cleanupPeriodDays": 30 }\n');
    writeFileSync(join(configDir, ".claude.json"), knownToTheCli(...(options.trusted === false ? [] : [repo.path])));
    const given = { ...modelEnvironment(model.url), ...options.env };
    const env = { ...(process.env as Record<string, string>), ...given, CLAUDE_CONFIG_DIR: configDir };
    const world = new ClaudeWorld(repo, model, configDir, env, options.overseer ?? OVERSEER);
    await world.ok("init");
    const program = claudeProgram(options.version ?? NEWEST);
    const config = {
      runtime: "claude-code",
      terminal: options.terminal ?? "auto",
      // Other tests of the same machine are not what is tested here.
      capacity: { loadFactor: 1_000 },
      agents: { passEnv: Object.keys(given), stagger: "0s", startsPerMinute: 100 },
      runtimes: {
        "claude-code": {
          command: options.subagents
            ? withSubagents(program)
            : options.hookSeconds === undefined
              ? program
              : withPatience(program, options.hookSeconds),
          args: options.args ?? [],
          idleEnd: options.idleEnd ?? "30m",
          hooks: options.hooks ?? "http",
        },
      },
      ...options.config,
    };
    writeFileSync(join(repo.path, ".overseer/config.yaml"), JSON.stringify(config));
    return world;
  }

  /** As if the person had run the CLI here once and accepted. */
  trust(): void {
    writeFileSync(join(this.configDir, ".claude.json"), knownToTheCli(this.repo.path));
  }

  async run(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const child = Bun.spawn([this.overseer, ...words], {
      cwd: this.repo.path,
      env: this.env,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { code, stdout, stderr };
  }

  /** Starts it and does not wait; whoever starts it ends it. */
  begin(...words: string[]): Bun.Subprocess<"ignore", "pipe", "pipe"> {
    const streams = { stdin: "ignore", stdout: "pipe", stderr: "pipe" } as const;
    return Bun.spawn([this.overseer, ...words], { cwd: this.repo.path, env: this.env, ...streams });
  }

  async ok(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...words);
    if (code !== 0) throw new Error(`overseer ${words[0]} ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  async sling(prompt: string, ...flags: string[]): Promise<Slung> {
    return JSON.parse(await this.ok("sling", "--prompt", prompt, "--json", ...flags)) as Slung;
  }

  /** Puts a message before the agent, as the mail does. */
  async send(slung: Slung, body: string): Promise<void> {
    const world = realWorld(await findRoot({ cwd: this.repo.path, env: {} }), this.env);
    const store = await world.writer();
    const messageId = world.ids.next("m_");
    await store.commit({
      at: world.clock.now(),
      reads: { attempt: attemptByNumber(slung.attempt) },
      decide: ({ attempt }) => {
        if (!attempt) throw new Error(`no attempt ${slung.attempt}`);
        const data = { messageId, kind: "instruction", from: "human:test", body, dispatchId: null } as const;
        return accept([attemptEvent(attempt, "human:test", "message.queued", "test", data)], null);
      },
    });
    await wakeRunner(world, slung.attempt);
  }

  signals<K extends SignalKind>(slung: Slung, kind: K): Signal<K>[] {
    const rows = this.rows<{ source: string; phase: string; at: number; kind: string; data: string }>(
      "select source, phase, at, kind, data from signals where attempt = ? and kind = ? order by id",
      slung.attempt,
      kind,
    );
    return rows.map((row) => ({ ...row, data: JSON.parse(row.data) })) as unknown as Signal<K>[];
  }

  pulse(slung: Slung): Pulse | undefined {
    const [row] = this.rows<{ doc: string }>("select doc from pulses where attempt = ?", slung.attempt);
    return row === undefined ? undefined : (JSON.parse(row.doc) as Pulse);
  }

  get state(): string {
    return join(this.repo.path, ".git/overseer");
  }

  events(slung: Slung, type: string): { readonly data: Record<string, unknown> }[] {
    const rows = this.rows<{ data: string }>(
      "select data from events where attempt = ? and type = ? order by seq",
      slung.attempt,
      type,
    );
    return rows.map(({ data }) => ({ data: JSON.parse(data) as Record<string, unknown> }));
  }

  rows<T>(sql: string, ...args: (string | number)[]): T[] {
    return readRows(join(this.state, "overseer.db"), sql, ...args);
  }

  async turns(slung: Slung, count: number): Promise<Signal<"turn.ended">[]> {
    return this.until(() => {
      const ended = this.signals(slung, "turn.ended");
      return ended.length >= count ? ended : undefined;
    }, `turn ${count} of ${slung.agent}`);
  }

  until<T>(look: () => T | undefined | false, what: string): Promise<T> {
    return eventually(look, () => `${what}.\n${this.logs()}`, DEADLINE_MS);
  }

  /** What the agents' logs say, for whoever has to find out why a test waited in vain. */
  private logs(): string {
    const directory = join(this.repo.path, ".git/overseer/logs");
    const files = [...new Bun.Glob("**/*.log").scanSync({ cwd: directory })];
    return files.map((file) => `${file}:\n${readFileSync(join(directory, file), "utf8").slice(-2_000)}`).join("\n");
  }

  logDir(slung: Slung): string {
    const [row] = this.rows<{ doc: string }>("select doc from attempts where attempt = ?", slung.attempt);
    return (JSON.parse(row?.doc ?? "{}") as { logDir: string }).logDir;
  }

  status(slung: Slung): string {
    return gitIn(slung.worktree, "status", "--porcelain");
  }

  settings(): string {
    return readFileSync(join(this.configDir, "settings.json"), "utf8");
  }

  async end(): Promise<void> {
    await this.run("nuke", "--all", "--discard");
    await this.model.stop();
  }
}
