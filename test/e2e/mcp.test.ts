/**
 * MCP-1: the server as the protocol's own client sees it, for a real agent, one that may start others, and a person's
 * session; every tool is called. Who is none of them is refused, by the same door as every command (FENCE-1, POL-1).
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import type { Message } from "#domain/model/message.ts";
import { bundled, OVERSEER } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { gitIn } from "../support/git-in.ts";
import { closedClients } from "../support/mcp-client.ts";
import { run, say, wait } from "../support/steps.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "detached" });
const open = closedClients();
const person = () => ({ ...process.env }) as Record<string, string>;

async function atRest(fleet: Fleet, name: string, ...flags: string[]) {
  const slung = await fleet.sling(name, [say("here"), wait, wait, wait], ...flags);
  await fleet.turns(slung.attempt, 1);
  return slung;
}
const mail = (fleet: Fleet) =>
  fleet
    .rows<{ doc: string }>("select doc from messages where kind = 'mail' order by rowid")
    .map(({ doc }) => JSON.parse(doc) as Message);

test("MCP-1, FENCE-1: an agent lists and calls its tools; no person's tool; and nothing once its attempt is over", async () => {
  const fleet = await fleetOf();
  const { attempt, worktree } = await atRest(fleet, "clerk");
  const tools = await open(worktree, fleet.environment(attempt));
  expect(await tools.names()).toEqual(["report", "ask", "mail", "wait", "learn", "status", "read"]);

  const report = {
    ...{ status: "in_progress", summary: "Half of it", currentState: "parsed", nextActions: ["the rest"] },
    ...{ decisions: ["ISO because it sorts"], openQuestions: ["zones?"], evidence: { testsRun: ["unit: 3 pass"] } },
  };
  expect(await tools.call("report", report)).toMatchObject({
    refused: false,
    text: expect.stringContaining("Reported"),
  });
  const [kept] = fleet.all("crystallization.recorded").map(({ data }) => data);
  expect(kept).toMatchObject({
    summary: "Half of it",
    decisions: [{ decision: "ISO", rationale: "it sorts" }],
    evidence: { testsRun: [{ name: "unit", result: "3 pass" }] },
  });
  const long = `--json\n${"word ".repeat(3_000)}`;
  expect(await tools.call("mail", { do: "send", to: "clerk", subject: "--to", body: long })).toMatchObject({
    refused: false,
  });
  const [own] = mail(fleet);
  expect([own?.subject, own?.body, own?.from]).toEqual(["--to", long, "clerk"]);
  const read = await tools.call("mail", { do: "read", id: own?.messageId ?? "" });
  const more = /read \{"more":"([^"]+)"\}$/.exec(read.text)?.[1] ?? "";
  expect(Buffer.byteLength(read.text)).toBeLessThan(6_200);
  expect((await tools.call("read", { more })).text).toMatch(/^\w+ word word/);
  expect((await tools.call("read", { more: "r99@1" })).refused).toBe(true);
  expect(await tools.call("mail", { do: "check" })).toMatchObject({ refused: false });
  expect((await tools.call("status")).text).toContain("clerk");
  expect((await tools.call("status", { about: "clerk" })).text).toContain("is active");
  const known = { text: "The tests need the database.", tags: ["backend"], fails: "npm test", fix: "make db" };
  expect(await tools.call("learn", known)).toMatchObject({ refused: false });
  expect((await tools.call("learn", { find: "database" })).text).toContain("The tests need the database.");
  expect((await tools.call("learn", {})).refused).toBe(true);
  expect((await tools.call("wait", {})).text).toContain("End your turn now");
  expect(
    (await tools.call("ask", { question: "Which calendar?", options: ["ISO", "Julian"], goOn: true })).text,
  ).toContain("Asked");

  for (const name of ["accept", "sling", "answer", "stop", "do", "up", "nuke", "__proto__"]) {
    expect(await tools.call(name, { agent: "clerk", what: "clerk" })).toEqual({
      refused: true,
      text: `There is no tool "${name}" for you.`,
    });
  }
  expect(await tools.call("ask", { question: "x\0y" })).toMatchObject({ refused: true });
  expect(await tools.call("ask", { question: "x".repeat(100_001) })).toMatchObject({ refused: true });
  expect(await tools.call("status", { since: "1d" })).toMatchObject({ refused: true });

  // Its server ends with it; whoever keeps its environment is told what it is.
  const env = fleet.environment(attempt);
  const said = fleet.happened().length;
  await fleet.ok("stop", "clerk");
  const late = await open(fleet.repo.path, env);
  expect(await late.call("report", { summary: "from the grave" })).toMatchObject({
    refused: true,
    text: expect.stringContaining("has ended"),
  });
  expect((await late.call("mail", { do: "send", to: "human", subject: "s", body: "b" })).refused).toBe(true);
  await late.close();
  expect(fleet.all("crystallization.recorded")).toHaveLength(1);
  expect(mail(fleet).filter(({ subject }) => subject === "s")).toEqual([]);
  const after = fleet.happened().slice(said);
  expect(after.map(({ type }) => type)).toContain("agent.fenced");
});

test("MCP-1: an agent whose role may start others is offered sling, and its role still has the last word", async () => {
  const fleet = await fleetOf();
  const lead = await atRest(fleet, "boss", "--capability", "lead");
  const clerk = await atRest(fleet, "clerk");
  const tools = await open(lead.worktree, fleet.environment(lead.attempt), "--spawns");
  expect(await tools.names()).toContain("sling");
  const slung = await tools.call("sling", {
    prompt: "Say hello",
    name: "worker",
    runtime: "scripted",
    spec: "Only that.",
  });
  expect(slung.text).toContain("worker#");
  expect(fleet.attempt(3)).toMatchObject({ agent: "worker", parent: { agent: "boss" } });
  const forged = await open(clerk.worktree, fleet.environment(clerk.attempt), "--spawns");
  expect(await forged.call("sling", { prompt: "Say hello" })).toMatchObject({
    refused: true,
    text: expect.stringContaining("does not sling agents"),
  });
  expect(fleet.rows("select attempt from attempts")).toHaveLength(3);
});

test("MCP-1, ORCH-1: a person's session plans, starts, answers, reviews, lands and stops by tools", async () => {
  const fleet = await fleetOf({ more: "planner: {runtime: scripted}\n" });
  writeFileSync(`${fleet.repo.path}/one.txt`, "one\n");
  const tools = await open(fleet.repo.path, person());
  expect(await tools.names()).toEqual([
    ...["mail", "learn", "sling", "status", "do", "plan", "review", "accept", "reject", "answer", "nudge", "stop"],
    ...["report", "up", "read"],
  ]);
  const commit = "echo two > two.txt && git add two.txt && git commit -qm two";
  const done = 'overseer work report --status done --summary "two is there" --commit "$(git rev-parse HEAD)"';
  const { renderScript } = await import("#runtimes/scripted/language.ts");
  const steps = [run(`${commit} && ${done}`), say("done"), wait, wait];
  const slung = await tools.call("sling", { prompt: `Add two ${renderScript(steps)}`, name: "maker" });
  expect(slung).toMatchObject({ refused: false, text: expect.stringContaining("maker#1") });
  const asker = [run('overseer ask "Which?" --option A --option B'), say("asked"), wait];
  await tools.call("sling", { prompt: `Ask ${renderScript(asker)}`, name: "asker" });
  await fleet.said(2, "asked");
  expect((await tools.call("answer", { question: "1", answer: "2" })).refused).toBe(false);
  expect(fleet.all("question.answered").map(({ data }) => data.answer)).toEqual(["B"]);
  expect((await tools.call("nudge", { agent: "asker", text: "Soon, please." })).refused).toBe(false);
  expect((await tools.call("stop", { agent: "asker", reason: "enough" })).refused).toBe(false);
  await eventually(
    () => fleet.all("work.claimed").length === 1,
    () => "the claim of maker",
  );
  expect((await tools.call("review", { what: "maker", stat: true })).text).toContain("two.txt");
  expect((await tools.call("reject", { what: "asker", reason: "no" })).refused).toBe(true);
  const landed = await tools.call("accept", { what: "maker" });
  expect(landed).toMatchObject({ refused: false });
  expect(gitIn(fleet.repo.path, "show", "main:two.txt")).toBe("two");
  expect((await tools.call("report", { since: "1d" })).text).toContain("Landed");
  // No model is there to be asked; what it says comes back as it is.
  expect((await tools.call("do", { sentence: "Something", budget: 1 })).refused).toBe(true);
  expect((await tools.call("plan", { goal: "goal_none", do: "show" })).refused).toBe(true);
  // It speaks as the orchestrator, whose mail it is.
  await fleet.ok("mail", "send", "--to", "orchestrator", "--subject", "For the lead", "--body", "b");
  expect((await tools.call("mail", { do: "check" })).text).toContain("For the lead");
  expect((await tools.call("up")).refused).toBe(false);
  expect((await tools.call("status")).text).toContain("Daemon: running");
});

test("FENCE-1: an agent that takes its attempt off is not served as a person", async () => {
  const fleet = await fleetOf();
  const hello = JSON.stringify({
    ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  });
  const { attempt, worktree } = await fleet.sling("thief", [
    run(`echo '${hello}' | env -u OVERSEER_ATTEMPT -u OVERSEER_MARK overseer mcp > out 2>&1; echo "exit $?" >> out`),
    say("tried"),
    wait,
  ]);
  await fleet.said(attempt, "tried");
  const out = await Bun.file(`${worktree}/out`).text();
  expect(out).toContain("is not a person");
  expect(out).toMatch(/exit [1-9]\n$/);
  expect(out).not.toContain("serverInfo");
});

test("MCP-1: where Overseer is not set up it offers nothing, and it ends with its client", async () => {
  const tools = await open(tempDir("bare-"), person());
  expect(await tools.names()).toEqual([]);
  expect(tools.instructions).toContain("not set up");
  expect((await tools.call("status")).refused).toBe(true);
  const { systemProcesses } = await import("#sys/processes.ts");
  const server = systemProcesses().identify(tools.pid);
  await tools.close();
  await eventually(
    () => server === undefined || !systemProcesses().alive(server),
    () => "the end of the server",
  );
});

test("MCP-1: a word that it does not know is refused", async () => {
  for (const word of ["--bogus", "extra"]) {
    const ended = Bun.spawnSync([OVERSEER, "mcp", word], { cwd: tempDir("bare-"), stdin: "ignore" });
    expect([ended.exitCode, ended.stdout.toString()]).toEqual([2, ""]);
    expect(ended.stderr.toString()).toContain(word);
  }
});

test("ORCH-1: once leading is off, an open session looks and changes nothing", async () => {
  const fleet = await fleetOf();
  await fleet.ok("lead", "on");
  const tools = await open(fleet.repo.path, person(), "--lead");
  expect(await tools.call("learn", { text: "Before it is off.", tags: ["a"] })).toMatchObject({ refused: false });
  await fleet.ok("lead", "off");
  expect((await tools.call("status")).refused).toBe(false);
  expect(await tools.call("learn", { text: "After it is off.", tags: ["a"] })).toMatchObject({
    refused: true,
    text: expect.stringContaining("'overseer lead off' was said"),
  });
  expect(fleet.all("learning.found")).toHaveLength(1);
});

test("ORCH-1: what other CLIs need is printed to be pasted, and a hook that is told nonsense says nothing", async () => {
  const fleet = await fleetOf();
  const { text } = JSON.parse(await fleet.ok("lead", "snippet", "--json")) as { text: string };
  const toml = /\[mcp_servers[^#]*/.exec(text)?.[0] ?? "";
  const json = text.slice(text.indexOf("\n{"));
  const { mcp_servers: servers } = Bun.TOML.parse(toml) as { mcp_servers: { overseer: { command: string } } };
  expect(JSON.parse(json)).toEqual({ mcpServers: { overseer: { command: OVERSEER, args: ["mcp"] } } });
  expect(servers.overseer.command).toBe(OVERSEER);
  await fleet.ok("lead", "on");
  const before = fleet.happened().length;
  for (const told of ["", "[]", "null", "{", '{"session_id": 7}', '{"session_id": "a:b c"}']) {
    const hook = Bun.spawnSync([OVERSEER, "lead", "hook", "UserPromptSubmit"], {
      cwd: fleet.repo.path,
      stdin: Buffer.from(told),
    });
    expect([hook.exitCode, hook.stdout.toString()]).toEqual([0, ""]);
  }
  expect(fleet.happened()).toHaveLength(before);
});
