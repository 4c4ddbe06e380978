/**
 * `overseer remediate` with the scripted agent: a process of its own that repairs what keeps the daemon down, in a real
 * repository. Its words travel in guard.remediationPrompt; what it did is read from the files, the process table and the
 * transcript that it leaves.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { REMEDY_MARK } from "#act/attempt-files.ts";
import type { RemedyContext } from "#domain/guard/remedy-context.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { ownCommand } from "#sys/self.ts";
import { bundled, OVERSEER, overseerOk, type Said } from "../support/cli.ts";
import { confirmIn } from "../support/confirm.ts";
import { eventually } from "../support/fleet.ts";
import { isLongLane } from "../support/scale.ts";
import { hang, run, say } from "../support/steps.ts";
import { type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);
beforeAll(bundled);

const CONTEXT: RemedyContext = {
  v: 1,
  failure: {
    kind: "exited",
    detail: "The daemon ended with exit code 6: config.yaml cannot be read.",
    at: 1_700_000_000_000,
  },
  registration: { pid: 47, instance: "d_1" },
  guard: { pid: 46, since: 1_699_999_000_000 },
  try: 1,
};

/** What a failed test may have left running. */
const started: Bun.Subprocess[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    await child.exited;
  }
});

interface Remedied extends Said {
  readonly said: { readonly outcome: string; readonly log: string; readonly tries: number };
  readonly transcript: string;
}

class Place {
  private constructor(
    readonly repo: TempRepo,
    readonly state: string,
  ) {}

  /** A repository whose settings were good, and were confirmed, with this script for a remediating agent. */
  static async make(steps: readonly Step[], more: Record<string, unknown> = {}): Promise<Place> {
    const repo = tempRepo();
    await overseerOk(repo.path, "init");
    const { guard = {}, ...rest } = more as { guard?: object };
    const config = {
      runtime: "scripted",
      guard: { remediationPrompt: `Repair it. ${renderScript(steps)}`, ...guard },
      ...rest,
    };
    repo.write({ ".overseer/config.yaml": JSON.stringify(config) });
    await confirmIn(repo.path);
    const place = new Place(repo, join(repo.path, ".git/overseer"));
    place.writeContext(JSON.stringify(CONTEXT));
    return place;
  }

  writeContext(text: string): void {
    mkdirSync(join(this.state, "run"), { recursive: true });
    writeFileSync(join(this.state, "run/remedy-context.json"), text, { mode: 0o600 });
  }

  path(name: string): string {
    return join(this.repo.path, name);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  start(env: Readonly<Record<string, string>> = {}) {
    const words = ["remediate", join(this.state, "run/remedy-context.json"), "--json"];
    const child = Bun.spawn([OVERSEER, ...words], {
      cwd: this.repo.path,
      env: { ...process.env, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    started.push(child);
    return child;
  }

  async remediate(env: Readonly<Record<string, string>> = {}): Promise<Remedied> {
    const child = this.start(env);
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (stdout === "") return { stdout, stderr, code, said: { outcome: "", log: "", tries: 0 }, transcript: "" };
    const said = JSON.parse(stdout) as Remedied["said"];
    return { stdout, stderr, code, said, transcript: readFileSync(said.log, "utf8") };
  }

  /** Processes of a remediation of this repository. */
  left(): string[] {
    return readdirSync("/proc").filter(
      (pid) => /^\d+$/.test(pid) && environmentOf(pid).some((one) => this.isOurs(one)),
    );
  }

  private isOurs(variable: string): boolean {
    return variable.startsWith(`${REMEDY_MARK}=`) && variable.endsWith(`@${this.state}`);
  }

  /** Until the agent has said this; its script is in the transcript before. */
  async hears(words: string): Promise<void> {
    await eventually(
      () => this.transcripts().some((text) => text.includes(` agent\n${words}`)),
      () => `its words: ${words}`,
      20_000,
    );
  }

  /** Until it hangs for the only time: killed before that is written down, it would hang again. */
  async hangs(): Promise<void> {
    const marks = join(this.state, "run/scripted/played-once");
    await eventually(
      () => existsSync(marks) && readdirSync(marks).length > 0,
      () => "its hanging",
      20_000,
    );
  }

  transcripts(): string[] {
    const logs = join(this.state, "logs");
    if (!existsSync(logs)) return [];
    return readdirSync(logs)
      .filter((name) => name.startsWith("remediation_"))
      .map((name) => readFileSync(join(logs, name), "utf8"));
  }
}

/** Nobody may be there to bury what has ended. */
function isUp(pid: string): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return []; // it has ended
  }
}

const edit = (file: string, content: string): Step => ({ kind: "edit", file, content });
const GOOD = "runtime: scripted\n";
const repairing = [run("cat .overseer/config.yaml"), edit(".overseer/config.yaml", GOOD), say("Repaired.")];

test("FAIL-21, GUARD-3: an agent repairs a config.yaml that cannot be read, and all of it is in a transcript", async () => {
  const place = await Place.make(repairing);
  place.repo.write({ ".overseer/config.yaml": "runtime: [scripted\n" });
  mkdirSync(join(place.state, "logs"), { recursive: true });
  writeFileSync(
    join(place.state, "logs/daemon.ndjson"),
    '{"level":"error","event":"config"}\n{"token":"ghp_0123456789abcdefghijABCDEFGHIJ012345"}\n',
  );
  const { code, said, transcript } = await place.remediate();
  expect(code).toBe(0);
  expect(said).toMatchObject({ outcome: "finished", tries: 1 });
  expect(place.read(".overseer/config.yaml")).toBe(GOOD);
  expect(said.log).toStartWith(join(place.state, "logs/remediation_"));
  expect(statSync(said.log).mode & 0o777).toBe(0o600);
  for (const part of [
    "You run under the last good settings. The settings in effect cannot be used: ",
    "The daemon ended with exit code 6: config.yaml cannot be read.",
    '"instance": "d_1"',
    '{"level":"error","event":"config"}',
    "No agent is at work.",
    "$ git status --short --branch\n## main",
    "manual_intervention_needed_",
    'Bash {\n  "command": "cat .overseer/config.yaml"',
    "runtime: [scripted",
    "File updated successfully",
    "Repaired.",
    "finished\ntries: 1\nduration: ",
  ]) {
    expect(transcript).toContain(part);
  }
  expect(transcript).not.toContain("ghp_0123456789");
  expect(place.left()).toEqual([]);
  expect(readdirSync(join(place.state, "run/remedy"))).toEqual([]);
  // The settings it wrote are good: they are the ones in effect from now on.
  await overseerOk(place.repo.path, "config", "show");
});

test("GUARD-7: the database, run files, logs and the user's checkout stay as they are; locks and settings do not", async () => {
  const refused: Step[] = [
    edit(".git/overseer/overseer.db", "gone\n"),
    edit(".git/overseer/run/intent.json", "{}\n"),
    edit(".git/overseer/logs/daemon.ndjson", "\n"),
    edit("README.md", "mine\n"),
    edit("new.txt", "mine\n"),
    edit(".overseer/roles/out/file.yaml", "mine\n"),
    run("rm -rf .git/overseer"),
    run("echo mine > README.md"),
    run("cat README.md | tee new.txt"),
    run("sh -c 'echo mine > README.md'"),
    run("git checkout -q -b mine"),
    run("rm .git/index"),
    run("overseer config set runtime scripted"),
  ];
  const passed: Step[] = [
    run("rm .git/index.lock"),
    run("overseer status"),
    edit(".overseer/roles/own.yaml", "name: own\n"),
    edit(".overseer/manual_intervention_needed_1.txt", "A person has to look.\n"),
  ];
  const outside = tempDir("outside-");
  const place = await Place.make([...refused, ...passed, say("Done.")]);
  mkdirSync(place.path(".overseer/roles"), { recursive: true });
  Bun.spawnSync(["ln", "-s", outside, place.path(".overseer/roles/out")]);
  place.repo.write({ ".git/index.lock": "", ".git/overseer/logs/daemon.ndjson": "{}\n" });
  const database = Bun.hash(readFileSync(join(place.state, "overseer.db")));
  const { code, transcript } = await place.remediate();
  expect(code).toBe(0);
  expect(transcript.match(/Refused by Overseer: /g)).toHaveLength(refused.length);
  expect(Bun.hash(readFileSync(join(place.state, "overseer.db")))).toBe(database);
  expect(existsSync(join(place.state, "run/intent.json"))).toBe(false);
  expect(place.read(".git/overseer/logs/daemon.ndjson")).toBe("{}\n");
  expect(place.read("README.md")).toBe("# A repository\n");
  expect(place.repo.git("branch", "--show-current")).toBe("main");
  expect(existsSync(place.path("new.txt"))).toBe(false);
  expect(readdirSync(outside)).toEqual([]);
  expect(existsSync(place.path(".git/index.lock"))).toBe(false);
  expect(existsSync(place.path(".git/index"))).toBe(true);
  expect(place.read(".overseer/manual_intervention_needed_1.txt")).toBe("A person has to look.\n");
  expect(place.read(".overseer/roles/own.yaml")).toBe("name: own\n");
});

/** What is left out elsewhere is no skipped test. */
const inLongLane: (name: string, run: () => Promise<void>) => void = isLongLane() ? test : () => undefined;

inLongLane(
  "GUARD-7: with guard.allowRepoEdits it writes files of the project, and nothing of git's, of Overseer's or elsewhere",
  async () => {
    const side = join(tempDir("side-"), "tree");
    const steps = [
      edit("README.md", "repaired\n"),
      edit(".git/config", "mine\n"),
      edit(join(side, "README.md"), "mine\n"),
      edit(".git/overseer/run/intent.json", "{}\n"),
      say("Done."),
    ];
    const place = await Place.make(steps, { guard: { allowRepoEdits: true } });
    place.repo.git("worktree", "add", "-q", "-b", "side", side);
    const { code, transcript } = await place.remediate();
    expect(code).toBe(0);
    expect(place.read("README.md")).toBe("repaired\n");
    expect(transcript.match(/Refused by Overseer: /g)).toHaveLength(3);
    expect(readFileSync(join(side, "README.md"), "utf8")).toBe("# A repository\n");
  },
);

test("FAIL-24: an agent that crashes is tried once more in a session of its own; one that crashes again is given up", async () => {
  const once = await Place.make([say("Crashing."), { ...hang, once: true }, ...repairing]);
  const crashing = once.remediate();
  await once.hears("Crashing.");
  await once.hangs();
  for (const pid of once.left()) process.kill(Number(pid), "SIGKILL");
  const { code, said, transcript } = await crashing;
  expect(code).toBe(0);
  expect(said).toMatchObject({ outcome: "finished", tries: 2 });
  expect(transcript).toContain("crashed: its CLI ended by SIGKILL in the middle of its turn");
  const sessions = [...transcript.matchAll(/^session (\S+), runtime/gm)].map((match) => match[1]);
  expect(new Set(sessions).size).toBe(2);
  expect(once.read(".overseer/config.yaml")).toBe(GOOD);

  const always = await Place.make([{ kind: "fail", message: "no", exitCode: 3 }]);
  const given = await always.remediate();
  expect(given.code).toBe(5);
  expect(given.said).toMatchObject({ outcome: "crashed", tries: 2 });
  expect(JSON.parse(given.stderr)).toMatchObject({
    error: { code: "REMEDIATION_CRASHED", message: expect.stringContaining("crashed twice: ") },
  });
  expect(always.left()).toEqual([]);
});

test("FAIL-26: one that hangs is ended with everything it started when its guard says so, and its transcript stays", async () => {
  const place = await Place.make([say("Hanging."), run("cat pipe")]);
  Bun.spawnSync(["mkfifo", place.path("pipe")]);
  const child = place.start();
  // Its CLI, and the command in a session of its own.
  const running = await eventually(
    () => {
      const found = place.left();
      return found.some((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("cat\0")) ? found : undefined;
    },
    () => "its command",
    20_000,
  );
  expect(running.length).toBeGreaterThan(1);
  child.kill("SIGTERM");
  const [stdout, code] = await Promise.all([child.stdout.text(), child.exited]);
  expect(code).toBe(5);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "stopped", tries: 1 });
  expect(place.left()).toEqual([]);
  expect(running.filter(isUp)).toEqual([]);
  expect(place.transcripts()[0]).toContain("stopped: it was told to end by SIGTERM");
});

test("FAIL-26: with the remediation itself killed its CLI does not live on, and the next one ends what it had started", async () => {
  const place = await Place.make([say("Hanging."), { ...hang, once: true }, ...repairing]);
  const child = place.start();
  await place.hears("Hanging.");
  await place.hangs();
  expect(place.left()).toHaveLength(1);
  child.kill("SIGKILL");
  await child.exited;
  await eventually(
    () => place.left().length === 0,
    () => "the end of its CLI",
    10_000,
  );
  expect(place.transcripts()[0]).toContain(" agent\nHanging.");
  const [name = ""] = readdirSync(join(place.state, "run/remedy"));
  const mark = `${name.slice(name.lastIndexOf("-") + 1)}@${place.state}`;
  const tool = Bun.spawn(["sleep", "60"], { env: { ...process.env, [REMEDY_MARK]: mark } });
  started.push(tool);
  expect((await place.remediate()).said.outcome).toBe("finished");
  expect(await tool.exited).not.toBe(0);
  expect(readdirSync(join(place.state, "run/remedy"))).toEqual([]);
});

test("HOOK-3, GUARD-7: an agent whose CLI asks no hooks is ended at its first call", async () => {
  const wrapper = join(tempDir("wrap-"), "agent");
  const drop =
    'skip=; for word; do shift; [ -n "$skip" ] && { skip=; continue; }; [ "$word" = --settings ] && { skip=1; continue; }; set -- "$@" "$word"; done';
  const [bun = "", ...words] = ownCommand("scripted-agent");
  const entry = join(import.meta.dir, "../../dist/scripted-agent.js");
  const own = [bun, ...words.slice(0, -1), entry].map((word) => `'${word}'`).join(" ");
  writeFileSync(wrapper, `#!/bin/sh\n${drop}\nexec ${own} "$@"\n`, { mode: 0o755 });
  const steps = [
    edit("first.txt", "1\n"),
    run("timeout 20 tail -f /dev/null"),
    edit("second.txt", "2\n"),
    say("Done."),
  ];
  const place = await Place.make(steps, { runtimes: { scripted: { command: wrapper } } });
  const { code, said } = await place.remediate();
  expect(code).toBe(5);
  expect(said).toMatchObject({ outcome: "unguarded", tries: 1 });
  expect(existsSync(place.path("second.txt"))).toBe(false);
  expect(place.left()).toEqual([]);
});

type Breakage = readonly [what: string, breaks: (place: Place) => void, says: string];
const BREAKAGES: readonly Breakage[] = [
  ["a broken database", (place) => writeFileSync(join(place.state, "overseer.db"), "none"), "The store cannot be read"],
];
/** What differs little from these. */
const MORE: readonly Breakage[] = [
  ["no .overseer", (place) => rmSync(place.path(".overseer"), { recursive: true }), "under the last good settings"],
  ["no database", (place) => rmSync(join(place.state, "overseer.db")), "The store cannot be read"],
  ["no config.yaml", (place) => rmSync(place.path(".overseer/config.yaml")), "under the last good settings"],
];

test.each([...BREAKAGES, ...(isLongLane() ? MORE : [])])(
  "FAIL-21, GUARD-3: with %s it does its work all the same",
  async (_what, breaks, says) => {
    const place = await Place.make([edit(".overseer/config.yaml", GOOD), say("Done.")]);
    breaks(place);
    const { said, transcript } = await place.remediate();
    expect(transcript).toContain(says);
    expect(said.outcome).toBe("finished");
    expect(place.read(".overseer/config.yaml")).toBe(GOOD);
  },
);

test("GUARD-3: no program is started that only settings name which nobody has confirmed", async () => {
  const place = await Place.make(repairing);
  place.repo.write({ ".git/overseer/run/config.json": "{" });
  const programs = tempDir("programs-");
  writeFileSync(join(programs, "claude"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const { code, said, transcript } = await place.remediate({ PATH: `${programs}:${process.env.PATH}` });
  expect(transcript).toContain("You run under the built-in settings");
  expect(said).toMatchObject({ outcome: "not-started", tries: 0 });
  expect(code).toBe(5);
});

test("GUARD-3: a context that cannot be used, and an agent that calls it, are refused before anything is started", async () => {
  const place = await Place.make(repairing);
  place.writeContext(JSON.stringify(CONTEXT).slice(0, 80));
  const cut = await place.remediate();
  expect(cut.code).toBe(6);
  expect(cut.stderr).toContain("cut off");
  place.writeContext(JSON.stringify({ ...CONTEXT, v: 2 }));
  expect(await place.remediate()).toMatchObject({ code: 6, stderr: expect.stringContaining("version 2") });
  rmSync(join(place.state, "run/remedy-context.json"));
  expect(await place.remediate()).toMatchObject({ code: 2, stderr: expect.stringContaining("There is no file") });
  const call = async (words: readonly string[], env: Record<string, string>) => {
    const child = Bun.spawn([OVERSEER, ...words], {
      cwd: place.repo.path,
      env: { ...process.env, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    started.push(child);
    return { stderr: await child.stderr.text(), code: await child.exited };
  };
  const asAgent = await call(["remediate", "x"], { OVERSEER_ATTEMPT: "1" });
  expect(asAgent.code).not.toBe(0);
  // FENCE-1: what a remediating agent starts is not the person either; it may look.
  const marked = { [REMEDY_MARK]: `1@${place.state}` };
  expect(await call(["remediate", "x"], marked)).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("is not a person"),
  });
  expect(await call(["freeze"], marked)).toMatchObject({ code: 4, stderr: expect.stringContaining("is not a person") });
  expect((await call(["report"], marked)).code).toBe(0);
  expect(place.transcripts()).toEqual([]);
});

inLongLane("GUARD-4: a transcript is never tidied away, however old", async () => {
  const place = await Place.make(repairing);
  const { said } = await place.remediate();
  Bun.spawnSync(["touch", "-d", "2001-01-01", said.log]);
  const { tidyLogs } = await import("#act/tidy-logs.ts");
  const { findRoot } = await import("#sys/root.ts");
  const { realWorld } = await import("#wiring.ts");
  const world = realWorld(await findRoot({ cwd: place.repo.path, env: {} }), process.env);
  await tidyLogs(world);
  expect(existsSync(said.log)).toBe(true);
});
