/**
 * Our tmux server is killed, its socket removed, a session closed, while agents work in it: real tmux, real runners. Nobody is
 * started again and nothing is lost; within seconds everybody can be looked at again.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Step } from "#runtimes/scripted/language.ts";
import type { TerminalHandle } from "#terminals/terminal.ts";
import { bundled } from "../support/cli.ts";
import type { Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "tmux" });

const AGENTS = ["a", "b", "c"];
const NAMES = ["ov-1", "ov-2", "ov-3"];

/** At work until the file is there; then it says so, and commits. */
const untilFile = (go: string, name: string): Step[] => [
  { kind: "say", text: `${name} is ready` },
  { kind: "run", command: `while [ ! -e '${go}' ]; do sleep 0.1; done; echo ${name} saw it` },
  { kind: "edit", file: `${name}.txt`, content: `${name}\n` },
  { kind: "commit", message: `Add ${name}` },
  { kind: "say", text: `${name} went on` },
  { kind: "wait" },
];

async function atWork(): Promise<{
  fleet: Fleet;
  go: string;
  runners: () => unknown[];
  sessions: () => Promise<string[]>;
}> {
  const fleet = await fleetOf();
  const go = `${fleet.repo.path}/../go-${Bun.randomUUIDv7()}`;
  for (const name of AGENTS) await fleet.sling(name, untilFile(go, name));
  for (const [at, name] of AGENTS.entries()) await fleet.said(at + 1, `${name} is ready`);
  await fleet.ok("up");
  const runners = () => AGENTS.map((_, at) => [fleet.attempt(at + 1).runner, fleet.attempt(at + 1).process]);
  const sessions = async () =>
    (await fleet.tmux("list-sessions", "-F", "#{session_name}")).split("\n").filter(Boolean).sort();
  return { fleet, go, runners, sessions };
}

async function soon(isSo: () => Promise<boolean> | boolean, what: string): Promise<void> {
  const until = performance.now() + 60_000;
  while (!(await isSo())) {
    if (performance.now() > until) throw new Error(`Waited in vain for ${what}`);
    await Bun.sleep(100);
  }
}

/** All went on in their first life, and can be looked at. */
async function provenWhole(
  fleet: Fleet,
  go: string,
  runnersBefore: unknown[],
  runners: () => unknown[],
): Promise<void> {
  expect(runners()).toEqual(runnersBefore);
  writeFileSync(go, "");
  for (const [at, name] of AGENTS.entries()) {
    await fleet.said(at + 1, `${name} went on`);
    const { terminal, worktree } = fleet.attempt(at + 1);
    expect(readFileSync(`${worktree}/${name}.txt`, "utf8")).toBe(`${name}\n`);
    const { paneId } = terminal as TerminalHandle;
    await soon(
      async () => (await fleet.tmux("capture-pane", "-p", "-t", paneId ?? "")).includes(`${name} went on`),
      "its screen",
    );
    expect(await fleet.ok("peek", name)).toContain(`${name} went on`);
  }
  expect(fleet.rows("select attempt from attempts where status <> 'ended'")).toHaveLength(AGENTS.length);
  expect(fleet.all("agent.ended")).toEqual([]);
}

test.each(["kill -9 of the server", "tmux kill-server"])(
  "FAIL-9: after %s every agent works on and is given a terminal again, once, and the log says so",
  async (how) => {
    const { fleet, go, runners, sessions } = await atWork();
    expect(await sessions()).toEqual(NAMES);
    const before = runners();
    if (how === "tmux kill-server") await fleet.tmux("kill-server");
    else fleet.processes.signal(await fleet.tmuxServer(), "SIGKILL");
    await soon(() => fleet.all("agent.terminal_regained").length === AGENTS.length, "a terminal for everybody");
    expect(await sessions()).toEqual(NAMES);
    await provenWhole(fleet, go, before, runners);
    expect(fleet.all("agent.terminal_regained")).toHaveLength(AGENTS.length);
    const { goalId, workNodeId } = fleet.attempt(1);
    expect(await fleet.ok("why", `${goalId}/${workNodeId}`, "--all")).toContain("lost its terminal and kept working");
    // The terminal goes with its agent.
    await fleet.ok("stop", "a");
    await soon(async () => (await sessions()).join() === "ov-2,ov-3", "the end of its terminal");
  },
);

test("FAIL-9: a server whose socket was removed is reached again; nobody is given another terminal", async () => {
  const { fleet, go, runners, sessions } = await atWork();
  const before = runners();
  const server = await fleet.tmuxServer();
  const { socket = "" } = fleet.attempt(1).terminal as TerminalHandle;
  rmSync(socket);
  await soon(() => existsSync(socket), "its socket");
  expect(await fleet.tmuxServer()).toEqual(server);
  expect(await sessions()).toEqual(NAMES);
  await provenWhole(fleet, go, before, runners);
  expect(fleet.all("agent.terminal_regained")).toEqual([]);
});

test("FAIL-9: a new agent does not start a second server beside one that lost its socket", async () => {
  const fleet = await fleetOf({});
  const { attempt } = await fleet.sling("a", [{ kind: "say", text: "ready" }, { kind: "wait" }]);
  await fleet.said(attempt, "ready");
  const server = await fleet.tmuxServer();
  rmSync((fleet.attempt(attempt).terminal as TerminalHandle).socket ?? "");
  await fleet.sling("b", [{ kind: "say", text: "ready" }, { kind: "wait" }]);
  expect(await fleet.tmuxServer()).toEqual(server);
  const names = await fleet.tmux("list-sessions", "-F", "#{session_name}");
  expect(names.trim().split("\n")).toEqual(["ov-1", "ov-2"]);
});

test("FAIL-9: a terminal that somebody closes is given again, to that agent alone", async () => {
  const { fleet, go, runners, sessions } = await atWork();
  const before = runners();
  await fleet.tmux("kill-session", "-t", "=ov-2:");
  await soon(() => fleet.all("agent.terminal_regained").length === 1, "another terminal");
  expect(await sessions()).toEqual(NAMES);
  await provenWhole(fleet, go, before, runners);
  expect(fleet.all("agent.terminal_regained").map(({ agent }) => agent)).toEqual(["b"]);
});
