/**
 * Killed in the middle of a tool call and let continue by `overseer restart`, with the real Claude Code: its session is
 * resumed where it was, in the worktree as it was left. Nothing is lost, nothing is told or counted twice.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Attempt } from "#domain/model/attempt.ts";
import type { Step } from "#runtimes/scripted/language.ts";
import { type ClaudeVersion, NEWEST, OLDER } from "../support/claude.ts";
import { ClaudeWorld } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import { modelPrompt, textOf } from "../support/model-server.ts";
import { run, say } from "../support/steps.ts";
import { gitIn } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const worlds: ClaudeWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.end();
});

/** Lasts until it is killed; called again, it is done at once. */
const held = run("[ -e begun.txt ] && exit 0; touch begun.txt; timeout 60 tail -f /dev/null");
const WORK: readonly Step[] = [
  { kind: "edit", file: "half.txt", content: "half\n" },
  held,
  run("cat half.txt > whole.txt"),
  { kind: "commit", message: "The whole" },
  say("Done."),
];

const CASES: [ClaudeVersion, readonly ("agent" | "runner")[]][] = [
  [NEWEST, ["agent", "runner"]],
  ...OLDER.map((version): [ClaudeVersion, readonly ["agent"]] => [version, ["agent"]]),
];

test.each(CASES)("FAIL-5: Claude Code %s, killed in a tool call with %p, continues", async (version, victims) => {
  const world = await ClaudeWorld.start({ version });
  worlds.push(world);
  const attempt = (number: number) =>
    JSON.parse(
      world.rows<{ doc: string }>("select doc from attempts where attempt = ?", number)[0]?.doc ?? "{}",
    ) as Attempt;
  for (const victim of victims) {
    const first = await world.sling(modelPrompt(`Write it, ${victim}`, WORK), "--name", victim);
    await world.until(() => existsSync(join(first.worktree, "begun.txt")), "the tool");
    await world.until(() => world.signals(first, "tool.started").length === 2, "its signal");
    await world.send(first, `Remember the ${victim}'s word.`);
    await world.until(
      () => victim === "agent" || world.rows("select 1 from messages where status = 'handed'").length > 0,
      "the handing",
    );
    const { process: agent, runner } = attempt(first.attempt);
    process.kill((victim === "agent" ? agent : runner)?.pid ?? 0, "SIGKILL");
    if (victim === "agent") await world.until(() => attempt(first.attempt).status === "ended", "its end");
    const before = world.model.requests.length;
    const second = JSON.parse(await world.ok("restart", victim, "--json")) as Attempt;
    await world.turns(second, 1);

    expect(attempt(first.attempt).end).toMatchObject({
      cause: "died",
      wip: expect.stringContaining("refs/overseer/wip"),
    });
    expect(attempt(second.attempt)).toMatchObject({
      continues: first.attempt,
      worktree: first.worktree,
      branch: first.branch,
      session: attempt(first.attempt).session,
    });
    expect(gitIn(first.worktree, "show", "HEAD:whole.txt")).toBe("half");
    expect(world.repo.git("show", `${attempt(first.attempt).end?.wip}:half.txt`)).toBe("half");
    expect(world.status(second)).toBe("");

    // The conversation was still there, and the message it had not seen is in it once.
    const requests = world.model.requests.slice(before);
    const last = requests.at(-1);
    if (!last) throw new Error("nothing reached the model");
    expect(textOf(last)).toContain(`Write it, ${victim}`);
    expect(textOf(last)).toContain("cut off in the middle");
    const told = last.body.messages
      .filter(({ role }) => role !== "assistant")
      .map(({ content }) => JSON.stringify(content));
    expect(told.filter((text) => text.includes(`Remember the ${victim}'s word.`))).toHaveLength(1);

    // What was spent is the sum of both, once each.
    expect(world.pulse(first)?.usage).toMatchObject({ inputTokens: 2000, toolCalls: 2 });
    expect(world.pulse(second)?.usage).toMatchObject({ inputTokens: 1000 * requests.length, turns: 1 });
    // The older version forgets a call that was cut off, so the model makes it again.
    expect(world.pulse(second)?.usage.toolCalls).toBe(version === "2.1.197" ? 3 : 2);
    expect(world.signals(second, "turn.started")).toHaveLength(1);
  }

  if (victims.length === 1) return;
  // Ended in order, the CLI remembers what its session had cost; that is not counted again.
  const agent = { ...attempt(2), attempt: 2 };
  const total = world.pulse(agent)?.usage;
  await world.ok("stop", "agent");
  const third = JSON.parse(await world.ok("restart", "agent", "--json")) as Attempt;
  const [end] = await world.turns(third, 1);
  expect(world.pulse(third)?.usage).toMatchObject({ inputTokens: 1000, outputTokens: 10, turns: 1 });
  expect(end?.data.costUsd).toBeLessThan(total?.costUsd ?? 0);
});

test("FAIL-5: killed on its own screen it continues there, in its session, and nothing is counted twice", async () => {
  const world = await ClaudeWorld.start();
  worlds.push(world);
  const first = await world.sling(modelPrompt("Write it", WORK), "--name", "ada", "--interactive");
  await world.until(() => existsSync(join(first.worktree, "begun.txt")), "the tool");
  await world.until(() => (world.pulse(first)?.usage.inputTokens ?? 0) >= 2000, "what it had spent");
  const [{ doc } = { doc: "{}" }] = world.rows<{ doc: string }>("select doc from attempts where attempt = 1");
  process.kill((JSON.parse(doc) as Attempt).process?.pid ?? 0, "SIGKILL");
  await world.until(() => world.rows("select 1 from attempts where status = 'ended'").length === 1, "its end");
  const before = world.model.requests.length;
  const second = JSON.parse(await world.ok("restart", "ada", "--json")) as Attempt;
  const [end] = await world.turns(second, 1);
  expect(end?.data).toMatchObject({ ok: true, text: "Done." });
  const requests = world.model.requests.slice(before).filter(({ kind }) => kind === "conversation");
  const [again] = requests;
  if (!again) throw new Error("nothing reached the model");
  expect(textOf(again)).toContain("Write it");
  expect(textOf(again)).toContain("cut off in the middle");
  expect(gitIn(first.worktree, "show", "HEAD:whole.txt")).toBe("half");
  await world.until(
    () => (world.pulse(second)?.usage.inputTokens ?? 0) >= 1000 * requests.length,
    "what it has spent since",
  );
  expect(world.pulse(second)?.usage.inputTokens).toBe(1000 * requests.length);

  // Ended in order, its meters may continue where they were; what they showed before is not this attempt's.
  const spent = (of: Attempt) => world.pulse(of)?.usage.costUsd ?? 0;
  await world.until(() => spent(second) >= COST_OF_ANSWER * requests.length, "the reading of its last answer");
  await world.ok("stop", "ada");
  const third = JSON.parse(await world.ok("restart", "ada", "--json")) as Attempt;
  await world.turns(third, 1);
  await world.until(() => spent(third) > 0, "a reading of its meters");
  expect(spent(second)).toBeCloseTo(COST_OF_ANSWER * requests.length, 9);
  expect(spent(third)).toBeCloseTo(COST_OF_ANSWER, 9);
});

/** What the CLI reckons for an answer of the model server: a thousand tokens in, ten out. */
const COST_OF_ANSWER = 0.0042;
