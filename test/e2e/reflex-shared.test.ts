/**
 * SALUTE-2 with real processes: two containers' worth of directories on one shared folder. On the one side an agent
 * that does not steer itself, with its runner and hooks; on the other an overseer that sees nothing but its reports.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Salute, saluteLatest, steeringFile } from "#domain/signals/salute.ts";
import type { Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { reportOf } from "../support/salutes.ts";
import { say } from "../support/steps.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const OVERSEER = join(import.meta.dir, "../../bin/overseer");
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** An overseer in a place of its own, which has only the shared directory. */
function overseerOf(shared: string) {
  const child = Bun.spawn([OVERSEER, "watch", "--salute", shared, "--every", "50ms"], {
    cwd: tempDir("elsewhere-"),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let said = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const part of child.stdout) said += decoder.decode(part, { stream: true });
  })();
  ends.push(async () => {
    child.kill("SIGKILL");
    await Promise.all([child.exited, reading]);
  });
  return { child, said: () => said };
}

const FILES = { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n", "d.txt": "d\n" };

async function containerOn(shared: string): Promise<Fleet> {
  const more = `reflex: {enabled: false}\nsalute: {sharedDir: ${JSON.stringify(shared)}, keep: 5}\n`;
  const fleet = await Fleet.make({ terminal: "detached", files: FILES, more });
  ends.push(() => fleet.end());
  mkdirSync(`${fleet.userDir}/roles`, { recursive: true });
  const doctrine = { saluteIntervalSteps: 2, maxStepsWithoutProgress: 3, radioCheckSteps: 1 };
  writeFileSync(`${fleet.userDir}/roles/builder.yaml`, JSON.stringify({ doctrine }));
  return fleet;
}

const read = (at: number): Step => ({ kind: "read", file: `${"abcd"[at % 4]}.txt` });
const listens: Step = { kind: "on", message: "SUPERVISOR", do: [say("I heard the overseer elsewhere.")] };

test("SALUTE-2: a stalled agent is steered from the other side, and each side notices when the other is gone", async () => {
  const shared = tempDir("shared-");
  const [one, other] = [join(shared, "one"), join(shared, "other")];
  mkdirSync(other);
  const overseer = overseerOf(shared);
  const fleet = await containerOn(one);
  const { attempt } = await fleet.sling("ada", [
    listens,
    // Slow enough for the other side to have a word in: as a model would be.
    ...Array.from({ length: 40 }, (_, at): Step[] => [read(at), { kind: "think", ms: 100 }]).flat(),
    say("finished"),
  ]);
  await fleet.said(attempt, "I heard the overseer elsewhere.");
  expect(overseer.said()).toContain(`ada#${attempt} is told: [SUPERVISOR] You appear stalled`);
  // Its own hooks said nothing: there is one hand on the wheel.
  expect(fleet.events(attempt, "agent.steered")).toEqual([]);

  await fleet.ok("stop", "ada");
  await eventually(
    () => overseer.said().includes(`ada#${attempt} has ended.`),
    () => `the end on the other side; it said ${overseer.said()}`,
  );
  expect(overseer.said()).not.toContain("not a report this version understands");
  expect(readdirSync(one)).toEqual(["ada_latest.json"]);
  const history = readFileSync(`${fleet.userDir}/salute/ada_history.ndjson`, "utf8").trim().split("\n");
  expect(history.length).toBeLessThanOrEqual(5);
  expect((JSON.parse(history.at(-1) ?? "{}") as Salute).status.state).toBe("ended");

  rmSync(shared, { recursive: true });
  const code = await overseer.child.exited;
  expect(code).toBe(5);
  expect(await overseer.child.stderr.text()).toContain("does not exist");
  expect(existsSync(shared)).toBe(false);
});

test("SALUTE-2, POL-1: in a repository an emergency elsewhere is a question, once, and only who is allowed is steered", async () => {
  const shared = tempDir("shared-");
  const one = join(shared, "one");
  mkdirSync(one);
  const fleet = await Fleet.make({ terminal: "detached" });
  ends.push(() => fleet.end());
  const watchOnce = async (...flags: string[]) => {
    writeFileSync(saluteLatest(one, "ada"), reportOf(9));
    return fleet.ok("watch", "--salute", shared, "--once", ...flags);
  };
  expect(await fleet.ok("watch", "--salute", shared, "--once")).toBe(`Watching ${shared}: nobody reports there yet.\n`);
  expect(JSON.parse(await fleet.ok("watch", "--salute", shared, "--once", "--json"))).toMatchObject({
    ...{ watching: shared, reporting: 0 },
  });
  const first = await watchOnce();
  expect(first).toContain(`Watching ${shared}: 1 agent reported there.`);
  expect(first).toContain("ada#1 is only shown: neither policy.allowAgents nor --allow names it.");
  expect(first).toContain("ada#1 is in an emergency; you are asked here: overseer answer q_");
  expect(existsSync(steeringFile(one, "ada"))).toBe(false);
  // The next watch, and the one after the answer, know that it was asked.
  expect(await watchOnce("--allow", "one/ada")).toContain("ada#1 is told: [SUPERVISOR]");
  expect(existsSync(steeringFile(one, "ada"))).toBe(true);
  const asked = fleet.all("question.asked").map(({ data }) => data);
  expect(asked).toHaveLength(1);
  expect(asked[0]?.text).toContain("ada#1 on another host (it reports in `one`) is in an emergency");
  expect(await fleet.ok("status")).toContain("ada#1 on another host");
  await fleet.ok("answer", asked[0]?.questionId ?? "", "1");
  expect(await watchOnce()).not.toContain("you are asked here");
  expect(fleet.all("question.asked")).toHaveLength(1);
});
