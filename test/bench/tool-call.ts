/**
 * What a tool call of the real Claude Code costs because Overseer is there: CPU of ours (the runner, whatever it starts,
 * and the hooks, which are children of the CLI), and time on the wall. The CLI writes one small file after the other, at
 * the word of a scripted model on loopback, in three ways: alone, with hooks that ask the runner by HTTP, and with hooks
 * that are commands. What the CLI alone costs is taken off. CPU is the kernel's count for each process and for its
 * children that have ended; time is the middle one of those between two requests to the model. Linux only.
 */
import { Database } from "bun:sqlite";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Attempt } from "#domain/model/attempt.ts";
import type { Step } from "#runtimes/scripted/language.ts";
import { claudeProgram, knownToTheCli, modelEnvironment } from "../support/claude.ts";
import { gitIn } from "../support/git-in.ts";
import { type ModelServer, modelPrompt, startModelServer } from "../support/model-server.ts";
import { cpuNs } from "./cpu-clock.ts";
import { cpuOf, type Measure, median, type Options } from "./row.ts";

const OVERSEER = join(import.meta.dir, "../../bin/overseer");
/** Calls before anything is counted: what starts, starts in these. */
const BEFORE = 10;
const CLOCK_TICK_MS = 10;
/** What was needed for the last calls is given back by then. */
const RESTING_MS = 33_000;

const WAYS = ["alone", "http", "command"] as const;
type Way = (typeof WAYS)[number];

interface Cost {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly calls: number;
  /** Resident memory of the runner while it is at work, and once it has come to rest; 0 where there is none. */
  readonly workingMb: number;
  readonly restingMb: number;
}

interface Costs {
  readonly alone: Cost;
  readonly http: Cost;
  readonly command: Cost;
  /** Starting Bun with an empty script. */
  readonly emptyBunMs: number;
}

let measured: Promise<Costs> | undefined;

/** Measured once for all rows; the ways turn about, because the machine is not always as busy as it was. */
function measureCosts(options: Options): Promise<Costs> {
  measured ??= (async () => {
    const seen: Record<Way, Cost[]> = { alone: [], http: [], command: [] };
    const rounds = options.quick ? 1 : 3;
    for (let round = 1; round <= rounds; round += 1) {
      for (const way of WAYS)
        seen[way].push(await run(options, { way, round, rests: way === "http" && round === rounds }));
    }
    const empty = join(options.scratch, "empty.js");
    writeFileSync(empty, "");
    const starts = Array.from({ length: options.quick ? 10 : 40 }, () =>
      cpuOf([process.execPath, empty], options.scratch),
    );
    return { alone: sum(seen.alone), http: sum(seen.http), command: sum(seen.command), emptyBunMs: median(starts) };
  })();
  return measured;
}

function sum(costs: readonly Cost[]): Cost {
  const middle = (of: (cost: Cost) => number) => median(costs.map(of));
  return {
    cpuMs: middle(({ cpuMs }) => cpuMs),
    wallMs: middle(({ wallMs }) => wallMs),
    calls: costs.reduce((all, { calls }) => all + calls, 0),
    workingMb: Math.max(...costs.map(({ workingMb }) => workingMb)),
    restingMb: Math.max(...costs.map(({ restingMb }) => restingMb)),
  };
}

interface Turn {
  readonly way: Way;
  readonly round: number;
  /** Waits until its runner has come to rest. */
  readonly rests: boolean;
}

interface AtWork {
  readonly model: ModelServer;
  readonly claude: number;
  readonly runner: number | undefined;
}

async function run(options: Options, { way, round, rests }: Turn): Promise<Cost> {
  const calls = options.quick ? 30 : 40;
  const steps: Step[] = Array.from({ length: BEFORE + calls + 2 }, (_, index) => ({
    ...{ kind: "edit", file: `file-${index}.txt`, content: `${index}\n` },
  }));
  const { model, claude, runner } = await startAtWork(options, { way, round }, modelPrompt("Write the files", steps));
  const asked = () => model.requests.filter(({ kind }) => kind === "conversation");
  const spent = () => (runner === undefined ? 0 : cpuNs(runner) / 1e6 + childrenMs(runner)) + childrenMs(claude);
  await until(() => asked().length > BEFORE, `the first calls of ${way}`);
  const [begun, before] = [asked().length, spent()];
  await until(() => asked().length >= begun + calls, `the calls of ${way}`);
  const [ended, after] = [asked().length, spent()];
  const times = asked().slice(begun, ended);
  const between = times.slice(1).map(({ at }, index) => at - (times[index]?.at ?? at));
  const count = ended - begun;
  const held = () => (runner === undefined ? 0 : residentMb(runner));
  const workingMb = held();
  await until(() => asked().length >= steps.length + 1, `the end of ${way}`);
  if (rests) await Bun.sleep(RESTING_MS);
  const cost = { cpuMs: (after - before) / count, wallMs: median(between), calls: count };
  return { ...cost, workingMb, restingMb: rests ? held() : 0 };
}

async function startAtWork(
  { scratch, atEnd }: Options,
  { way, round }: Pick<Turn, "way" | "round">,
  prompt: string,
): Promise<AtWork> {
  const model = await startModelServer({ speed: 10 });
  atEnd(() => model.stop());
  const place = join(scratch, `tool-call-${way}-${round}`);
  const [repo, config] = [join(place, "repo"), join(place, "claude")];
  for (const directory of [repo, config]) mkdirSync(directory, { recursive: true });
  gitIn(repo, "init", "--quiet", "--initial-branch", "main");
  const who = ["-c", "user.name=Bench", "-c", "user.email=bench@example.invalid"];
  gitIn(repo, ...who, "commit", "--quiet", "--allow-empty", "--message", "First");
  writeFileSync(join(config, ".claude.json"), knownToTheCli(repo));
  const given = modelEnvironment(model.url);
  const env = { ...(process.env as Record<string, string>), ...given, CLAUDE_CONFIG_DIR: config };
  if (way === "alone") {
    const words = ["--print", "--verbose", "--output-format=stream-json", "--permission-mode=acceptEdits"];
    const child = Bun.spawn([claudeProgram(), ...words, prompt], { cwd: repo, env, stdin: "ignore", stdout: "ignore" });
    atEnd(async () => {
      child.kill();
      await child.exited;
    });
    return { model, claude: child.pid, runner: undefined };
  }
  const ok = (...words: string[]) => {
    const done = Bun.spawnSync([OVERSEER, ...words], { cwd: repo, env, stdin: "ignore", stderr: "pipe" });
    if (done.exitCode !== 0) throw new Error(`overseer ${words[0]}: ${done.stderr}`);
    return done.stdout.toString();
  };
  ok("init");
  const settings = {
    runtime: "claude-code",
    terminal: "detached",
    capacity: { loadFactor: 1_000 },
    agents: { passEnv: Object.keys(given), stagger: "0s", startsPerMinute: 100 },
    runtimes: { "claude-code": { command: claudeProgram(), hooks: way } },
  };
  writeFileSync(join(repo, ".overseer/config.yaml"), JSON.stringify(settings));
  // Not awaited by its caller: agents begin at once.
  const sling = Bun.spawn([OVERSEER, "sling", "--name", "ada", "--json", "--prompt", prompt], {
    ...{ cwd: repo, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  });
  atEnd(() => ok("nuke", "--all", "--discard"));
  const [said, complaint] = await Promise.all([sling.stdout.text(), sling.stderr.text()]);
  if ((await sling.exited) !== 0) throw new Error(`overseer sling: ${complaint}${said}`);
  const attempt = await until(() => {
    const found = attemptIn(join(repo, ".git/overseer/overseer.db"));
    return found?.process && found.runner ? found : undefined;
  }, "the agent's process");
  return { model, claude: attempt.process?.pid ?? 0, runner: attempt.runner?.pid };
}

function attemptIn(path: string): Attempt | undefined {
  const db = new Database(path, { readonly: true });
  try {
    db.run("pragma busy_timeout = 5000");
    const row = db.query<{ doc: string }, []>("select doc from attempts where attempt = 1").get();
    return row ? (JSON.parse(row.doc) as Attempt) : undefined;
  } finally {
    db.close();
  }
}

/** What those of its children have spent that have ended and were waited for. */
function childrenMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) * CLOCK_TICK_MS;
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
}

async function until<T>(look: () => T | undefined | false, what: string): Promise<T> {
  for (const deadline = performance.now() + 120_000; performance.now() < deadline; await Bun.sleep(5)) {
    const seen = look();
    if (seen !== undefined && seen !== false) return seen;
  }
  throw new Error(`Waited in vain for ${what}.`);
}

const cpu =
  (way: "http" | "command"): Measure =>
  async (options) => {
    const costs = await measureCosts(options);
    const ours = costs[way].cpuMs - costs.alone.cpuMs;
    return { workMs: ours, floorMs: costs.emptyBunMs, turns: costs[way].calls };
  };

export const cpuByHttp = cpu("http");
export const cpuByCommand = cpu("command");

export const wall: Measure = async (options) => {
  const { alone, http, command } = await measureCosts(options);
  const added = (cost: Cost) => cost.wallMs - alone.wallMs;
  return {
    workMs: added(http),
    floorMs: added(command),
    turns: http.calls,
    note: `the CLI alone takes ${alone.wallMs.toFixed(1)} ms`,
  };
};

export const memory: Measure = async (options) => {
  const { http } = await measureCosts(options);
  const working = `${http.workingMb.toFixed(1)} MB while it was at work`;
  return { value: http.restingMb, turns: 1, note: `at rest, ${working}` };
};
