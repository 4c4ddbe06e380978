/**
 * FENCE-1: who speaks. Real agents that try to be another, or to be the person, through the real program: with the
 * other's name, without their own, from a bare environment, from a session of their own, from a check. What is refused
 * changes nothing and is in the log once; what the agent is known by is in nothing that we keep or show.
 */
import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runChecks } from "#act/checks/check.ts";
import { keepReport } from "#act/updates/kept-report.ts";
import { hashOfToken } from "#sys/attempt-token.ts";
import { AgentHooks } from "../support/agent-hooks.ts";
import { bundled, OVERSEER } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { foundLanding, GOAL, landingWorld, tasks } from "../support/landing-world.ts";
import { hang, run, say, wait } from "../support/steps.ts";
import { tempRepo } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "detached" });

/** Each command, run by an agent one after the other; what it said and how it ended. */
async function tried(fleet: Fleet, name: string, commands: readonly string[]): Promise<string[]> {
  const lines = commands.map((command, index) => `( ${command} ) > out-${index} 2>&1; echo "exit $?" >> out-${index}`);
  const { attempt, worktree } = await fleet.sling(name, [run(lines.join("\n")), say("tried all"), wait]);
  await fleet.said(attempt, "tried all");
  return commands.map((_, index) => readFileSync(join(worktree, `out-${index}`), "utf8"));
}

/** Has said a word, and everything is written down that follows from it: the log comes after the pulse. */
async function atRest(fleet: Fleet, name: string) {
  const slung = await fleet.sling(name, [say("here"), wait]);
  await fleet.turns(slung.attempt, 1);
  await eventually(
    () => fleet.events(slung.attempt, "assignment.active").length === 1,
    () => `the answer of ${name} in the log`,
  );
  return slung;
}

/** As the agent of that attempt, with some of its variables set or taken away. */
async function asAgent(fleet: Fleet, attempt: number, changes: Record<string, string | undefined>, ...words: string[]) {
  const env = { ...fleet.environment(attempt), ...changes };
  const child = Bun.spawn([OVERSEER, ...words], { cwd: fleet.repo.path, env, stdin: "ignore", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, code };
}

/** Everything that a word from outside could change. */
const tables = (fleet: Fleet) => ({
  events: fleet.happened().flatMap(({ type, because }) => (type === "agent.fenced" ? [] : [`${type} ${because}`])),
  nodes: fleet.rows("select * from nodes"),
  signals: fleet.rows("select count(*) as many from signals where attempt = 1"),
  messages: fleet.rows("select count(*) as many from messages"),
});

describe("one agent under another's name", () => {
  test("FENCE-1: reports, mail, questions, agents of its own and hooks are refused, and recorded once", async () => {
    const fleet = await fleetOf();
    const victim = await atRest(fleet, "victim");
    const { attempt } = await atRest(fleet, "other");
    const before = tables(fleet);
    const posing = { OVERSEER_AGENT: "victim", OVERSEER_ATTEMPT: String(victim.attempt) };
    const words = [
      ["work", "report", "--status", "blocked", "--summary", "not mine"],
      ["ask", "Which one?"],
      ["mail", "send", "--to", "other", "--subject", "s", "--body", "b"],
      ["mail", "check", "--inject"],
      ["prime"],
      ["sling", "--prompt", "x", "--runtime", "scripted"],
      ["status"],
    ];
    const said = await Promise.all(words.map((one) => asAgent(fleet, attempt, posing, ...one)));
    expect(said.map(({ code }) => code)).toEqual(words.map(() => 4));
    expect(said[0]?.stderr).toContain("This is not attempt #1 speaking");
    const bare = await asAgent(fleet, attempt, { ...posing, OVERSEER_TOKEN: undefined }, "ask", "Which?", "--json");
    expect(JSON.parse(bare.stderr)).toMatchObject({ error: { kind: "conflict", code: "NOT_THE_AGENT" } });
    const hooks = new AgentHooks(fleet, victim.attempt);
    const answer = await hooks.call(
      hooks.command("Notification"),
      { hook_event_name: "Notification", message: "not its own" },
      { ...fleet.environment(attempt), ...posing },
    );
    expect(answer).toMatchObject({ code: 0, stdout: "" });
    expect(tables(fleet)).toEqual(before);
    expect(fleet.events(victim.attempt, "agent.fenced").map(({ because }) => because)).toEqual(["not-the-agent"]);
    expect(await fleet.ok("why", `${victim.goalId}/${victim.workNodeId}`, "--all")).toContain("Somebody else spoke");
    // Its own word counts, under its own name alone.
    expect(await asAgent(fleet, attempt, {}, "mail", "check")).toMatchObject({ code: 0 });
    expect(await asAgent(fleet, attempt, { OVERSEER_AGENT: "victim" }, "mail", "check")).toMatchObject({ code: 4 });
    expect(await asAgent(fleet, attempt, { OVERSEER_ATTEMPT: "0" }, "mail", "check")).toMatchObject({ code: 4 });
  });

  test("FENCE-1: no variable and no file that it can write makes it another, nor lets it past its runner", async () => {
    const fleet = await fleetOf();
    const victim = await atRest(fleet, "victim");
    const { attempt } = await atRest(fleet, "other");
    const [own, theirs] = [fleet.environment(attempt), fleet.environment(victim.attempt)];
    const { OVERSEER_SOCKET: door = "", OVERSEER_TOKEN: token = "" } = own;
    const before = tables(fleet);
    const posing = { OVERSEER_AGENT: "victim", OVERSEER_ATTEMPT: String(victim.attempt) };
    const report = ["work", "report", "--status", "blocked", "--blocker", "x", "--summary", "not mine", "--json"];
    // A runner of its own making proves nothing: what was to be reported is kept, and is not signed by the other.
    const fake = join(fleet.state, "fake");
    const lie = new Uint8Array([0, 0, 0, 0, 0, 4, 0, 0, 0, 1, 48]);
    const server = Bun.serve({ unix: fake, fetch: () => new Response(lie) });
    const variables: Record<string, string | undefined>[] = [
      {},
      { OVERSEER_SOCKET: theirs.OVERSEER_SOCKET },
      { OVERSEER_SOCKET: undefined },
      { OVERSEER_SOCKET: undefined, OVERSEER_TOKEN: undefined },
      { OVERSEER_SOCKET: "", OVERSEER_MARK: theirs.OVERSEER_MARK },
      { OVERSEER_SOCKET: undefined, OVERSEER_ROOT: fleet.repo.path, HOME: "/nowhere", TMPDIR: fleet.state },
      { OVERSEER_SOCKET: fake },
    ];
    const tryAll = () =>
      Promise.all(variables.map((more) => asAgent(fleet, attempt, { ...posing, ...more }, ...report)));
    expect((await tryAll()).map(({ code }) => code)).toEqual([4, 4, 4, 4, 4, 4, 7]);
    // Its variables do not make it anybody but itself either, and it has no say in where its word goes.
    const elsewhere = { HOME: "/", TMPDIR: "/", XDG_RUNTIME_DIR: "/", PATH: process.env.PATH };
    expect(await asAgent(fleet, attempt, elsewhere, "mail", "check")).toMatchObject({ code: 0 });
    expect(await asAgent(fleet, attempt, { OVERSEER_ROOT: "/" }, "mail", "check")).toMatchObject({ code: 5 });

    // Every file that says who is who, rewritten for it.
    const files = `${fleet.state}/run/attempts/${victim.attempt}`;
    const rewrite = (path: string, change: (value: Record<string, unknown>) => unknown) =>
      writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, "utf8")))));
    rewrite(`${files}/policy.json`, (policy) => ({ ...policy, tokenHash: hashOfToken(token) }));
    rewrite(`${files}/launch.json`, ({ attemptSocket: _gone, ...launch }) => ({
      ...launch,
      env: { ...own, ...posing },
    }));
    const place = readFileSync(`${fleet.state}/run/place.json`);
    rewrite(`${fleet.state}/run/place.json`, (was) => ({ ...was, sockets: fleet.state }));
    expect((await tryAll()).map(({ code }) => code)).toEqual([4, 4, 4, 4, 4, 4, 7]);

    writeFileSync(`${fleet.state}/run/place.json`, place);

    // Hooks that are commands believe the log as well, and not the file that was rewritten, or is gone.
    const hooks = new AgentHooks(fleet, victim.attempt);
    const notify = (env: Record<string, string>) =>
      hooks.call(hooks.command("Notification"), { hook_event_name: "Notification", message: "done" }, env);
    expect(await notify({ ...own, ...posing })).toMatchObject({ code: 0, stdout: "" });
    rmSync(`${files}/policy.json`);
    expect(await notify({ ...own, ...posing })).toMatchObject({ code: 0, stdout: "" });
    expect(tables(fleet).signals).toEqual(before.signals);
    await notify(theirs);
    expect(tables(fleet).signals).not.toEqual(before.signals);

    // What the runner starts, started by itself; with its own secret for the runner's.
    for (const key of [token, "", door]) {
      const job = Bun.spawn([process.execPath, join(import.meta.dir, "../../dist/overseer.js"), "__job"], {
        cwd: fleet.repo.path,
        env: { ...own, ...posing, OVERSEER_SOCKET: undefined },
        stdin: new Blob([JSON.stringify({ v: 1, key, words: report })]),
        stderr: "pipe",
      });
      expect([await job.exited, await job.stderr.text()]).toEqual([4, expect.stringContaining("NOT_THE_AGENT")]);
    }

    // A report in the other's spool, signed with its own secret.
    const kept = { attempt: victim.attempt, id: "forged", at: Date.now(), fields: { status: "blocked", summary: "x" } };
    keepReport(fleet.state, token, kept);
    const spool = `${fleet.state}/run/spool/${victim.attempt}`;
    await fleet.ok("nudge", "victim", "look");
    await eventually(
      () => readdirSync(spool).length === 0,
      () => "the end of the forged report",
    );
    const after = tables(fleet);
    expect([
      after.nodes,
      fleet.events(victim.attempt, "update.taken"),
      fleet.events(victim.attempt, "update.refused"),
    ]).toEqual([before.nodes, [], []]);
    expect(fleet.events(victim.attempt, "agent.fenced").map(({ because }) => because)).toEqual(["not-the-agent"]);
    expect(fleet.events(attempt, "update.taken")).toEqual([]);
    await server.stop(true);
  });

  test("FENCE-1: a launch file that an agent rewrote before its runner read it starts nobody", async () => {
    const fleet = await fleetOf();
    const { attempt } = await fleet.sling("liar", [say("here"), wait]);
    const path = JSON.stringify(`${fleet.state}/run/attempts/${attempt + 1}/launch.json`);
    const rewrite = `const fs = require("fs"); const path = ${path}; console.log("ready");
      for (;;) try {
        const launch = JSON.parse(fs.readFileSync(path, "utf8"));
        launch.env.OVERSEER_TOKEN = process.env.OVERSEER_TOKEN;
        fs.writeFileSync(path + ".x", JSON.stringify(launch));
        fs.renameSync(path + ".x", path);
        process.exit(0);
      } catch { Bun.sleepSync(1); }`;
    const racer = Bun.spawn([process.execPath, "-e", rewrite], { env: fleet.environment(attempt) });
    await racer.stdout.getReader().read();
    await expect(fleet.sling("victim", [say("here"), wait])).rejects.toThrow("did not start");
    expect(await racer.exited).toBe(0);
    expect(fleet.events(attempt + 1, "agent.started")).toEqual([]);
    expect(fleet.events(attempt + 1, "agent.fenced").map(({ because }) => because)).toEqual(["not-the-agent"]);
  });

  test("FENCE-1: who takes the place of another's socket learns nothing of worth, and can alter or repeat nothing", async () => {
    const fleet = await fleetOf();
    const victim = await atRest(fleet, "victim");
    const { OVERSEER_SOCKET: door = "", OVERSEER_TOKEN: token = "" } = fleet.environment(victim.attempt);
    renameSync(door, `${door}.real`);
    const heard: { body: string; headers: Record<string, string> }[] = [];
    const server = Bun.serve({
      unix: door,
      async fetch(request) {
        const told = { body: await request.text(), headers: Object.fromEntries(request.headers) };
        heard.push(told);
        const pass = (body: string) =>
          fetch(`http://x/verb/${victim.attempt}`, {
            unix: `${door}.real`,
            method: "POST",
            body,
            headers: told.headers,
          });
        const altered = await pass(told.body.replace('"half"', '"all"'));
        const once = await (await pass(told.body)).bytes();
        const twice = await pass(told.body);
        heard.push({ body: `${altered.status} ${twice.status}`, headers: {} });
        return new Response(once);
      },
    });
    const words = ["work", "report", "--status", "in_progress", "--summary", "half"];
    expect(await asAgent(fleet, victim.attempt, {}, ...words)).toMatchObject({ code: 0 });
    await server.stop(true);
    renameSync(`${door}.real`, door);
    expect(JSON.stringify(heard)).not.toContain(token);
    expect(heard[1]?.body).toBe("403 403");
    expect(fleet.events(victim.attempt, "update.taken")).toHaveLength(1);
    expect(
      fleet.rows<{ doc: string }>("select doc from crystallizations").map(({ doc }) => JSON.parse(doc).summary),
    ).toEqual(["half"]);
  });

  test("FENCE-1: an agent that an older version started continues as it was, with a secret and without", async () => {
    const fleet = await fleetOf();
    const { attempt } = await fleet.sling("old", [say("here"), wait]);
    await fleet.turns(attempt, 1);
    // As such a version left it: no socket was told, and the log knows its runner by no seal.
    const db = new Database(`${fleet.state}/overseer.db`);
    db.run("pragma busy_timeout = 5000");
    db.run("update attempts set doc = json_remove(doc, '$.seals') where attempt = ?1", [attempt]);
    db.close();
    const none = { OVERSEER_SOCKET: undefined };
    const report = ["work", "report", "--status", "in_progress", "--summary", "half of it"];
    expect(await asAgent(fleet, attempt, none, ...report)).toMatchObject({ code: 0 });
    const path = `${fleet.state}/run/attempts/${attempt}/policy.json`;
    const { tokenHash: _none, ...older } = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify(older));
    const without = { ...none, OVERSEER_TOKEN: undefined };
    expect(await asAgent(fleet, attempt, without, ...report.with(-1, "all of it"))).toMatchObject({ code: 0 });
    expect(fleet.events(attempt, "update.taken")).toHaveLength(2);
  });
});

describe("an agent that leaves its attempt out", () => {
  test("FENCE-1: is not the person, with a bare environment and in a session of its own neither", async () => {
    const fleet = await fleetOf();
    await fleet.ok("goal", "create", "Of the person");
    const bare = `env -i PATH="$PATH" HOME="$HOME" OVERSEER_TEST=1 TMPDIR="$TMPDIR"`;
    const command = "overseer goal create Stolen";
    const said = await tried(fleet, "thief", [
      `env -u OVERSEER_ATTEMPT ${command}`,
      `env -u OVERSEER_ATTEMPT -u OVERSEER_AGENT -u OVERSEER_MARK ${command}`,
      `env OVERSEER_ATTEMPT= overseer mail send --to person --subject s --body b`,
      `env -u OVERSEER_ATTEMPT OVERSEER_AGENT=orchestrator overseer mail check`,
      `${bare} ${command}`,
      `${bare} setsid --wait ${command}`,
      // Its own shell is gone: whoever takes over its children is its runner.
      `${bare} setsid --fork sh -c 'sleep 0.3; ${command} > detached 2>&1; echo "exit $?" >> detached'; for i in $(seq 200); do grep -q exit detached 2>/dev/null && break; sleep 0.05; done; cat detached; exit 4`,
      `env -u OVERSEER_ATTEMPT overseer status`,
      // In another repository it is a person, or nobody; what is meant for that one is never done in its own.
      `git init -q other && cd other && env -u OVERSEER_ROOT overseer status`,
      `cd other && env -u OVERSEER_ROOT overseer mail send --to human --subject s --body b`,
      `overseer mail send --root other --to human --subject s --body b`,
      `cd other && git commit -q --allow-empty -m one && env -u OVERSEER_ROOT -u OVERSEER_ATTEMPT overseer init && env -u OVERSEER_ROOT -u OVERSEER_ATTEMPT overseer goal create There`,
    ]);
    expect(said.slice(0, 7).map((text) => [text.includes("is not a person"), /exit (\d)\n*$/.exec(text)?.[1]])).toEqual(
      said.slice(0, 7).map(() => [true, "4"]),
    );
    expect(said[7]).toContain("exit 0");
    expect(
      said.slice(8, 11).map((text) => [text.includes("works for another repository"), text.includes("exit 4")]),
    ).toEqual(said.slice(8, 11).map(() => [true, true]));
    expect(said[11]).toContain("exit 0");
    expect(fleet.rows("select id from messages where kind = 'mail'")).toEqual([]);
    expect(fleet.all("goal.created")).toHaveLength(2);
    expect(fleet.events(1, "agent.fenced").map(({ because }) => because)).toEqual(["not-the-person"]);
  });

  test.each([
    ["carries its mark", false],
    ["was started by an older version", true],
  ])("FENCE-1: is not the person through the tmux server of agents, which %s", async (_, older) => {
    const fleet = await fleetOf({ terminal: "tmux" });
    if (older) await fleet.tmux("-f", "/dev/null", "new-session", "-d", "-s", "older", "exec sleep 600");
    const { attempt } = await fleet.sling("thief", [say("here"), wait]);
    await fleet.turns(attempt, 1);
    const place = `${fleet.state}/run/place.json`;
    if (!older) rmSync(place);
    const { PATH, HOME, TMPDIR } = process.env;
    const env = `env -i PATH='${PATH}' HOME='${HOME}' TMPDIR='${TMPDIR ?? "/tmp"}' OVERSEER_TEST=1`;
    const out = join(fleet.state, "stolen");
    const command = `cd '${fleet.repo.path}' && ${env} '${OVERSEER}' goal create Stolen > '${out}' 2>&1; echo "exit $?" >> '${out}'`;
    await fleet.tmux("new-session", "-d", "-s", "stolen", command);
    await eventually(
      () => existsSync(out) && readFileSync(out, "utf8").includes("exit "),
      () => "what the session said",
    );
    expect(readFileSync(out, "utf8")).toMatch(/is not a person[\s\S]*exit 4/);
    expect(fleet.all("goal.created")).toHaveLength(1);
    expect(await fleet.tmux("show-environment", "-g")).not.toContain("OVERSEER_TERMINALS");
    // Agents below it speak for themselves as before.
    expect(await asAgent(fleet, attempt, {}, "mail", "check")).toMatchObject({ code: 0 });
  });

  test("FENCE-1: what a check starts is not the person either", async () => {
    const repo = tempRepo();
    await foundLanding(repo.path, tasks(1));
    const checks = { self: { command: `env -u OVERSEER_CHECK ${OVERSEER} goal create Stolen`, timeout: "20s" } };
    const world = await landingWorld(repo.path, { config: { checks } });
    const attempt = await world.attempt("T1");
    world.commit(attempt, { "b.txt": "b\n" });
    await world.report(attempt);
    await runChecks(world.parts, { goalId: GOAL, nodeId: "T1" });
    const log = await world.store.log({ after: 0, limit: 1000 });
    const finished = log.find(({ type }) => type === "check.finished");
    expect(finished?.data).toMatchObject({
      exit: 4,
      excerpt: expect.stringContaining("What a check starts is not a person"),
    });
    expect(log.filter(({ type }) => type === "goal.created")).toHaveLength(1);
    await world.close();
  });
});

test("FENCE-1, STORE-7: what an agent is known by is in nothing that is kept, shown or listed", async () => {
  const fleet = await fleetOf();
  const { attempt } = await fleet.sling("teller", [
    run('echo "it is $OVERSEER_TOKEN"; env; overseer mail send --to person --subject mine --body "$OVERSEER_TOKEN"'),
    run('overseer work report --status in_progress --summary "I am $OVERSEER_TOKEN"; echo "$OVERSEER_TOKEN" >&2'),
    say("told all"),
    hang,
  ]);
  const token = fleet.environment(attempt).OVERSEER_TOKEN ?? "";
  expect(token).toMatch(/^ovtk_[0-9a-f]{48}$/);
  await fleet.said(attempt, "told all");
  expect(fleet.events(attempt, "update.taken")).toHaveLength(1);
  const shown = await Promise.all(
    [
      ...[
        ["status", "--json"],
        ["agents", "show", "teller", "--json"],
        ["events", "--json", "--limit", "1000"],
      ],
      ...[["doctor"], ["store", "export"], ["metrics"], ["peek", "teller"], ["mail", "list", "--json"]],
    ].map((words) => fleet.run(...words)),
  );
  for (const { stdout, stderr } of shown) expect(`${stdout}${stderr}`).not.toContain(token);
  expect(fleet.processes.list().filter(({ command }) => command.includes(token))).toEqual([]);
  const holders = () =>
    readdirSync(fleet.state, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(token))
      .map((entry) => join(entry.parentPath, entry.name));
  // While it lives its runner may have to read it, for this user only; the scripted CLI keeps what its tools print.
  const own = (path: string) => !path.includes("/scripted/");
  expect(holders().filter(own)).toEqual([`${fleet.state}/run/attempts/${attempt}/launch.json`]);
  await fleet.ok("stop", "teller");
  expect(holders().filter(own)).toEqual([]);
});
