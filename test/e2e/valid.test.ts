/**
 * The seeds' own acceptance lines that no other file shows from end to end: set up anywhere, put to work with everything
 * an agent needs, and mail from one to another. VALID-8 is in mail-hierarchy, VALID-9 in hook-telemetry, VALID-10 in
 * runner-record, VALID-11 in clean-checkout, VALID-14 in reconcile.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Step } from "#runtimes/script/language.ts";
import { bundled, OVERSEER, overseerOk } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { gitIn, tempRepo } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let fleet: Fleet | undefined;
afterEach(async () => {
  await fleet?.end();
  fleet = undefined;
});

test("VALID-1: init sets a repository up, touches nothing else, and everything can be used at once", async () => {
  const repo = tempRepo({ branch: "trunk" });
  await overseerOk(repo.path, "init");
  for (const made of ["config.yaml", "manifest.yaml", "roles", "agents", "overseer.db", ".gitignore"]) {
    expect(`${made} ${existsSync(join(repo.path, ".overseer", made))}`).toBe(`${made} true`);
  }
  expect(repo.git("status", "--porcelain")).toBe("?? .overseer/");
  const { goalId } = JSON.parse(await overseerOk(repo.path, "goal", "create", "Something", "--json")) as {
    goalId: string;
  };
  expect(await overseerOk(repo.path, "status")).toContain(goalId);
  expect(await overseerOk(repo.path, "events", "--type", "overseer.initialised", "--json")).toContain('"trunk"');
});

test("VALID-2: sling makes a worktree with a branch, tells the agent its task, arms its hooks and opens its session", async () => {
  fleet = await Fleet.make({ terminal: "tmux" });
  const wait: Step = { kind: "wait" };
  const slung = await fleet.sling("worker", [{ kind: "say", text: "I am here" }, wait]);
  await fleet.said(slung.attempt, "I am here");
  expect(gitIn(slung.worktree, "branch", "--show-current")).toBe(slung.branch);
  const files = join(fleet.state, "run/attempts", String(slung.attempt));
  const texts = readdirSync(files, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(files, entry.name), "utf8"));
  expect(texts.some((text) => text.includes("PreToolUse"))).toBe(true);
  expect(texts.some((text) => text.includes("overseerUpdate"))).toBe(true);
  expect(await fleet.tmux("list-sessions", "-F", "#{session_name}")).toContain(`ov-${slung.attempt}`);
  expect(gitIn(slung.worktree, "status", "--porcelain")).toBe("");
});

test("VALID-4: mail passes from one agent to another, is seen once, and the answer comes back", async () => {
  fleet = await Fleet.make({ terminal: "detached" });
  const given = fleet;
  const reader = await given.sling("reader", [
    { kind: "say", text: "reader is ready" },
    {
      kind: "on",
      message: "how far are you",
      do: [{ kind: "run", command: `'${OVERSEER}' mail send --to writer --subject Re --body 'half way'` }],
    },
  ]);
  await given.turns(reader.attempt, 1);
  const writer = await given.sling("writer", [
    { kind: "run", command: `'${OVERSEER}' mail send --to reader --subject Q --body 'how far are you?'` },
  ]);
  await given.said(writer.attempt, "received mail");
  const seen = (attempt: number, words: string) =>
    eventually(
      () => {
        const found = given.messages(attempt).filter((one) => one.kind === "mail" && one.body.includes(words));
        return found.every((one) => one.status === "seen") && found.length > 0 && found;
      },
      () => `mail with "${words}"`,
    );
  expect(await seen(reader.attempt, "how far are you?")).toHaveLength(1);
  expect(await seen(writer.attempt, "half way")).toHaveLength(1);
});
