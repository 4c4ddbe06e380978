/**
 * DEMO-1: the demo shows what it says it shows, on real processes, and leaves nothing behind: at its end, after an
 * interruption at any moment, and after kill -9 as soon as somebody looks.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { shellWord } from "#domain/core/shell-words.ts";
import type { Step } from "#runtimes/scripted/language.ts";
import { systemProcesses } from "#sys/processes.ts";
import { claudeProgram, DUMMY_KEY, modelEnvironment } from "../support/claude.ts";
import { bundled, OVERSEER, overseer, overseerOk } from "../support/cli.ts";
import { eventually } from "../support/fleet.ts";
import { startModelServer } from "../support/model-server.ts";
import { gitIn, tempDir } from "../support/temp.ts";

setDefaultTimeout(180_000);
beforeAll(bundled);

const processes = systemProcesses();
const bases: string[] = [];
const parents: string[] = [];
afterEach(() => {
  for (const base of bases.splice(0)) for (const one of runningIn(base)) processes.signal(one, "SIGKILL");
  for (const parent of parents.splice(0)) rmSync(parent, { recursive: true, force: true });
});

function runningIn(base: string) {
  return processes.withEnvironment("TMPDIR", base);
}

/** A temporary directory whose name leaves room for the sockets below it. */
function shortDir(): string {
  const parent = realpathSync(mkdtempSync("/tmp/ov-d-"));
  parents.push(parent);
  return parent;
}

interface Staging {
  readonly env?: Readonly<Record<string, string>>;
  readonly words?: readonly string[];
}

/** Starts it where there is no repository, in a TMPDIR of its own, and reads along. */
function started({ env = {}, words = ["--speed", "10"] }: Staging = {}) {
  const parent = shortDir();
  const child = Bun.spawn([OVERSEER, "demo", "--headless", ...words], {
    cwd: tempDir(),
    env: { ...process.env, TMPDIR: parent, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let said = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) said += decoder.decode(bytes, { stream: true });
  })();
  const found = () => {
    const [name] = readdirSync(parent);
    if (name === undefined) return undefined;
    if (!bases.includes(join(parent, name))) bases.push(join(parent, name));
    return join(parent, name);
  };
  return {
    child,
    found,
    said: () => said,
    until: (text: string) =>
      eventually(
        () =>
          said.includes(text) ||
          (child.exitCode !== null && fail(`it ended with ${child.exitCode} before "${text}":\n${said}`)),
        () => `"${text}" in\n${said}`,
      ),
    async end() {
      const code = await child.exited;
      await reading;
      return code;
    },
    base() {
      const base = /^Repository: (.+)\/repo$/m.exec(said)?.[1] ?? fail("it names no repository");
      expect(base.startsWith(`${parent}/`)).toBe(true);
      bases.push(base);
      return base;
    },
    /** What is left of it: processes, and anything in the directory that was its own. */
    left: () => [
      ...bases.filter((base) => base.startsWith(`${parent}/`)).flatMap((base) => runningIn(base)),
      ...readdirSync(parent),
    ],
  };
}

function fail(why: string): never {
  throw new Error(why);
}

/** What was told, without when, by whom and under which number. */
function factsIn(said: string): string[] {
  const told = [...said.matchAll(/^ *\d+\.\ds {2}(T\d+|) +(.*)$/gm)].map(
    ([, task = "", text = ""]) =>
      `${task}: ${text
        .replace(/\S+#\d+/, "agent")
        .replace(/ \(pid \d+\)/, "")
        .replace(/done at [0-9a-f]{7}/, "done")
        .replace(/step \d+: (.*) \d+ times/, "step n: $1 n times")
        .replace(/one agent|\d+ agents/, "n agents")}`,
  );
  return told.toSorted();
}

const LIVED = ["agent starts, in a worktree of its own.", "agent reports done.", "Checked, merged and landed on main."];
const TOLD: Readonly<Record<string, readonly string[]>> = {
  "": [
    "The plan is accepted: 12 nodes.",
    "The daemon runs.",
    "The daemon is killed with kill -9. Its agents keep running.",
    "The daemon runs.",
    "It finds n agents at work and adopts them, untouched.",
    "The goal is reached.",
  ],
  T1: LIVED,
  T2: [
    ...LIVED,
    "No progress; the agent is asked for its status (a hint).",
    "No progress; the agent is asked for its status (a warning).",
    "No progress; the agent is asked for its status (a last warning).",
    "Still nothing; its turn is interrupted and the instruction sent again.",
    "Still nothing; a fresh agent takes over from its last commit.",
    "agent starts, in a worktree of its own.",
  ],
  T3: [
    ...LIVED,
    "Not true: the check 'greetings' fails: german: says 'Hallo Ada', should say 'Hallo, Ada!'",
    "The claim goes back to its author, with what the check said.",
    "agent reports done.",
  ],
  T4: [
    ...LIVED,
    "Steered by its reflex at step n: Bash “grep -i hello dictionary/spanish” failed n times with the same result.",
  ],
  T5: [
    ...LIVED,
    "agent died: Its process was killed by SIGKILL.",
    "It is started again at once, in the same worktree: nothing is lost.",
    "agent starts, in a worktree of its own.",
  ],
  T6: [...LIVED, "agent asks: Shall the front page greet formally or familiarly?", "Answered: familiarly"],
  T7: LIVED,
  T8: [
    ...LIVED,
    "It conflicts with what landed meanwhile, in README.md.",
    "It goes back to its author, who knows best what it meant.",
    "agent reports done.",
    "The conflict was resolved by its author (tier: author); both sides are kept.",
  ],
  T9: LIVED,
};

test("DEMO-1: a goal is reached whatever its agents do; the same happens every time, all of it is told, and nothing is left", async () => {
  const demo = started();
  const code = await demo.end();
  const said = demo.said();
  expect(code === 0 ? "" : `${said}${await demo.child.stderr.text()}`).toBe("");
  const expected = Object.entries(TOLD).flatMap(([task, lines]) => lines.map((line) => `${task}: ${line}`));
  expect(factsIn(said)).toEqual(expected.toSorted());
  const ending = said.slice(said.indexOf("What happened and why"));
  for (const title of ["hung", "lied", "went in circles", "died", "asked"]) {
    expect(ending).toMatch(new RegExp(`The agent that ${title} \\(T\\d\\): `));
  }
  expect(ending).toMatch(/The two that collided \(T8\): /);
  expect(ending).toContain("The daemon that was killed: ");
  expect(ending).toContain("9 branches landed, 2 daemons");
  // The summary and what to type next fit the smallest usual screen.
  expect(ending.trimEnd().split("\n").length).toBeLessThanOrEqual(24);
  expect(ending.split("\n").filter((line) => line.length > 80)).toEqual([]);
  demo.base();
  expect(demo.left()).toEqual([]);
});

/** From the moment its directory is there, before a word of it, to the moment at which all has ended but the cleaning up. */
const MOMENTS = [
  ["SIGTERM", null, 143],
  ["SIGINT", "Repository: ", 130],
  ["SIGHUP", "reports done", 129],
  // The question is open at that moment, and nobody is there to take the answer.
  ["SIGTERM", "The daemon is killed", 143],
  ["SIGINT", "What happened and why", 130],
] as const;

test("DEMO-1: interrupted by any signal at any moment it leaves nothing, and says so by its exit code", async () => {
  await Promise.all(
    MOMENTS.map(async ([signal, moment, code]) => {
      const demo = started();
      if (moment === null) await eventually(demo.found, () => "its directory");
      else await demo.until(moment);
      demo.found();
      demo.child.kill(signal);
      expect([moment, await demo.end()]).toEqual([moment, code]);
      expect([moment, ...demo.left()]).toEqual([moment]);
    }),
  );
});

test("DEMO-1: after kill -9, doctor in its place says what is left, and doctor --fix clears all of it", async () => {
  const demo = started();
  await demo.until("No progress");
  const base = demo.base();
  demo.child.kill("SIGKILL");
  await demo.end();
  expect(runningIn(base).length).toBeGreaterThan(3);
  const looked = await overseer(`${base}/repo`, "doctor");
  expect(looked).toMatchObject({ code: 5, stderr: expect.stringContaining("doctor --fix") });
  expect(await overseerOk(`${base}/repo`, "doctor", "--fix")).toContain("a demo that was killed");
  expect(demo.left()).toEqual([]);
});

test("DEMO-1: your own agent is not started without a yes: nobody there to ask is an error that says what it would cost", async () => {
  const said = await overseer(tempDir(), "demo", "--runtime", "claude-code");
  expect(said).toMatchObject({ code: 2, stdout: "" });
  expect(said.stderr).toMatch(/each agent is held at about \$\d+\.\d\d, all together at \$\d+\.\d\d[\s\S]*--yes/);
});

test("DEMO-1: on a terminal it says what your own agent may cost and asks; only a yes starts it", async () => {
  const tmux = (...words: string[]) =>
    Bun.spawnSync(["tmux", "-S", join(parent, "s"), "-f", "/dev/null", ...words]).stdout.toString();
  const parent = shortDir();
  const screen = () => tmux("capture-pane", "-p", "-t", "w");
  const shows = (text: string) => eventually(() => screen().includes(text), screen);
  try {
    const command = `${OVERSEER} demo --runtime claude-code; tail -f /dev/null`;
    tmux("new-session", "-d", "-s", "w", "-x", "80", "-y", "24", "-e", `TMPDIR=${parent}`, "sh", "-c", command);
    await shows("Start it? [y/N]");
    expect(screen()).toContain("$0.50");
    tmux("send-keys", "-t", "w", "Enter");
    await shows("Nothing was started.");
    expect(readdirSync(parent)).toEqual(["s"]);
  } finally {
    tmux("kill-server");
  }
});

/** The tasks of the demo for one's own agent, as the model behind the real CLI plays them. */
const README = "# Greetings\n\nGreets people in their own language.\n";
const ADDING = "\n## Adding a language\n\nA program and what it says.\n";
const TRYING = "\n## Trying it\n\nRun it.\n";
const edit = (file: string, content: string): Step => ({ kind: "edit", file, content });
const finish = (summary: string): Step[] => [
  { kind: "commit", message: summary },
  { kind: "report", status: "done", summary },
];
const greets = (language: string, hello: string, end: string) => [
  edit(`greetings/${language}.sh`, `echo "${hello}, $1${end}"\n`),
  ...finish(`Greet in ${language}`),
];
const tells = (section: string): Step[] => [
  {
    kind: "on",
    message: "conflicts with",
    do: [
      { kind: "run", command: "git merge --no-edit main" },
      { kind: "run", command: `printf %s ${shellWord(README + ADDING + TRYING)} > README.md` },
      ...finish("Both sections"),
    ],
  },
  { kind: "edit", file: "README.md", append: section },
  ...finish("One section"),
];
const PLAYED: Readonly<Record<string, readonly Step[]>> = {
  T1: greets("english", "Hello", "!"),
  T2: greets("french", "Bonjour", " !"),
  T3: tells(ADDING),
  T4: tells(TRYING),
  T5: [
    {
      kind: "ask",
      question: "How?",
      cli: ["overseer", "ask", "How is it to greet?", "--option", "so", "--option", "formally"],
    },
    edit("front-page.txt", "Welcome.\n"),
    ...finish("The front page"),
  ],
};

test("DEMO-1: with --runtime claude-code the real CLI does the work, and --keep leaves what landed and nothing that runs", async () => {
  const model = await startModelServer({
    speed: 10,
    scriptFor: (text) => PLAYED[/Please do `(T\d)`/.exec(text)?.[1] ?? ""],
  });
  try {
    const programs = tempDir();
    symlinkSync(claudeProgram(), join(programs, "claude"));
    const configDir = tempDir();
    const known = { hasCompletedOnboarding: true, customApiKeyResponses: { approved: [DUMMY_KEY.slice(-20)] } };
    writeFileSync(join(configDir, ".claude.json"), JSON.stringify(known));
    const demo = started({
      env: { ...modelEnvironment(model.url), CLAUDE_CONFIG_DIR: configDir, PATH: `${programs}:${process.env.PATH}` },
      words: ["--runtime", "claude-code", "--yes", "--keep"],
    });
    const code = await demo.end();
    expect(code === 0 ? "" : `${demo.said()}${await demo.child.stderr.text()}`).toBe("");
    for (const fact of [
      /T5 {3}\S+ asks: /,
      /The daemon is killed/,
      /adopts them/,
      /Answered: formally/,
      /The goal is reached/,
    ]) {
      expect(demo.said()).toMatch(fact);
    }
    const base = demo.base();
    const repo = `${base}/repo`;
    expect(runningIn(base)).toEqual([]);
    expect(gitIn(repo, "show", "HEAD:greetings/french.sh")).toContain("Bonjour");
    expect(gitIn(repo, "show", "HEAD:README.md")).toMatch(/## Adding a language[\s\S]*## Trying it/);
    expect(gitIn(repo, "status", "--porcelain", "--untracked-files=no")).toBe("");
    const told = Bun.spawnSync([OVERSEER, "why", "T5"], { cwd: repo, env: { ...process.env, TMPDIR: dirname(base) } });
    expect(`${told.stdout}${told.stderr}`).toContain("is done");
  } finally {
    await model.stop();
  }
});
