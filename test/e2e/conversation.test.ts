/** The readable conversation of an agent: from its first prompt until long after its end, however much there is of it. */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { bundled } from "../support/cli.ts";
import { eventually } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { run, say, wait } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets();
const OVERSEER = join(import.meta.dir, "../../bin/overseer");
const LARGE = 700 * 1024 * 1024;

test("LOG-1: peek tells what an agent was asked, said, ran and changed, while it works and after its end", async () => {
  const fleet = await fleetOf({ files: { "notes.txt": "one\ntwo\nthree\n" } });
  const { attempt, agent } = await fleet.sling("a", [
    say("I look around."),
    run("seq 1 50"),
    run("echo oh no; exit 3"),
    { kind: "edit", file: "notes.txt", replace: "two", with: "2" },
    say("It is done."),
    wait,
    say("I heard you."),
    wait,
  ]);
  await fleet.turns(attempt, 1);
  const { stdout: followed, exited } = Bun.spawn([OVERSEER, "peek", "a", "--follow"], {
    cwd: fleet.repo.path,
    stdout: "pipe",
    stderr: "inherit",
  });
  const first = await fleet.ok("peek", "a");
  expect(first).toContain("someone: Please do `T1`");
  expect(first).toContain("● I look around.");
  expect(first).toContain("⚙ Bash seq 1 50\n  ✓ 1\n    2\n    3\n    4\n    … 46 more lines\n");
  expect(first).toContain("⚙ Bash echo oh no; exit 3\n  ✗ Exit code 3\n    oh no\n");
  expect(first).toContain("⚙ Edit notes.txt\n    -two\n    +2\n  ✓ ");
  expect(first).toContain("\n● It is done.\n");
  expect(await fleet.ok("peek", "a", "-n", "1")).toBe("● Waiting for a message.\n");

  await fleet.ok("mail", "send", "--to", "a", "--subject", "a wish", "--body", "please hurry");
  await fleet.said(attempt, "I heard you.");
  await fleet.ok("stop", "a");
  await exited;
  const live = await new Response(followed).text();
  expect(live.match(/a wish: please hurry[\s\S]*● I heard you\.[\s\S]*has ended/)).not.toBeNull();
  expect(live.match(/● I look around/g)).toHaveLength(1);

  const whole = await fleet.ok("peek", "a", "--full");
  expect(whole).toContain("\n    50\n");
  expect(whole).not.toContain("more lines");
  expect(whole.indexOf("● I look around.")).toBeLessThan(whole.indexOf("a wish: please hurry"));
  expect(whole.trimEnd().split("\n").at(-1)).toContain("has ended");
  expect(await fleet.ok("peek", "a", "--raw")).toContain("Z ● I look around.");
  const { parts } = JSON.parse(await fleet.ok("peek", "a", "--json")) as { parts: { kind: string; at: string }[] };
  expect(parts.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(["prompt", "words", "command", "result", "diff", "note"]),
  );
  expect(parts.map(({ at }) => at)).toEqual(parts.map(({ at }) => at).toSorted());

  // The log beside it: sentences, and what Overseer does inside only where it is asked for.
  const events = await fleet.ok("events");
  expect(events).toMatch(/^\d\d:\d\d {2}a#1 has ended\./m);
  expect(events).not.toMatch(/[a-z]\.[a-z_]+ |agent\.step|step "/);
  expect(await fleet.ok("events", "--all", "--limit", "500")).toContain('The step "worktree" of starting it is done.');
  const asked = (await fleet.ok("events", "--limit", "3")).trimEnd().split("\n");
  expect(asked).toEqual(events.trimEnd().split("\n").slice(-3));
  expect(await fleet.ok("events", "--after", "1", "--limit", "2")).toBe(
    `${events.split("\n").slice(1, 3).join("\n")}\n`,
  );

  // Another life in the same session has a conversation of its own.
  await fleet.ok("restart", "a");
  const second = await eventually(
    () => fleet.happened().findLast(({ type, attempt }) => type === "agent.leg" && attempt !== 1),
    () => "a second life",
  );
  await fleet.turns(second?.attempt ?? 0, 1);
  expect(await fleet.ok("peek", "a")).not.toContain("● I look around.");
  await fleet.ok("stop", "a");

  // However long a transcript is, only its end is looked at.
  const { session } = fleet.attempt(attempt);
  const found = await Array.fromAsync(new Bun.Glob(`**/${session}.jsonl`).scan({ cwd: fleet.state, absolute: true }));
  const [path = ""] = found;
  const text = readFileSync(path, "utf8");
  const file = openSync(path, "w");
  writeSync(file, text.slice(0, text.indexOf("\n") + 1));
  writeSync(file, `\n${text}`, LARGE);
  closeSync(file);
  const child = Bun.spawn([OVERSEER, "peek", `${agent}`, "--json"], { cwd: fleet.repo.path, stdout: "pipe" });
  await child.exited;
  expect(child.resourceUsage()?.maxRSS).toBeLessThan(400 * 1024 * 1024);

  // Where the session is gone, the runner's own log still tells most of it, and the store what was asked.
  rmSync(path);
  const left = await fleet.ok("peek", "a", "--full");
  expect(left).toMatch(/someone: You were cut off in the middle of `T1`[\s\S]*● Understood:/);
});
