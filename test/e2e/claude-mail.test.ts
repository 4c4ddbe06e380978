/**
 * Mail and the real Claude Code, driven and on its own screen: when it arrives, how often, and what the model is really
 * shown, as the model server saw it. Then the three worst moments to be killed in, and a lead with two agents.
 */
import { afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { idMark } from "#domain/inbox/injection.ts";
import { outcomeId } from "#domain/inbox/outcome.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { Message } from "#domain/model/message.ts";
import { findSessionFile } from "#runtimes/claude-code/session-file.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { systemProcesses } from "#sys/processes.ts";
import { ClaudeWorld, type Slung } from "../support/claude-world.ts";
import { bundled, OVERSEER } from "../support/cli.ts";
import { type ModelRequest, modelPrompt, textOf } from "../support/model-server.ts";
import { run, say, wait } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let world: ClaudeWorld | undefined;
afterEach(async () => {
  await world?.end();
  world = undefined;
});
async function begin(): Promise<ClaudeWorld> {
  world = await ClaudeWorld.start();
  return world;
}

const processes = systemProcesses();
const idleFor = (times: number): Step => ({ kind: "loop", times, steps: [wait] });
/** Runs until the file `go` is there, but not for ever. */
const untilLetGo = run("touch started; for i in $(seq 600); do [ -e go ] && exit 0; sleep 0.05; done");

async function send(fleet: ClaudeWorld, to: string, body: string): Promise<string> {
  const said = await fleet.ok("mail", "send", "--json", "--to", to, "--subject", "s", "--body", body);
  return (JSON.parse(said) as { messageId: string }).messageId;
}
function messageOf(fleet: ClaudeWorld, id: string): Message | undefined {
  const [row] = fleet.rows<{ doc: string }>("select doc from messages where id = ?", id);
  return row && (JSON.parse(row.doc) as Message);
}
function attemptOf(fleet: ClaudeWorld, name: string): Attempt {
  const [row] = fleet.rows<{ doc: string }>(
    "select doc from attempts where agent = ? order by attempt desc limit 1",
    name,
  );
  if (!row) throw new Error(`no attempt of ${name}`);
  return JSON.parse(row.doc) as Attempt;
}
const status = (fleet: ClaudeWorld, id: string, wanted: Message["status"]) =>
  fleet.until(
    () => messageOf(fleet, id)?.status === wanted && messageOf(fleet, id),
    `${id} to be ${wanted}: ${messageOf(fleet, id)?.status}`,
  );

const talks = (fleet: ClaudeWorld) => fleet.model.requests.filter((one) => one.kind === "conversation");
/** How often the model was shown the message in its newest request: a conversation is sent whole each time. */
const shown = (request: ModelRequest | undefined, id: string) =>
  request === undefined ? 0 : textOf(request).split(idMark(id)).length - 1;

describe.each([
  ["driven", []],
  ["interactive", ["--interactive"]],
] as const)("MAIL-2: %s Claude Code", (_kind, flags) => {
  test("gets it after the tool call in the same turn, as a turn when idle, and on resume when paused; each once", async () => {
    const fleet = await begin();
    const steps = [untilLetGo, run("echo after"), say("First turn over."), idleFor(6)];
    const slung = await fleet.sling(modelPrompt("Wait for me", steps), "--name", "ada", ...flags);
    await fleet.until(() => existsSync(join(slung.worktree, "started")), "the tool");
    const busy = await send(fleet, "ada", "Sent during a tool call.");
    await Bun.write(join(slung.worktree, "go"), "");
    await status(fleet, busy, "seen");
    await fleet.turns(slung, 1);
    const first = talks(fleet);
    expect(first.map((request) => shown(request, busy))).toEqual(first.map((_, index) => (index === 0 ? 0 : 1)));
    expect(fleet.signals(slung, "turn.started")).toHaveLength(1);

    const idle = await send(fleet, "ada", "Sent while idle.");
    await status(fleet, idle, "seen");
    await fleet.turns(slung, 2);
    expect(shown(talks(fleet).at(-1), idle)).toBe(1);
    expect(textOf(talks(fleet).at(-1) ?? fail())).toContain("Sent while idle.");

    await fleet.ok("pause", "ada");
    const paused = await send(fleet, "ada", "Sent while paused.");
    const requests = talks(fleet).length;
    // Somebody who is not paused gets mail that was sent later: there was time for it.
    const awake = `Work ${renderScript([say("Here."), wait, say("Read."), wait])}`;
    await fleet.sling(awake, "--name", "bob", "--runtime", "scripted");
    await status(fleet, await send(fleet, "bob", "Sent later."), "seen");
    expect([talks(fleet).length, messageOf(fleet, paused)?.status]).toEqual([requests, "queued"]);
    await fleet.ok("resume", "ada");
    await status(fleet, paused, "seen");
    await fleet.turns(slung, 3);
    const last = talks(fleet).at(-1) ?? fail();
    for (const id of [busy, idle, paused]) expect([id, shown(last, id)]).toEqual([id, 1]);
    expect(textOf(last)).toContain("You were paused");
    for (const id of [busy, idle, paused]) expect(messageOf(fleet, id)).toMatchObject({ hands: 1, status: "seen" });
  });
});

describe("RCPT-1: killed at the worst moments, Claude Code is told everything once", () => {
  /** Everything that ever reached the model, of the session that continued. */
  const once = (fleet: ClaudeWorld, id: string) => expect([id, shown(talks(fleet).at(-1), id)]).toEqual([id, 1]);

  async function slung(fleet: ClaudeWorld, steps: readonly Step[]): Promise<Slung> {
    return fleet.sling(modelPrompt("Work with me", steps), "--name", "ada");
  }
  const restarted = async (fleet: ClaudeWorld) => JSON.parse(await fleet.ok("restart", "ada", "--json")) as Slung;

  test("handed and not taken: it is handed again", async () => {
    const fleet = await begin();
    const agent = await slung(fleet, [say("Ready."), idleFor(6)]);
    await fleet.turns(agent, 1);
    const { process } = attemptOf(fleet, "ada");
    if (!process) throw new Error("no process");
    processes.signal(process, "SIGSTOP");
    const id = await send(fleet, "ada", "Into a pipe that nobody reads.");
    await status(fleet, id, "handed");
    processes.signal(process, "SIGKILL");
    await fleet.until(() => attemptOf(fleet, "ada").status === "ended", "its end");
    expect(messageOf(fleet, id)).toMatchObject({ status: "queued", hands: 1 });
    const next = await restarted(fleet);
    await status(fleet, id, "seen");
    await fleet.turns(next, 1);
    expect(messageOf(fleet, id)).toMatchObject({ attempt: next.attempt, hands: 2 });
    once(fleet, id);
  });

  test("taken and not answered: it is not handed again, and the session knows it", async () => {
    const fleet = await begin();
    const agent = await slung(fleet, [say("Ready."), wait, untilLetGo, say("Answered."), idleFor(6)]);
    await fleet.turns(agent, 1);
    const words = "Taken, and then the lights go out.";
    const id = await send(fleet, "ada", words);
    await fleet.until(() => existsSync(join(agent.worktree, "started")), "the tool of the next turn");
    await status(fleet, id, "seen");
    const { process } = attemptOf(fleet, "ada");
    if (process) processes.signal(process, "SIGKILL");
    await fleet.until(() => attemptOf(fleet, "ada").status === "ended", "its end");
    await Bun.write(join(agent.worktree, "go"), "");
    const next = await restarted(fleet);
    await fleet.turns(next, 1);
    expect(messageOf(fleet, id)).toMatchObject({ status: "seen", hands: 1 });
    // Once by its words: where the CLI was killed before it wrote the message down, it is told again under another id.
    expect(textOf(talks(fleet).at(-1) ?? fail()).split(words).length - 1).toBe(1);
  });

  test("taken, and killed before the CLI wrote it down: the session that goes on is told again", async () => {
    const fleet = await begin();
    const agent = await slung(fleet, [say("Ready."), wait, untilLetGo, say("Answered."), idleFor(6)]);
    await fleet.turns(agent, 1);
    const transcript = findSessionFile(fleet.configDir, attemptOf(fleet, "ada").session ?? "") ?? fail();
    const before = readFileSync(transcript);
    const words = "Said a moment before the end.";
    const id = await send(fleet, "ada", words);
    await fleet.until(() => existsSync(join(agent.worktree, "started")), "the tool of the next turn");
    await status(fleet, id, "seen");
    const { process } = attemptOf(fleet, "ada");
    if (process) processes.signal(process, "SIGKILL");
    await fleet.until(() => attemptOf(fleet, "ada").status === "ended", "its end");
    writeFileSync(transcript, before);
    await Bun.write(join(agent.worktree, "go"), "");
    const next = await restarted(fleet);
    await fleet.until(() => textOf(talks(fleet).at(-1) ?? fail()).includes(words), "the words in the session");
    await fleet.turns(next, 1);
    expect(textOf(talks(fleet).at(-1) ?? fail()).split(words).length - 1).toBe(1);
  });

  test("answered and not recorded: its transcript says that it was seen", async () => {
    const fleet = await begin();
    // tmux lets a stopped process continue at once.
    const config = join(fleet.repo.path, ".overseer/config.yaml");
    writeFileSync(config, JSON.stringify({ ...JSON.parse(readFileSync(config, "utf8")), terminal: "detached" }));
    const agent = await slung(fleet, [say("Ready."), wait, say("Answered."), idleFor(6)]);
    await fleet.turns(agent, 1);
    const { runner, process } = attemptOf(fleet, "ada");
    if (!runner || !process) throw new Error("no runner");
    // The agent is held while its runner hands over; then the runner is held while the agent takes and answers.
    processes.signal(process, "SIGSTOP");
    const id = await send(fleet, "ada", "Answered into the void.");
    await status(fleet, id, "handed");
    processes.signal(runner, "SIGSTOP");
    const requests = talks(fleet).length;
    processes.signal(process, "SIGCONT");
    await fleet.until(() => talks(fleet).length > requests, "the model to be asked");
    const transcript = findSessionFile(fleet.configDir, attemptOf(fleet, "ada").session ?? "") ?? fail();
    await fleet.until(() => readFileSync(transcript, "utf8").includes('"Answered."'), "the answer in its transcript");
    processes.signal(runner, "SIGKILL");
    const next = await restarted(fleet);
    expect(messageOf(fleet, id)).toMatchObject({ status: "seen", hands: 1 });
    await fleet.turns(next, 1);
    once(fleet, id);
    const receipts = fleet.rows<{ because: string }>(
      "select because from events where type = 'message.seen' and data ->> '$.messageId' = ?",
      id,
    );
    expect(receipts).toEqual([{ because: "found-in-transcript" }]);
  });
});

test("TELL-1, WAIT-1: a lead that is Claude Code slings two agents, waits, is resumed by their outcomes, one a death", async () => {
  const fleet = await begin();
  const worker = (name: string, steps: readonly Step[]) =>
    run(`'${OVERSEER}' sling --runtime scripted --name ${name} --prompt 'Work ${renderScript(steps)}'`);
  const until = (file: string) => run(`for i in $(seq 600); do [ -e ../../../${file} ] && exit 0; sleep 0.05; done`);
  const steps = [
    worker("w1", [until("go"), { kind: "fail", message: "bye", exitCode: 0 }]),
    worker("w2", [until("go-too"), { kind: "die", at: "now", signal: "SIGKILL" }]),
    run(`'${OVERSEER}' mail check --wait --on w1,w2`),
    wait,
    run(`'${OVERSEER}' mail check --wait --on w2 || true`),
    wait,
    say("Both have ended."),
  ];
  const lead = await fleet.sling(modelPrompt("Lead", steps), "--name", "lead-1", "--capability", "lead");
  await fleet.turns(lead, 1);
  expect(attemptOf(fleet, "lead-1").waiting?.on).toEqual(["w1", "w2"]);
  await Bun.write(join(fleet.repo.path, "go"), "");
  await fleet.turns(lead, 2);
  await Bun.write(join(fleet.repo.path, "go-too"), "");
  await fleet.turns(lead, 3);
  for (const name of ["w1", "w2"]) {
    const id = outcomeId(attemptOf(fleet, name).assignmentId);
    // That a turn was seen to the end is written down before what it began with.
    await fleet.until(() => messageOf(fleet, id)?.status === "seen", `${name}'s outcome to be seen`);
    expect(messageOf(fleet, id)).toMatchObject({ hands: 1, agent: "lead-1", from: "overseer" });
    expect([name, shown(talks(fleet).at(-1), id)]).toEqual([name, 1]);
  }
  expect(attemptOf(fleet, "w2").end?.cause).toBe("died");
  expect(textOf(talks(fleet).at(-1) ?? fail())).toContain("died");
});

function fail(): never {
  throw new Error("nothing reached the model");
}
