/** `overseer watch`, the daemon without dispatch, with real agents and processes: what it does, and what it leaves to `up`. */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { bundled, OVERSEER } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { tail } from "../support/nine-tasks.ts";
import { say } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let fleet: Fleet;
afterEach(() => fleet.end());

const seen = <T>(look: () => T | undefined | false, what: string) => eventually(look, () => `${what}\n${tail(fleet)}`);

const QUICK = `
landing: {mode: auto}
recovery:
  silentAfter: 1m
  nextStepAfter: 100ms
  judgedFromAge: 100ms
  deadAfter: 1s
  backoff: {base: 100ms, max: 200ms}
`;

test("VALID-7, WATCH-1: watch finds a zombie and ends it, starts nobody in its place, and leaves the others at work", async () => {
  // tmux lets its own children continue whom somebody has stopped.
  fleet = await Fleet.make({ more: QUICK, terminal: "detached" });
  const zombie = await fleet.sling("zombie", [{ kind: "run", command: "sleep 300" }]);
  const other = await fleet.sling("other", [say("I am here.")]);
  await fleet.turns(other.attempt, 1);
  await seen(() => fleet.signals(zombie.attempt).some(({ kind }) => kind === "tool.started"), "its command");

  const watch = Bun.spawn([OVERSEER, "watch", "--interval", "300ms"], {
    cwd: fleet.repo.path,
    stdout: "pipe",
    stderr: "pipe",
  });
  await seen(() => fleet.daemon()?.pid === watch.pid && fleet.daemon(), "the watching daemon");
  expect(fleet.daemon()?.watching).toEqual({ everyMs: 300 });
  const second = await fleet.run("up");
  expect([second.code, second.stderr]).toEqual([4, expect.stringContaining("watching only")]);

  // Its CLI is killed under a runner that hangs and cannot say so.
  const cli = await fleet.process(zombie.attempt);
  await fleet.hang(fleet.runner(zombie.attempt));
  await fleet.kill(cli);
  const ended = await seen(() => fleet.events(zombie.attempt, "agent.ended")[0], "the end of the zombie");
  expect(ended.data.cause).toBe("died");
  const decided = fleet.events(zombie.attempt, "action.decided").filter(({ data }) => data.kind === "stop");
  expect(decided.map(({ because }) => because)).toEqual(["silent-and-a-sign-of-death"]);
  await seen(() => fleet.marked(zombie.attempt).length === 0, "its last process");

  await seen(() => fleet.all("dispatch.deferred")[0], "that its work waits");
  const status = await fleet.ok("status");
  expect(status).toContain("WATCHING ONLY");
  expect(status).toContain("the daemon only watches");
  expect(status).toContain("Switched off: dispatch");
  expect(fleet.all("agent.slung")).toHaveLength(2);
  expect(fleet.attempt(other.attempt).status).toBe("running");

  const another = await fleet.run("watch");
  expect([another.code, another.stderr]).toEqual([4, expect.not.stringContaining("It only watches")]);

  watch.kill("SIGINT");
  expect(await watch.exited).toBe(0);
  const said = await new Response(watch.stderr).text();
  expect(said).toContain(`It is pid ${watch.pid}; Ctrl-C ends it`);
  expect(said).toContain("It watches no more");
  expect(fleet.daemon()).toBeUndefined();
  expect(fleet.attempt(other.attempt).status).toBe("running");
});

test("WATCH-1: in the background it adopts, refuses nothing that a person does, and what it left lands after up", async () => {
  fleet = await Fleet.make({ more: QUICK });
  const done = await fleet.sling("ann", [
    { kind: "edit", file: "a.txt", content: "a\n" },
    { kind: "commit", message: "Add a" },
    { kind: "report", status: "done", summary: "a is there" },
  ]);
  expect(await fleet.ok("watch", "--background", "--every", "300ms")).toContain("Watching: pid");
  await seen(() => fleet.all("work.claimed")[0], "the report of done");
  const ticks = fleet.heartbeat()?.ticks ?? 0;
  await seen(() => (fleet.heartbeat()?.ticks ?? 0) >= ticks + 3, "a few looks");
  expect(fleet.all("check.started")).toEqual([]);
  expect(fleet.all("landing.landed")).toEqual([]);
  await fleet.ok("down");
  await fleet.ok("up");
  await seen(() => fleet.all("landing.landed").some(({ attempt }) => attempt === done.attempt), "its landing");
});
