/**
 * A working day of the real Claude Code, through the product: it is told its task, works inside its files, is refused
 * outside of them, calls tools side by side and an agent of its own, meets secrets, and commits. Then everything is
 * looked at: what reached the model, what was recorded and how often, and what is left in the repository.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { CLAUDE_VERSIONS } from "../support/claude.ts";
import { ClaudeWorld, type ClaudeWorldOptions, type Slung } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import { modelPrompt, textOf } from "../support/model-server.ts";
import { PLANTED_SECRETS } from "../support/secrets.ts";
import { run, say } from "../support/steps.ts";
import { gitIn } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const worlds: ClaudeWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.end();
});
async function begin(options: ClaudeWorldOptions): Promise<ClaudeWorld> {
  const world = await ClaudeWorld.start(options);
  worlds.push(world);
  return world;
}

const write = (file: string, content: string): Step => ({ kind: "edit", file, content });

/** In pieces that are kept whole of a tool's input and output, as far as anything of them is kept. */
const SECRETS: string[] = [];
for (const { text } of PLANTED_SECRETS) {
  const pack = SECRETS.at(-1);
  if (pack === undefined || pack.length + text.length > 800) SECRETS.push(text);
  else SECRETS[SECRETS.length - 1] = `${pack}\n${text}`;
}
const WORDS = Object.fromEntries(SECRETS.map((text, index) => [`secret${index}`, text]));
const secretFile = (index: number) => `src/secret${index}.txt`;

const SUBTASK = `Help. ${renderScript([write("outside.txt", "x"), run("echo below"), say("Helped.")])}`;

const DAY = modelPrompt(
  "Write src/a.txt",
  [
    write("src/a.txt", "a\n"),
    run('F=../../../README.md; echo x >> "$F"'),
    run("git add src && git commit --quiet --message 'Add it'"),
    write("src/left.txt", "not committed\n"),
    say("Done."),
  ],
  {
    1: {
      calls: [
        { tool: "Read", input: { file_path: "README.md" } },
        { tool: "Bash", input: { command: "echo beside" } },
      ],
    },
    2: {
      calls: [
        { tool: "Write", input: { file_path: "README.md", content: "mine\n" } },
        { tool: "Edit", input: { file_path: "README.md", old_string: "# A repository", new_string: "# Mine" } },
        { tool: "Bash", input: { command: "echo mine > README.md" } },
        { tool: "Agent", input: { description: "help", prompt: SUBTASK, subagent_type: "general-purpose" } },
      ],
    },
    3: {
      calls: SECRETS.map((_, index) => ({
        tool: "Write",
        input: { file_path: secretFile(index), content: `{{secret${index}}}` },
      })),
    },
    4: { calls: SECRETS.map((_, index) => ({ tool: "Bash", input: { command: `cat ${secretFile(index)}` } })) },
  },
);

/** One write, two and four side by side, two by its own agent, the secrets in and out, and three at the end. */
const CALLS = 1 + 2 + 4 + 2 + 2 * SECRETS.length + 3;

test.each(CLAUDE_VERSIONS)(
  "RUN-1, SCOPE-1, STORE-7: a day of Claude Code %s: scoped, counted once, and no secret is kept",
  async (version) => {
    const world = await begin({ version, subagents: true, words: WORDS });
    const settings = world.settings();
    const slung = await world.sling(DAY, "--name", "ada", "--files", "src");
    const [end] = await world.turns(slung, 1);
    expect(end?.data).toMatchObject({ ok: true, text: "Done." });

    const conversation = world.model.requests.filter(({ kind }) => kind === "conversation");
    const [first] = conversation;
    if (!first) throw new Error("nothing reached the model");
    for (const words of ["Write src/a.txt", slung.branch, "`src`"]) expect(textOf(first)).toContain(words);

    // Refused: all three ways out of its files, and the one that its own agent tried. Noticed: the way round the permit.
    const ended = world.signals(slung, "tool.ended");
    const refused = ended.filter(({ data }) => data.errorClass === "denied");
    expect(refused.map(({ data }) => data.tool).toSorted()).toEqual(["Bash", "Edit", "Write", "Write"]);
    for (const { data } of refused) expect(data.result).toContain("is outside your files (src)");
    expect(gitIn(slung.worktree, "show", "HEAD:README.md")).toBe("# A repository");
    const [changed] = await world.until(() => {
      const rows = world.rows<{ data: string }>("select data from events where type = 'checkout.changed'");
      return rows.length > 0 && rows;
    }, "the notice that the checkout changed");
    expect(JSON.parse(changed?.data ?? "{}")).toMatchObject({ what: ["files"] });

    // Counted once, whether side by side or by an agent of its own.
    const started = world.signals(slung, "tool.started");
    expect(started).toHaveLength(CALLS);
    expect(new Set(started.map(({ source }) => source)).size).toBe(CALLS);
    expect(started.filter(({ data }) => data.sub !== null).map(({ data }) => data.tool)).toEqual(["Write", "Bash"]);
    expect(ended.map(({ source }) => source).toSorted()).toEqual(started.map(({ source }) => source).toSorted());
    const pulse = world.pulse(slung);
    expect(pulse?.usage).toMatchObject({
      inputTokens: 1000 * conversation.length,
      outputTokens: 10 * conversation.length,
      toolCalls: CALLS,
      turns: 1,
    });
    expect(pulse?.usage.costUsd).toBeGreaterThan(0);
    expect(pulse?.usage.costUsd).toBe(
      world.signals(slung, "turn.ended").reduce((sum, { data }) => sum + (data.costUsd ?? 0), 0),
    );
    expect(pulse).toMatchObject({ inTurn: false, contextTokens: 1001 });
    expect(pulse?.contextWindow).toBeGreaterThan(0);
    for (const kind of ["session.started", "session.opened", "turn.started", "sub.started", "sub.ended"] as const) {
      expect([kind, world.signals(slung, kind).length]).toEqual([kind, 1]);
    }
    const logs = readdirSync(world.logDir(slung));
    for (const name of ["session.log", "events.ndjson", "tools.ndjson"]) expect(logs).toContain(name);
    const tools = readFileSync(join(world.logDir(slung), "tools.ndjson"), "utf8");
    expect(tools.match(/git commit --quiet/g)).toHaveLength(1);

    // Only its work is in the worktree, nothing in the person's settings.
    expect(world.status(slung)).toBe("?? src/left.txt");
    expect(gitIn(slung.worktree, "show", "--name-only", "--format=%s", "HEAD")).toContain("src/a.txt");
    expect(world.settings()).toBe(settings);
    // A worktree is no project of its own in the CLI's list, so none is left there when it goes.
    const known = JSON.parse(readFileSync(join(world.configDir, ".claude.json"), "utf8")) as { projects: object };
    expect(Object.keys(known.projects)).toEqual([world.repo.path]);

    const planted = SECRETS.map((_, index) => readFileSync(join(slung.worktree, secretFile(index)), "utf8"));
    // The CLI undoes such escapes in what its tools are given.
    const undone = (text: string) => text.replaceAll("\\u003c", "<").replaceAll("\\u003e", ">");
    expect(planted.map(undone)).toEqual(SECRETS.map(undone));
    await world.ok("stop", "ada");
    await world.ok("store", "backup");
    await world.ok("store", "export", "--to", join(world.repo.path, ".git/overseer/export.json"));
    expect(leaks(world, slung)).toEqual([]);
  },
);

/** Where a planted secret is found among everything that we wrote; the worktree and the CLI's own files are not ours. */
function leaks(world: ClaudeWorld, slung: Slung): string[] {
  const state = join(world.repo.path, ".git/overseer");
  const places = [state, join(world.repo.path, ".overseer")].filter((place) => existsSync(place));
  const kept = places.flatMap((place) =>
    readdirSync(place, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !path.startsWith(slung.worktree)),
  );
  expect(kept.map((path) => relative(state, path))).toContain("export.json");
  return kept.flatMap((path) => {
    const bytes = readFileSync(path);
    return PLANTED_SECRETS.filter(
      ({ secret }) => bytes.includes(secret) || bytes.includes(JSON.stringify(secret).slice(1, -1)),
    ).map(({ kind }) => `${kind} in ${relative(state, path)}`);
  });
}

test("PRIME-1: compacted in the middle of its work, it has its role, its task and what waits for it in the next request", async () => {
  const world = await begin({ args: ["--autocompact", "100k"] });
  const full = { usage: { inputTokens: 95_000 } };
  const steps = [
    run("echo one"),
    run("touch began; for i in $(seq 600); do [ -e go ] && exit 0; sleep 0.05; done"),
    run("echo two"),
    say("Done."),
  ];
  const slung = await world.sling(modelPrompt("Keep the lamp lit", steps, { 1: full }), "--name", "ada");
  await world.until(() => existsSync(join(slung.worktree, "began")), "the tool");
  // Paused, it finishes its turn and is given nothing: what is sent to it now waits.
  await world.ok("pause", "ada");
  await world.send(slung, "Mind the draught.");
  await Bun.write(join(slung.worktree, "go"), "");
  const [end] = await world.turns(slung, 1);
  expect(end?.data).toMatchObject({ ok: true, text: "Done." });

  const compaction = world.model.requests.findIndex(({ kind }) => kind === "compaction");
  const after = world.model.requests.slice(compaction + 1).find(({ kind }) => kind === "conversation");
  if (compaction < 0 || !after) throw new Error("nothing was compacted");
  const heard = JSON.stringify(after.body.messages);
  for (const words of ["Your context was compacted", "attempt #1", "Keep the lamp lit", "Mind the draught."]) {
    expect(heard).toContain(words);
  }
  expect(textOf(after)).toContain("builder");
  expect(textOf(after)).toContain(slung.branch);
  for (const kind of ["compaction.started", "compacted", "compaction.ended"] as const) {
    expect([kind, world.signals(slung, kind).length]).toEqual([kind, 1]);
  }
  expect(world.signals(slung, "session.opened").map(({ data }) => data.source)).toEqual(["startup", "compact"]);
  expect(world.pulse(slung)?.contextTokens).toBeLessThan(95_000);

  // Shown is not handed: once it may continue, it is given the message with a receipt.
  await world.ok("resume", "ada");
  await world.until(
    () => world.rows("select 1 from messages where doc like '%Mind the draught.%' and status = 'seen'").length === 1,
    "the receipt",
  );
});
