/**
 * Agents' commands with their real runner frozen, killed in the middle and buried: nothing is done behind anybody's back,
 * nothing is written past the runner, and a report is never lost nor counted twice.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { keepReport } from "#act/updates/kept-report.ts";
import { makeToken } from "#sys/attempt-token.ts";
import { bundled, OVERSEER } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { run, say, wait } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "detached" });

function start(fleet: Fleet, env: Record<string, string>, ...words: string[]) {
  return Bun.spawn([OVERSEER, ...words], { cwd: fleet.repo.path, env, stdin: "ignore", stderr: "pipe" });
}

async function speak(fleet: Fleet, env: Record<string, string>, ...words: string[]) {
  const child = start(fleet, env, ...words);
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, stdout, stderr };
}

const summaries = (fleet: Fleet) =>
  fleet
    .rows<{ data: string }>("select data from events where type = 'crystallization.recorded' order by seq")
    .map(({ data }) => (JSON.parse(data) as { summary: string }).summary);

test("RPC-2: an agent in a directory of its own gets the answer, the words and the exit code of its command", async () => {
  const fleet = await fleetOf();
  const { attempt, worktree } = await fleet.sling("clerk", [
    run("mkdir deep; cd deep; printf 'of the clerk' > note"),
    run("cd deep && overseer mail send --to human --subject s --file note --json > ../sent 2> ../remarks"),
    run(
      "overseer work show nothing --json > shown 2> error; echo $? > code; overseer nuke --all 2> refused; echo $? >> code",
    ),
    run(
      'top=$PWD; mkdir gone; cd gone; rmdir ../gone; overseer status 2> "$top/lost"; echo $? >> "$top/code"; overseer work report --summary "from nowhere"; overseer help > "$top/menu"',
    ),
    run('echo \'{"summary": "by pipe"}\' | overseer work report --json-file - | head -n 1 > reported'),
    say("done with it"),
    wait,
  ]);
  await fleet.said(attempt, "done with it");
  const read = (name: string) => Bun.file(`${worktree}/${name}`).text();
  expect(JSON.parse(await read("sent"))).toMatchObject({ to: expect.anything() });
  expect([await read("code"), await read("shown")]).toEqual(["3\n4\n5\n", ""]);
  expect(await read("lost")).toMatch(/overseer: The directory this was run in no longer exists\.\n {2}hint: .*\n$/);
  expect(await read("menu")).toContain("Ask a person");
  expect(await read("menu")).not.toContain("nuke");
  expect(JSON.parse(await read("error"))).toMatchObject({ error: { kind: "not-found" } });
  expect(await read("refused")).toContain("Agents may not run 'overseer nuke'");
  expect(await read("reported")).toContain("Reported");
  expect(summaries(fleet)).toEqual(["from nowhere", "by pipe"]);
});

test("FENCE-1: nothing that lies in an agent's directory runs in what its runner starts, and what it pipes is read", async () => {
  const fleet = await fleetOf();
  const { attempt, worktree } = await fleet.sling("clerk", [
    run("printf 'preload = [\"./preload.ts\"]' > bunfig.toml; echo NO_COLOR= > .env; echo OVERSEER_ROOT=/ >> .env"),
    run('echo \'require("node:fs").appendFileSync("ran", Bun.argv.join(" "))\' > preload.ts'),
    run("overseer mail check > checked; overseer work report --summary one > /dev/null"),
    run("echo piped | overseer mail send --to human --subject s --file /dev/stdin"),
    run("echo linked | (ln -s /dev/stdin input; overseer mail send --to human --subject s --file input)"),
    run("bash -c 'overseer mail send --to human --subject s --file <(echo substituted)'"),
    say("done with it"),
    wait,
  ]);
  await fleet.said(attempt, "done with it");
  expect(readdirSync(worktree)).not.toContain("ran");
  expect(summaries(fleet)).toEqual(["one"]);
  const bodies = fleet.rows<{ doc: string }>("select doc from messages where kind = 'mail' order by rowid");
  expect(bodies.map(({ doc }) => (JSON.parse(doc) as { body: string }).body)).toEqual(["piped\n", "substituted\n"]);
});

test("RPC-2: frozen, its runner does nothing behind its back; what was reported meanwhile is taken in order, once", async () => {
  const fleet = await fleetOf();
  const patient = await fleet.sling("patient", [say("here"), wait]);
  await fleet.turns(patient.attempt, 1);
  const began = performance.now();
  const follows = start(fleet, fleet.environment(patient.attempt), "events", "--follow", "--type", "goal.paused");
  const { attempt } = await fleet.sling("clerk", [say("here"), wait]);
  await fleet.turns(attempt, 1);
  const env = fleet.environment(attempt);
  const runner = fleet.runner(attempt);
  await fleet.hang(runner);
  const [sent, looked, reported, wrong] = await Promise.all([
    speak(fleet, env, "mail", "send", "--to", "human", "--subject", "s", "--body", "b"),
    speak(fleet, env, "mail", "check", "--json"),
    speak(fleet, env, "work", "report", "--status", "in_progress", "--summary", "first"),
    speak(fleet, env, "work", "report", "--status", "nonsense"),
  ]);
  expect([sent.code, looked.code, reported.code, wrong.code]).toEqual([5, 5, 7, 2]);
  expect(sent.stderr).toContain("nothing was done");
  expect(JSON.parse(looked.stderr)).toMatchObject({ error: { kind: "environment", code: "RUNNER_AWAY" } });
  expect(reported.stderr).toContain("your report is kept");
  expect(summaries(fleet)).toEqual([]);
  const spool = `${fleet.state}/run/spool/${attempt}`;
  const [name = ""] = readdirSync(spool);
  const kept = readFileSync(`${spool}/${name}`);
  fleet.processes.signal(runner, "SIGCONT");
  // The next word comes after what was kept.
  expect(await speak(fleet, env, "work", "report", "--summary", "second")).toMatchObject({ code: 0 });
  expect(summaries(fleet)).toEqual(["first", "second"]);
  expect(fleet.events(attempt, "update.taken").map(({ data }) => data.via)).toEqual(["kept", "command"]);
  expect(fleet.rows("select id from messages where kind = 'mail'")).toEqual([]);
  // Put back, or carried out and kept as well because nobody heard of it: the log knows each request.
  const [, second] = fleet.events(attempt, "update.taken").map(({ data }) => data.request ?? "unknown");
  writeFileSync(`${spool}/${name}`, kept);
  const token = env.OVERSEER_TOKEN ?? "";
  keepReport(fleet.state, token, { attempt, id: second ?? "", at: Date.now(), fields: { summary: "second, again" } });
  expect(await speak(fleet, env, "work", "report", "--summary", "third")).toMatchObject({ code: 0 });
  expect(summaries(fleet)).toEqual(["first", "second", "third"]);
  expect(readdirSync(spool)).toEqual([]);

  // Longer than Bun lets a line be silent: another's command still waits for what it was told to wait for.
  await Bun.sleep(Math.max(0, 11_000 - (performance.now() - began)));
  expect(follows.exitCode).toBe(null);
  await fleet.ok("goal", "pause", patient.goalId);
  expect(new TextDecoder().decode((await follows.stdout.getReader().read()).value)).toContain("paused");
  // Ctrl-C ends it, and what its runner had started for it.
  const started = () => fleet.processes.list().filter(({ parent }) => parent === fleet.runner(patient.attempt).pid);
  const before = started().length;
  follows.kill("SIGINT");
  await eventually(
    () => started().length === before - 1,
    () => "the end of what was started for it",
  );
});

test("RPC-2: killed in the middle, it leaves an agent that knows, and a report that whoever buries it takes once", async () => {
  const fleet = await fleetOf();
  const { attempt } = await fleet.sling("clerk", [say("here"), wait]);
  await fleet.turns(attempt, 1);
  const env = fleet.environment(attempt);
  const follows = start(fleet, env, "events", "--follow");
  await follows.stdout.getReader().read();
  await fleet.kill(fleet.runner(attempt));
  expect(await follows.exited).toBe(7);
  expect(await follows.stderr.text()).toContain("may have been done or not");

  // No place to keep it: it is told, and nothing is lost silently.
  const spool = `${fleet.state}/run/spool`;
  rmSync(spool, { recursive: true, force: true });
  writeFileSync(spool, "");
  expect(await speak(fleet, env, "ask", "Which?")).toMatchObject({
    code: 5,
    stderr: expect.stringContaining("could not be kept"),
  });
  rmSync(spool);

  const secret = makeToken();
  expect(await speak(fleet, env, "ask", `Which of ${secret}?`, "--go-on")).toMatchObject({
    code: 7,
    stderr: expect.stringContaining("your question is kept"),
  });
  const { OVERSEER_TOKEN: _hidden, ...withoutToken } = env;
  expect(await speak(fleet, withoutToken, "work", "report", "--summary", "whose?")).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("could not be kept: OVERSEER_TOKEN is missing"),
  });
  expect(await speak(fleet, { ...env, OVERSEER_ATTEMPT: "99" }, "work", "report", "--summary", "s")).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("There is no attempt #99"),
  });
  expect(await speak(fleet, env, "--json", "--version")).toMatchObject({ code: 0 });
  expect(await speak(fleet, env, "mail", "check")).toMatchObject({ code: 5 });
  keepReport(fleet.state, makeToken(), { attempt, id: "forged", at: Date.now(), fields: { summary: "not mine" } });
  expect(readdirSync(`${spool}/${attempt}`)).toHaveLength(2);
  await fleet.run("stop", "clerk");
  await fleet.ended(attempt);
  expect(fleet.all("question.asked").map(({ data }) => data.text)).toEqual([expect.stringContaining("Which of")]);
  expect(JSON.stringify(fleet.happened())).not.toContain(secret);
  expect(fleet.events(attempt, "update.taken")).toHaveLength(1);
  expect(fleet.events(attempt, "agent.fenced").map(({ data }) => data.what)).toEqual([
    "a report in its spool that it did not sign",
  ]);
  await eventually(
    () => !readdirSync(`${fleet.state}/run`).includes("spool") || readdirSync(spool).length === 0,
    () => "an empty spool",
  );
  expect(await speak(fleet, env, "work", "report", "--summary", "late")).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("has ended"),
  });

  // A question that its task waits for: whoever restarts it is told what was asked, and it continues after the answer.
  const asker = await fleet.sling("asker", [say("here"), wait]);
  await fleet.turns(asker.attempt, 1);
  const own = fleet.environment(asker.attempt);
  await fleet.kill(fleet.runner(asker.attempt));
  expect(await speak(fleet, own, "ask", "Which calendar?")).toMatchObject({ code: 7 });
  const { code, stderr } = await fleet.run("restart", "asker");
  expect([code, stderr]).toEqual([4, expect.stringContaining("has asked a question")]);
  const [, questionId = ""] = /overseer answer (q_\S+) /.exec(stderr) ?? [];
  await fleet.ok("answer", questionId, "ISO");
  await fleet.ok("restart", "asker");
});
