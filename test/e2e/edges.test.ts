/** Agents that come and go, and what was on its way to one that died, under a real daemon with scripted agents. */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attemptSocket, runnerSocket } from "#act/attempt-files.ts";
import type { Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { tail } from "../support/nine-tasks.ts";
import { say, wait } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let fleet: Fleet;
afterEach(() => fleet.end());

const seen = <T>(look: () => T | undefined | false, what: string) => eventually(look, () => `${what}\n${tail(fleet)}`);

test("EDGE-2: what was on its way to an agent that is killed reaches whoever continues, or ends openly with it; its doors are gone", async () => {
  const recovery = "recovery: {silentAfter: 1m, judgedFromAge: 100ms, backoff: {base: 100ms, max: 200ms}}\n";
  fleet = await Fleet.make({ more: `reconcile: {tickEvery: 300ms}\n${recovery}`, terminal: "detached" });
  const go = join(fleet.repo.path, "go");
  const held: Step = { kind: "run", command: `for i in $(seq 600); do [ -e '${go}' ] && exit 0; sleep 0.05; done` };
  const { attempt } = await fleet.sling("ann", [held, say("ready"), { kind: "loop", steps: [wait] }]);
  await seen(() => fleet.signals(attempt).some(({ kind }) => kind === "tool.started"), "its command");
  const parts = { socketDir: () => fleet.socketDir() };
  const doors = [await runnerSocket(parts, attempt), await attemptSocket(parts, attempt)];
  expect(doors.map((path) => existsSync(path))).toEqual([true, true]);
  // Held between two writes, the runner hands nothing over; then it dies with all of it.
  await fleet.hang(fleet.runner(attempt));
  const mail = JSON.parse(
    await fleet.ok("mail", "send", "--to", "ann", "--subject", "use v2", "--body", "It is faster.", "--json"),
  ) as { messageId: string };
  await fleet.ok("nudge", "ann", "How far are you?");
  const waiting = fleet.messages(attempt).filter(({ status }) => status === "queued");
  expect(waiting.map(({ kind }) => kind).sort()).toEqual(["mail", "nudge"]);
  await fleet.ok("up");
  await fleet.kill(fleet.runner(attempt));
  await seen(() => fleet.attempt(attempt).status === "ended", "its end");
  const next = await seen(
    () => fleet.all("agent.slung").find((event) => event.attempt !== attempt)?.attempt,
    "the next",
  );
  writeFileSync(go, "");
  // Mail belongs to the work, the nudge to the life that is over.
  await seen(
    () =>
      fleet
        .messages(next)
        .some(({ kind, subject, status }) => kind === "mail" && subject === "use v2" && status === "seen"),
    "the mail in the next inbox",
  );
  const nudge = fleet.messages(attempt).find(({ kind }) => kind === "nudge");
  expect([nudge?.status, nudge?.endReason]).toEqual(["expired", "the agent it was for has ended"]);
  expect(fleet.messages(attempt).every(({ status }) => status !== "queued" && status !== "handed")).toBe(true);
  expect(mail.messageId).toStartWith("m_");
  await seen(() => doors.every((path) => !existsSync(path)), "that its doors are gone");
});

test("EDGE-7: agents that come and go quickly are neither judged nor told anything; only those that stay are", async () => {
  const recovery = "{silentAfter: 1s, nextStepAfter: 100ms, judgedFromAge: 10m, backoff: {base: 100ms, max: 200ms}}";
  fleet = await Fleet.make({ more: `reconcile: {tickEvery: 200ms}\nrecovery: ${recovery}\n` });
  await fleet.ok("up");
  const stays = await fleet.sling("stays", [say("I am here.")]);
  for (let round = 0; round < 2; round += 1) {
    const { attempt } = await fleet.sling(`gone-${round}`, [say("Hello.")]);
    await fleet.turns(attempt, 1);
    await fleet.ok("stop", `gone-${round}`);
  }
  await fleet.turns(stays.attempt, 1);
  const judged = () =>
    fleet.happened().filter(({ type }) => /^assignment\.(stalled|nudged|doubted|resent)$/.test(type));
  // Silent for as long as makes others stall, and looked at many times since.
  const quietFrom = fleet.pulse(stays.attempt)?.lastActAt ?? 0;
  const ticks = fleet.heartbeat()?.ticks ?? 0;
  await seen(() => (fleet.heartbeat()?.ticks ?? 0) >= ticks + 3 && Date.now() - quietFrom > 1_200, "many looks");
  expect(judged()).toEqual([]);
  const path = `${fleet.userDir}/config.yaml`;
  writeFileSync(path, readFileSync(path, "utf8").replace("judgedFromAge: 10m", "judgedFromAge: 100ms"));
  await seen(
    () => fleet.events(stays.attempt, "assignment.nudged")[0],
    "that the same silence is judged once it is old",
  );
  expect(new Set(judged().map(({ agent }) => agent))).toEqual(new Set(["stays"]));
});
