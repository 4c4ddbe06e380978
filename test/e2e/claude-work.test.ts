/**
 * A working day of the real Claude Code, through the product: it is told its task, works inside its files, is refused
 * outside of them, calls tools side by side and an agent of its own, meets secrets, and commits. Then everything is
 * looked at: what reached the model, what was recorded and how often, and what is left in the repository.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { renderScript, type Step } from "#runtimes/script/language.ts";
import { CLAUDE_VERSIONS } from "../support/claude.ts";
import { ClaudeWorld, type ClaudeWorldOptions, type Slung } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import { modelPrompt, textOf } from "../support/model-server.ts";
import { PLANTED_SECRETS } from "../support/secrets.ts";
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

const say = (text: string): Step => ({ kind: "say", text });
const run = (command: string): Step => ({ kind: "run", command });
const write = (file: string, content: string): Step => ({ kind: "edit", file, content });

const SECRETS = PLANTED_SECRETS.map(({ text }) => text).join("\n");
/** On one line, as a shell takes it; those that are one. */
const TYPED = PLANTED_SECRETS.map(({ text }) => text)
  .filter((text) => !/['\n]/.test(text))
  .slice(0, 10)
  .join(" ");

const SUBTASK = `Help. ${renderScript([write("outside.txt", "x"), run("echo below"), say("Helped.")])}`;

const DAY = modelPrompt(
  "Write src/a.txt",
  [
    write("src/secrets.txt", "{{secrets}}"),
    run("cat src/secrets.txt"),
    run("echo '{{typed}}' > /dev/null"),
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
  },
);

test.each(CLAUDE_VERSIONS)(
  "RUN-1, SCOPE-1, STORE-7: a day of Claude Code %s: scoped, counted once, and no secret is kept",
  async (version) => {
    const world = await begin({ version, subagents: true, words: { secrets: SECRETS, typed: TYPED } });
    const settings = world.settings();
    const slung = await world.sling(DAY, "--name", "ada", "--files", "src");
    const [end] = await world.turns(slung, 1);
    expect(end?.data).toMatchObject({ ok: true, text: "Done." });

    const conversation = world.model.requests.filter(({ kind }) => kind === "conversation");
    const [first] = conversation;
    if (!first) throw new Error("nothing reached the model");
    for (const words of ["Write src/a.txt", slung.branch, "`src`"]) expect(textOf(first)).toContain(words);

    // Refused: all three ways out of its files, and the one that its own agent tried. Noticed: the way round the guard.
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
    expect(started).toHaveLength(14);
    expect(new Set(started.map(({ source }) => source)).size).toBe(14);
    expect(started.filter(({ data }) => data.sub !== null).map(({ data }) => data.tool)).toEqual(["Write", "Bash"]);
    expect(ended.map(({ source }) => source).toSorted()).toEqual(started.map(({ source }) => source).toSorted());
    const pulse = world.pulse(slung);
    expect(pulse?.usage).toMatchObject({
      inputTokens: 1000 * conversation.length,
      outputTokens: 10 * conversation.length,
      toolCalls: 14,
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
    expect(gitIn(slung.worktree, "show", "--name-only", "--format=%s", "HEAD")).toContain("src/secrets.txt");
    expect(world.settings()).toBe(settings);

    expect(readFileSync(join(slung.worktree, "src/secrets.txt"), "utf8")).toContain(SECRETS);
    await world.ok("stop", "ada");
    await world.ok("store", "backup");
    await world.ok("store", "export", "--to", join(world.repo.path, ".overseer/export.json"));
    expect(leaks(world, slung)).toEqual([]);
  },
);

/** Where a planted secret is found among everything that we wrote; the worktree and the CLI's own files are not ours. */
function leaks(world: ClaudeWorld, slung: Slung): string[] {
  const state = join(world.repo.path, ".overseer");
  const places = [state, join(world.repo.path, ".git/overseer")].filter((place) => existsSync(place));
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
