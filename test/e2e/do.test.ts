/**
 * DO-1: from one sentence to landed commits, as people type it: with the real Claude Code for the plan and for the work; in a
 * real terminal with a review, left and come back to; and killed at two steps in the middle, where nothing is asked for,
 * begun or landed twice.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { ClaudeWorld } from "../support/claude-world.ts";
import { bundled, OVERSEER, startOverseer } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { LiveTerminal } from "../support/live-terminal.ts";
import { gitIn, tempDir } from "../support/temp.ts";

setDefaultTimeout(60_000);
beforeAll(bundled);

let ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.toReversed()) await end();
  ends = [];
});

/** Thirty files, among them tests of its own and what runs them. */
function projectFiles(): Record<string, string> {
  const units = Array.from({ length: 13 }, (_, at) => `unit${at + 1}`);
  return {
    ...Object.fromEntries(units.map((name, at) => [`src/${name}.mjs`, `export const ${name} = () => ${at + 1};\n`])),
    ...Object.fromEntries(
      units.map((name, at) => [
        `test/${name}.mjs`,
        `import { ${name} } from "../src/${name}.mjs";\nif (${name}() !== ${at + 1}) throw new Error("${name}");\n`,
      ]),
    ),
    "test/run.mjs":
      'import { readdirSync } from "node:fs";\nfor (const name of readdirSync(import.meta.dirname)) if (name !== "run.mjs") await import("./" + name);\n',
    "README.md": "# Units\n\nThirteen of them.\n",
    "package.json": '{ "name": "units", "scripts": { "test": "node test/run.mjs" } }\n',
    "AGENTS.md": "Every unit has a test of its name.\n",
  };
}
const TESTS = `'${process.execPath}' test/run.mjs`;

const LIMIT = {
  "src/limit.mjs": "export const limit = (most) => (count) => count <= most;\n",
  "test/limit.mjs": 'import { limit } from "../src/limit.mjs";\nif (limit(2)(3)) throw new Error("limit");\n',
};

function work(files: Readonly<Record<string, string>>, subject: string, first: readonly Step[] = []): Step[] {
  const edits = Object.entries(files).map(([file, content]): Step => ({ kind: "edit", file, content }));
  return [...first, ...edits, { kind: "commit", message: subject }, report(subject)];
}

function report(summary: string): Step {
  return { kind: "report", status: "done", summary };
}

interface Task {
  readonly id: string;
  readonly name: string;
  readonly files: readonly string[];
  readonly deps?: readonly string[];
  readonly steps?: readonly Step[];
}

/** As a model answers. Scripted agents read what they are to do in the objective. */
function planOf(...tasks: readonly Task[]): string {
  return JSON.stringify({
    planVersion: 1,
    phases: [
      {
        ...{ id: "P1", name: "Rate limiting", objective: "Calls are limited.", acceptance: ["test/limit.mjs passes"] },
        tasks: tasks.map(({ id, name, files, deps = [], steps }) => ({
          ...{ id, name, files, deps, outcome: `${files[0]} is there` },
          ...{ objective: `${name}. ${steps ? renderScript(steps) : ""}`.trim(), acceptance: [`${files[0]} passes`] },
        })),
      },
    ],
  });
}

const logOf = (path: string) => gitIn(path, "log", "--no-merges", "--format=%s", "main").split("\n");

test("DO-1: with the real Claude Code, from one sentence to landed commits; and no plan while the quota is used up", async () => {
  const [limiter, readme] = ["Write the limiter", "Tell of it in the README"];
  const asked: string[] = [];
  const world = await ClaudeWorld.start({
    files: projectFiles(),
    config: { checks: { tests: TESTS }, landing: { mode: "auto" } },
    model: {
      oneShot(prompt) {
        if (!prompt.includes("planVersion")) return "A title";
        asked.push(prompt);
        if (prompt.includes("Count the calls")) {
          const resets = new Date(Date.now() + 4 * 3_600_000).toISOString();
          return { status: 429, type: "rate_limit_error", message: `usage limit reached, resets ${resets}` };
        }
        return planOf(
          { id: "T1", name: limiter, files: ["src/limit.mjs", "test/limit.mjs"] },
          { id: "T2", name: readme, files: ["README.md"], deps: ["T1"] },
        );
      },
      scriptFor(text) {
        if (text.includes(`"${readme}"`) || text.includes(`# ${readme}`) || text.includes(`${readme}.`)) {
          return work({ "README.md": "# Units\n\nThirteen of them, limited.\n" }, "Tell of the limit");
        }
        return text.includes(limiter) ? work(LIMIT, "Limit calls") : undefined;
      },
    },
  });
  ends.push(
    () => world.end(),
    () => world.run("down", "--agents"),
  );
  writeFileSync(join(world.repo.path, "notes.txt"), "mine\n");
  const done = await world.run("do", "Add rate limiting to the units", "--yes", "--budget", "9");
  expect(done).toMatchObject({ code: 0 });
  expect(done.stderr).toContain(
    "1 file of your checkout is not committed: agents do not see it, and it stays as it is.",
  );
  expect(done.stdout).toContain("is reached: all 2 tasks are done.");
  expect(done.stdout).toMatch(/Landed on main: 2 tasks, in \d+ s, for (<\$0.01|\$\d)/);
  expect(done.stdout).toMatch(/T1 {2}tests passed on commit/);
  expect(logOf(world.repo.path).slice(0, 2)).toEqual(["Tell of the limit", "Limit calls"]);
  expect(asked).toHaveLength(1);
  // Explored before it was planned: what the prompt knows of the repository.
  expect(asked[0]).toContain("Every unit has a test of its name.");
  expect(existsSync(join(world.repo.path, "notes.txt"))).toBe(true);

  // The plan alone costs more than that: nobody is started, and the person is asked.
  const dear = await world.run("do", "Limit it cheaply", "--yes", "--budget", "0.000001");
  expect(dear).toMatchObject({ code: 7 });
  expect(dear.stderr).toMatch(/the budget of goal_limit-cheaply is spent.*the limit is what a person has set it to/s);
  expect(dear.stdout).not.toContain("started builder");

  const held = await world.run("do", "Count the calls", "--yes");
  expect(held).toMatchObject({ code: 7 });
  expect(held.stderr).toMatch(
    /No plan yet: the quota of .* is used up.*, until .*goal_count-calls stays, and the daemon asks again/s,
  );
  expect(held.stderr).toContain("or plan it by hand: overseer goal plan goal_count-calls --file plan.yaml");
});

/** A model of the user's own: a program that counts how often it was asked, waits where a file says so, and answers. */
function scriptedModel(answers: { readonly first: string; readonly second?: string }) {
  const dir = tempDir("model-");
  const at = (name: string) => join(dir, name);
  writeFileSync(at("first"), answers.first);
  writeFileSync(at("second"), answers.second ?? answers.first);
  writeFileSync(
    at("ask"),
    `cat > '${at("prompt")}'; echo x >> '${at("asked")}'; while [ -e '${at("hold")}' ]; do sleep 0.02; done
if grep -q 'only the limiter' '${at("prompt")}'; then cat '${at("second")}'; else cat '${at("first")}'; fi\n`,
  );
  return {
    command: `sh ${at("ask")}`,
    count: () => (existsSync(at("asked")) ? readFileSync(at("asked"), "utf8").length / 2 : 0),
    hold: () => writeFileSync(at("hold"), ""),
    release: () => Bun.spawnSync(["rm", "-f", at("hold")]),
  };
}

async function makeFleet(model: { readonly command: string }, mode = "auto"): Promise<Fleet> {
  const more = `checks: {tests: "${TESTS}"}\nlanding: {mode: ${mode}}\nmodel: {command: "${model.command}"}\n`;
  const fleet = await Fleet.make({ terminal: "detached", files: projectFiles(), more });
  ends.push(() => fleet.end());
  return fleet;
}

/** Waits in its worktree until a file is there, so that a test can be in the middle of it. */
function gate(): { readonly step: Step; open(): void } {
  const file = join(tempDir("gate-"), "open");
  return {
    // Bounded: the permit refuses to an agent to wait by polling without an end.
    step: { kind: "run", command: `timeout 60 sh -c "until [ -e ${file} ]; do sleep 0.02; done"` },
    open: () => writeFileSync(file, ""),
  };
}

const T1 = { id: "T1", name: "Write the limiter", files: ["src/limit.mjs", "test/limit.mjs"] };

test("DO-1: in a terminal: reviewed, asked for another with a remark, edited, accepted, left, one task cancelled, landed", async () => {
  const { step, open } = gate();
  ends.push(open);
  const limiter = { ...T1, steps: work(LIMIT, "Limit calls", [step]) };
  const readme = { id: "T2", name: "Tell of it", files: ["README.md"], deps: ["T1"] };
  const model = scriptedModel({
    first: planOf(limiter),
    second: planOf(limiter, { ...readme, steps: work({ "README.md": "# Limited\n" }, "Tell of it") }),
  });
  const fleet = await makeFleet(model, "review");
  const terminal = new LiveTerminal(fleet.repo.path, 100, 45);
  ends.push(() => terminal.end());
  /** The question stands at the end of what it shows: only then is somebody listening. */
  const asks = (question: string) =>
    eventually(
      () => terminal.words().trimEnd().endsWith(question),
      () => `${question} at the end of\n${terminal.screen().join("\n")}`,
    );
  const enter = (text: string) => {
    terminal.type(text);
    terminal.press("Enter");
  };
  model.hold();
  ends.push(() => model.release());
  enter(
    `export EDITOR="sed -i s/limiter/brake/" OVERSEER=${OVERSEER}; clear; $OVERSEER do "Add rate limiting" --budget 5`,
  );
  await terminal.shows("Asking the model … ");
  await eventually(
    () => model.count() === 1,
    () => "the model to be asked",
  );
  expect(terminal.words()).toContain("Recorded as goal_add-rate-limiting; it may cost $5.00.");
  terminal.press("C-c");
  await terminal.shows("goal_add-rate-limiting is kept; its plan is not made yet.");
  model.release();
  enter("clear; $OVERSEER do");
  await asks("[d]rop:");
  expect(terminal.words()).toMatch(/T1 Write the limiter src\/limit.mjs, test\/limit.mjs/);
  expect(terminal.words()).toContain("1 phase, 1 task");
  // Small work fits on one screen, from the first line to the question.
  expect(terminal.screen()[0]).toContain("goal_add-rate-limiting  Add rate limiting");
  enter("n");
  await asks("What should be different?");
  enter("not only the limiter");
  await terminal.shows("T2 Tell of it");
  await asks("[d]rop:");
  expect(model.count()).toBe(3);
  enter("e");
  await terminal.shows("T1 Write the brake");
  await asks("[d]rop:");
  // Somebody else changes it meanwhile: what is accepted is what is on the screen, or nothing.
  const other = fleet.at(fleet.repo.path, { EDITOR: "sed -i s/brake/governor/" });
  await other.ok("goal", "plan", "goal_add-rate-limiting", "--edit");
  enter("a");
  await terminal.shows("Another plan is proposed for goal_add-rate-limiting by now; nothing was changed.");
  await terminal.shows("T1 Write the governor");
  await asks("[d]rop:");
  enter("a");
  await terminal.shows("Started the daemon");
  await terminal.shows("T1 Overseer started builder-1#1");
  await terminal.shows("0 of 2 done; builder-1 on T1");
  terminal.press("C-c");
  await terminal.shows("goal_add-rate-limiting goes on without you.");
  await terminal.shows("Come back: overseer goal follow goal_add-rate-limiting");
  enter("clear; $OVERSEER do");
  await terminal.shows("0 of 2 done; builder-1 on T1");
  await fleet.ok("work", "cancel", "goal_add-rate-limiting/T2", "--reason", "not now");
  await terminal.shows('T2 someone cancelled it, saying "not now"');
  open();
  // Finished work is decided where it is followed.
  await asks("send it [b]ack, [l]ater:");
  expect(terminal.words()).toMatch(/check tests on done: pass .* A src\/limit.mjs \+1 -0/);
  enter("a");
  await terminal.shows("is reached in part: 1 of 2 tasks are done, 1 cancelled.");
  await terminal.shows("Landed on main: 1 task");
  expect(logOf(fleet.repo.path)[0]).toBe("Limit calls");
  expect(fleet.all("plan.accepted")).toHaveLength(1);
});

test("DO-1: killed while the model is asked and while it is followed: coming back continues, and nothing happens twice", async () => {
  const { step, open } = gate();
  ends.push(open);
  const model = scriptedModel({ first: planOf({ ...T1, steps: work(LIMIT, "Limit calls", [step]) }) });
  const fleet = await makeFleet(model);
  model.hold();
  ends.push(() => model.release());
  const begin = async (words: readonly string[], isThere: () => unknown, what: string) => {
    const child = startOverseer(fleet.repo.path, words);
    await eventually(isThere as () => true, () => what);
    child.kill("SIGKILL");
    await child.exited;
  };
  await begin(["do", "Add rate limiting", "--yes"], () => model.count() === 1, "the model to be asked");
  expect(fleet.all("plan.proposed")).toHaveLength(0);
  expect(fleet.daemon()).toBeUndefined();
  model.release();
  await begin(["do", "--yes"], () => fleet.all("agent.started").length === 1, "the work to begin");
  open();
  const back = await fleet.run("do");
  expect(back).toMatchObject({ code: 0 });
  expect(back.stdout).toContain("goal_add-rate-limiting is reached: its task is done.");
  // What the killed one had asked was never answered, so it was asked once more, under the same number.
  expect(model.count()).toBe(2);
  for (const type of [
    "goal.created",
    "plan.wanted",
    "plan.proposed",
    "plan.accepted",
    "agent.slung",
    "landing.landed",
  ] as const) {
    expect([type, fleet.all(type).length]).toEqual([type, 1]);
  }
});

test("DO-1: a script: stops at the plan without --yes, a dry run leaves nothing behind, no answer is said with what to do", async () => {
  const model = scriptedModel({ first: planOf({ ...T1, steps: work(LIMIT, "Limit calls") }), second: "no plan" });
  const fleet = await makeFleet(model);
  const dry = await fleet.run("do", "Try it", "--dry-run");
  expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining("T1  Write the limiter")]);
  expect(await fleet.ok("goal", "list")).toContain("No goals yet");
  expect(fleet.daemon()).toBeUndefined();

  const stopped = await fleet.run("do", "Add rate limiting");
  expect([stopped.code, stopped.stdout]).toEqual([7, expect.stringContaining("T1  Write the limiter")]);
  expect(stopped.stderr).toContain("overseer goal plan goal_add-rate-limiting --accept");
  expect(fleet.daemon()).toBeUndefined();

  const failed = await fleet.run("do", "Write only the limiter", "--json");
  expect(failed.code).toBe(4);
  expect(JSON.parse(failed.stderr).error).toMatchObject({ code: "PLAN_FAILED", goalId: "goal_write-only-limiter" });

  await fleet.ok("goal", "cancel", "goal_write-only-limiter");
  const landed = await fleet.run("goal", "follow", "goal_add-rate", "--yes", "--json");
  expect(landed).toMatchObject({ code: 0 });
  expect(JSON.parse(landed.stdout)).toMatchObject({
    outcome: "landed",
    landings: [{ workNodeId: "T1", target: "main" }],
  });
});
