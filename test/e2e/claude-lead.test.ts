/**
 * ORCH-1 with a person's own Claude Code: it is primed, starts two agents, gets the question of one with the next prompt,
 * answers, hears how both ended, once each, and lands them; also after a compaction, and closed and resumed. Of two
 * sessions one leads. Where nobody said so, nothing happens.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { idMark } from "#domain/inbox/injection.ts";
import type { Message } from "#domain/model/message.ts";
import { findSessionFile } from "#runtimes/claude-code/session-file.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { claudeProgram, modelEnvironment } from "../support/claude.ts";
import { ClaudeWorld } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import { modelPrompt, type ToolCall, textOf } from "../support/model-server.ts";
import { leadTool, PersonSession, PLUGIN } from "../support/person-session.ts";
import { isLongLane } from "../support/scale.ts";
import { run, say, wait } from "../support/steps.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let world: ClaudeWorld | undefined;
let sessions: PersonSession[] = [];
afterEach(async () => {
  for (const one of sessions) await one.kill();
  sessions = [];
  await world?.run("down");
  await world?.end();
  world = undefined;
});

async function begin(): Promise<ClaudeWorld> {
  world = await ClaudeWorld.start({ config: { runtime: "scripted" } });
  return world;
}
function open(fleet: ClaudeWorld, flags?: readonly string[]): PersonSession {
  const session = PersonSession.open(fleet, flags);
  sessions.push(session);
  return session;
}
function resume(before: PersonSession): PersonSession {
  const session = PersonSession.resume(before);
  sessions.push(session);
  return session;
}

const letters = (fleet: ClaudeWorld) =>
  fleet
    .rows<{ doc: string }>("select doc from messages where agent = 'orchestrator' order by rowid")
    .map(({ doc }) => JSON.parse(doc) as Message);
const count = (text: string, part: string) => text.split(part).length - 1;
const happened = (fleet: ClaudeWorld, type: string) => fleet.rows("select seq from events where type = ?", type).length;
/** Calls tools, all at once, and says a word. */
const calling = (words: string, ...calls: ToolCall[]) => modelPrompt(words, [say("Done so.")], { 0: { calls } });
const plain = (words: string) => modelPrompt(words, [say("I see.")]);
const PRIMED = "You are the orchestrator of the Overseer fleet";

const commit = (name: string) => `echo ${name} > ${name}.txt && git add ${name}.txt && git commit -qm ${name}`;
const done = (name: string) =>
  run(
    `${commit(name)} && overseer work report --status done --summary "${name} is there" --commit "$(git rev-parse HEAD)"`,
  );
const sling = (name: string, steps: readonly Step[]): ToolCall => ({
  tool: leadTool("sling"),
  input: { name, prompt: `Add ${name} ${renderScript(steps)}` },
});

test("ORCH-1, TELL-1: a session leads two agents from start to landing, over a compaction and a resume", async () => {
  const fleet = await begin();
  const settings = fleet.settings();
  await fleet.ok("lead", "on");
  await fleet.ok("up");
  const session = open(fleet);
  const asks = run('overseer ask "Which calendar?" --option ISO --option Julian');
  const first = await session.prompt(
    calling("Add one and two", sling("one", [asks, wait, done("one"), wait]), sling("two", [done("two"), wait])),
  );
  expect(count(first, PRIMED)).toBe(1);
  expect(first).toContain("one#1");
  expect(first).toContain("two#2");

  await fleet.until(() => happened(fleet, "question.asked") === 1, "the question");
  const second = await session.prompt(
    calling("How is it?", { tool: leadTool("answer"), input: { question: "1", answer: "1" } }),
  );
  expect(second).toContain("Which calendar?");
  expect(second).toContain('type="question"');

  await fleet.until(
    () => fleet.rows("select seq from events where type = 'landing.waiting' and data like '%review%'").length >= 2,
    "two reviews",
  );
  const third = await session.prompt(
    calling(
      "And now?",
      { tool: leadTool("accept"), input: { what: "one" } },
      { tool: leadTool("accept"), input: { what: "two" } },
    ),
  );
  expect(count(third, "overseer review")).toBeGreaterThanOrEqual(2);
  await fleet.until(() => existsSync(join(fleet.repo.path, "one.txt")), "one to land");
  await fleet.until(() => existsSync(join(fleet.repo.path, "two.txt")), "two to land");
  const fourth = await session.prompt(plain("Tell me"));
  for (const name of ["one", "two"]) expect(count(fourth, `has landed: ${name} is there`)).toBe(1);
  for (const { messageId } of letters(fleet))
    expect([messageId, count(fourth, idMark(messageId))]).toEqual([messageId, 1]);

  // Compacted, it is told again where things stand, and of new letters alone.
  await session.prompt("/compact");
  await fleet.ok("mail", "send", "--to", "orchestrator", "--subject", "After", "--body", "Of the compaction.");
  const fifth = await session.prompt(plain("Still there?"));
  expect(fifth).toContain(PRIMED);
  expect(count(fifth, "Of the compaction.")).toBe(1);
  expect(count(fifth, "has landed: one is there")).toBe(0);

  // While none is open letters wait, and status says so; the resumed session gets them once.
  await session.close();
  expect(JSON.parse(await fleet.ok("lead", "status", "--json"))).toMatchObject({ on: true, session: null, waiting: 0 });
  await fleet.ok("mail", "send", "--to", "orchestrator", "--subject", "Meanwhile", "--body", "Nobody was there.");
  expect(await fleet.ok("status")).toContain("orchestrator");
  const again = resume(session);
  const sixth = await again.prompt(plain("Back again"));
  expect(count(sixth, "Nobody was there.")).toBe(1);
  expect(sixth.lastIndexOf(PRIMED)).toBeGreaterThan(sixth.indexOf("Still there?"));
  const seventh = await again.prompt(plain("Anything else?"));
  expect(count(seventh, "Nobody was there.")).toBe(1);
  await fleet.until(() => letters(fleet).every(({ status }) => status === "seen"), "the last letters to be seen");
  expect(letters(fleet).map(({ hands }) => hands)).toEqual(letters(fleet).map(() => 1));
  expect(fleet.settings()).toBe(settings);
});

test("ORCH-1: of two sessions one leads and the other is told; closed or killed, the other takes over", async () => {
  const fleet = await begin();
  await fleet.ok("lead", "on");
  const first = open(fleet);
  // The skill that it is told of is what the Skill tool loads, and no command of the same name.
  const started = await first.prompt(calling("Hello", { tool: "Skill", input: { skill: "overseer:leading" } }));
  expect(started).toContain(PRIMED);
  expect(started).toContain("the skill overseer:leading says more");
  expect(started).toContain("# Leading with Overseer");
  const second = open(fleet);
  expect(await second.prompt(plain("Hello"))).toContain("Another session");
  await fleet.ok("mail", "send", "--to", "orchestrator", "--subject", "s", "--body", "For one of you.");
  expect(await second.prompt(plain("And?"))).not.toContain("For one of you.");
  expect(await first.prompt(plain("And?"))).toContain("For one of you.");
  // Its CLI writes down a moment later what it has read; killed before that, nobody could know that it did.
  const path = findSessionFile(fleet.configDir, first.session) ?? "";
  await fleet.until(() => readFileSync(path, "utf8").includes("For one of you."), "the letter in its transcript");
  await first.kill();
  const taken = await second.prompt(plain("Now?"));
  expect(taken).toContain(PRIMED);
  expect(taken).not.toContain("For one of you.");
  await fleet.ok("mail", "send", "--to", "orchestrator", "--subject", "s", "--body", "For you.");
  expect(await second.prompt(plain("Mail?"))).toContain("For you.");
  await fleet.ok("lead", "off");
  await fleet.ok("mail", "send", "--to", "orchestrator", "--subject", "s", "--body", "For nobody.");
  expect(await second.prompt(plain("Still?"))).not.toContain("For nobody.");
});

function install(fleet: ClaudeWorld, marketplace: string, plugin: string): void {
  const env = { ...process.env, ...modelEnvironment(fleet.model.url), CLAUDE_CONFIG_DIR: fleet.configDir };
  for (const words of [
    ["marketplace", "add", marketplace],
    ["install", plugin],
  ]) {
    expect(Bun.spawnSync([claudeProgram(), "plugin", ...words], { env }).exitCode).toBe(0);
  }
}

/** A plugin of the person's own, with one skill. */
function ownPlugin(): string {
  const home = tempDir("market-");
  const files = {
    ".claude-plugin/marketplace.json": JSON.stringify({
      ...{ name: "mine", owner: { name: "me" } },
      plugins: [{ name: "own", source: "./own", description: "Of my own." }],
    }),
    "own/.claude-plugin/plugin.json": JSON.stringify({ name: "own", version: "1.0.0", description: "Of my own." }),
    "own/skills/sing/SKILL.md": "---\nname: sing\ndescription: Sings.\n---\n\nSing.\n",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  return home;
}

if (isLongLane()) {
  test("ORCH-1: installed as Claude Code installs plugins, it does nothing and writes nothing where nobody said so", async () => {
    const fleet = await begin();
    install(fleet, join(PLUGIN, ".."), "overseer@overseer");
    const settings = fleet.settings();
    const before = fleet.rows("select seq from events").length;
    const session = open(fleet, []);
    const shown = await session.prompt(plain("Hello"));
    // It is there, with its skill and its commands.
    expect(shown).toContain("overseer:leading");
    expect(shown).not.toContain(PRIMED);
    expect(shown.split("\n").filter((line) => line.startsWith(leadTool("")))).toEqual([]);
    await session.close();
    expect(fleet.rows("select seq from events").length).toBe(before);
    await fleet.ok("lead", "on");
    const second = open(fleet, []);
    const led = await second.prompt(plain("Hello"));
    expect(led).toContain(PRIMED);
    expect(led.split("\n")).toContain(leadTool("sling"));
    await second.close();
    await fleet.ok("lead", "off");
    expect(JSON.parse(await fleet.ok("lead", "status", "--json"))).toMatchObject({ on: false, session: null });
    expect(fleet.settings()).toBe(settings);
  });

  test("ORCH-1: an agent is led and does not lead: it has not the plugin that the person installed, and all their others", async () => {
    world = await ClaudeWorld.start();
    const fleet = world;
    install(fleet, join(PLUGIN, ".."), "overseer@overseer");
    install(fleet, ownPlugin(), "own@mine");
    await fleet.ok("lead", "on");
    const slung = await fleet.sling(plain("Say a word"), "--name", "ada");
    await fleet.turns(slung, 1);
    const shown = textOf(fleet.model.requests.findLast(({ kind }) => kind === "conversation") ?? never());
    expect(shown).toContain("own:sing");
    expect(shown).not.toContain("overseer:leading");
    expect(shown).not.toContain(PRIMED);
    expect(happened(fleet, "lead.taken")).toBe(0);
  });
}

function never(): never {
  throw new Error("The model was asked nothing.");
}
