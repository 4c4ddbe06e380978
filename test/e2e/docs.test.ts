/**
 * Every command block of the README and the docs is run as it is printed, in a repository of its own, with the real
 * Claude Code and the scripted model behind it. A comment above a block may say for which event a reader would wait
 * (`after: <event> of <task>`) or which script runs it instead (`run by`). The only thing put in is what the model does: its script is
 * added to the tasks' objectives, because no model is asked. Which blocks are not run, test/docs.test.ts names.
 */
import { Database } from "bun:sqlite";
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { quoteForShell } from "#runtimes/scripted/walk.ts";
import { claudeProgram, knownToTheCli, modelEnvironment } from "../support/claude.ts";
import { bundled, OVERSEER } from "../support/cli.ts";
import { confirmIn } from "../support/confirm.ts";
import { eventually } from "../support/fleet.ts";
import { type ModelServer, startModelServer } from "../support/model-server.ts";
import { gitIn, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(180_000);
beforeAll(bundled);

const ROOT = join(import.meta.dir, "../..");
const PAGES = ["README.md", ...readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith(".md"),
);

interface Block {
  readonly text: string;
  /** The comment right above it. */
  readonly remark: string;
}

function blocksOf(page: string): Block[] {
  const found = readFileSync(join(ROOT, page), "utf8").matchAll(/(?:<!-- ([^\n]*) -->\n)?```sh\n([\s\S]*?)```/g);
  return [...found].map(([, remark = "", text = ""]) => ({ text, remark }));
}

/** It writes the file that its task names. */
function workOn(words: string): readonly Step[] {
  const file = /\w+\.txt/.exec(words)?.[0] ?? "hello.txt";
  return [
    { kind: "edit", file, content: "Hello, everybody.\n" },
    { kind: "run", command: `git add ${file} && git commit --quiet -m 'Greet everybody'` },
    { kind: "report", status: "done", summary: `${file} greets` },
  ];
}

/** What the model will do stands in its task; a block of lines has its script already. */
function withScripts(block: string): string {
  const scripted = (words: string) => `${words} ${renderScript(workOn(words))}`;
  return block
    .replace(
      /^( *objective: )(?!\|)(.*)$/gm,
      (_, key: string, words: string) => `${key}${JSON.stringify(scripted(words))}`,
    )
    .replace(/(--prompt )"([^"]*)"/g, (_, key: string, words: string) => `${key}${quoteForShell(scripted(words))}`);
}

/** To whoever asks for a plan: one task, for the file that the sentence names. */
function planFor(prompt: string): string {
  const [, file] = /Write (\w+\.txt)/.exec(prompt) ?? [];
  if (!prompt.includes("planVersion") || file === undefined) return "A title";
  const objective = `Write ${file} with one friendly line. ${renderScript(workOn(file))}`;
  const task = { id: "T1", name: `Write ${file}`, outcome: file, acceptance: [`${file} has one line`], files: [file] };
  const phase = { id: "P1", name: "Welcome", objective: "Whoever comes is welcome.", acceptance: [`${file} is there`] };
  return JSON.stringify({ planVersion: 1, phases: [{ ...phase, tasks: [{ ...task, objective }] }] });
}

let model: ModelServer | undefined;
let inside: ((words: string) => Promise<string>) | undefined;
afterEach(async () => {
  const ended = await inside?.("overseer down --agents");
  await model?.stop();
  [model, inside] = [undefined, undefined];
  expect(ended ?? "").not.toStartWith("FAILED");
});

async function reader(repo: string): Promise<(words: string) => Promise<string>> {
  model = await startModelServer({ speed: 10, oneShot: planFor });
  const bin = tempDir("bin-");
  symlinkSync(OVERSEER, join(bin, "overseer"));
  symlinkSync(claudeProgram(), join(bin, "claude"));
  const configDir = join(tempDir("claude-"), "config");
  mkdirSync(configDir);
  writeFileSync(join(configDir, ".claude.json"), knownToTheCli(repo));
  const given = { ...modelEnvironment(model.url), CLAUDE_CONFIG_DIR: configDir };
  // Where the model is, and that other tests share the machine: nothing a reader would have to write.
  const config = { capacity: { loadFactor: 1_000 }, agents: { passEnv: Object.keys(given) } };
  mkdirSync(join(repo, ".overseer"));
  // Key by key in lines, so that a reader may add lines of their own.
  const lines = Object.entries(config).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
  writeFileSync(join(repo, ".overseer/config.yaml"), lines.join(""));
  await confirmIn(repo);
  const env = { ...process.env, ...given, PATH: `${bin}:${process.env.PATH}` };
  return async (words) => {
    const child = Bun.spawn(["sh", "-ec", words], { cwd: repo, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return code === 0 ? stdout : `FAILED with ${code}: ${stderr}${stdout}`;
  };
}

async function happened(repo: string, type: string, node?: string): Promise<void> {
  const log = () => {
    const db = new Database(join(repo, ".git/overseer/overseer.db"), { readonly: true });
    try {
      const query = "select type, node_id as node, data from events order by seq";
      return db.query<{ type: string; node: string | null; data: string }, []>(query).all();
    } finally {
      db.close();
    }
  };
  await eventually(
    () => log().some((event) => event.type === type && (node === undefined || event.node === node)),
    () =>
      `${type}:\n${log()
        .map((event) => `${event.type} ${event.data.slice(0, 200)}`)
        .slice(-40)
        .join("\n")}`,
  );
}

/** A reader of these gets to a landed commit. */
const LANDING = ["README.md", "docs/first-run.md"];

const runnable = PAGES.filter((page) => blocksOf(page).some(({ remark }) => !remark.startsWith("run by")));

test.each(runnable)(
  "%s: every command works as it is printed, with real Claude Code, to a landed commit where one is promised",
  async (page) => {
    const repo = tempRepo();
    inside = await reader(repo.path);
    for (const { text, remark } of blocksOf(page)) {
      const [, script] = /^run by (\S+)/.exec(remark) ?? [];
      if (script !== undefined) {
        expect(existsSync(join(ROOT, script))).toBe(true);
        continue;
      }
      const [, awaited, node] = /^after: (\S+)(?: of (\S+))?/.exec(remark) ?? [];
      if (awaited !== undefined) await happened(repo.path, awaited, node);
      expect(await inside(withScripts(text))).not.toStartWith("FAILED");
    }
    if (LANDING.includes(page)) {
      expect(gitIn(repo.path, "show", "HEAD:hello.txt")).toBe("Hello, everybody.");
      expect(gitIn(repo.path, "log", "-1", "--format=%P", "HEAD").split(" ")).toHaveLength(2);
      // Written by the real Claude Code, which asked the model for every step of it.
      expect(model?.requests.length).toBeGreaterThan(2);
    }
  },
);

test("the README's first command is the demo, and its second runs the tests", () => {
  const first = blocksOf("README.md")[0]
    ?.text.split("\n")
    .map((line) => line.replace(/ *#.*/, ""));
  expect(first).toEqual(["npm ci --omit=dev && bin/overseer demo", "npm ci && npm test", ""]);
});
