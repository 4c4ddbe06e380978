/**
 * Agents that are exempt, under a real daemon with scripted agents: one that is never nudged, one that is not supervised at
 * all, and beside them one that is like everybody; the last is what shows that time has passed.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { tail } from "../support/nine-tasks.ts";
import { say } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let fleet: Fleet;
afterEach(() => fleet.end());

const seen = <T>(look: () => T | undefined | false, what: string) => eventually(look, () => `${what}\n${tail(fleet)}`);

/** Nothing but words is tried, and then a person is asked. */
const QUICK = `
reconcile: {tickEvery: 300ms}
recovery:
  silentAfter: 1s
  nextStepAfter: 100ms
  judgedFromAge: 100ms
  sameWordsAfter: 100ms
  backoff: {base: 100ms, max: 200ms}
  steps: {splits: 0, freshAgents: 0, pauses: 0}
`;

const SILENT: readonly Step[] = [say("I think about it.")];

test("HEALTH-4: one that is not nudged hears nothing and a person is asked; one that is not supervised is left alone until it dies", async () => {
  fleet = await Fleet.make({ more: QUICK });
  const usual = await fleet.sling("usual", SILENT);
  const spared = await fleet.sling("spared", SILENT, "--no-nudge");
  const alone = await fleet.sling("alone", SILENT, "--no-supervision");
  expect([usual.exempt, spared.exempt, alone.exempt]).toEqual([
    undefined,
    { nudges: "sling" },
    { supervision: "sling" },
  ]);
  for (const { attempt } of [usual, spared, alone]) await fleet.turns(attempt, 1);
  await fleet.ok("up");
  const about = ({ attempt, assignmentId }: { attempt: number; assignmentId: string }) =>
    fleet
      .happened()
      .filter((event) => event.attempt === attempt || event.assignmentId === assignmentId)
      .map(({ type }) => type)
      .filter((type) => type.startsWith("assignment.") && type !== "assignment.created");
  await seen(() => about(usual).includes("assignment.nudged"), "the nudge of the usual one");
  await seen(() => about(spared).includes("assignment.escalated"), "the question about the spared one");
  expect(about(spared)).not.toContain("assignment.nudged");
  expect(about(spared)).not.toContain("assignment.resent");
  expect(fleet.messages(spared.attempt).map(({ kind }) => kind)).toEqual(["instruction"]);
  const usualSteps = ["assignment.dispatched", "assignment.delivered", "assignment.active"];
  expect(about(alone).filter((type) => !usualSteps.includes(type))).toEqual([]);
  expect(fleet.messages(alone.attempt).map(({ kind }) => kind)).toEqual(["instruction"]);

  const status = await fleet.ok("status");
  expect(status).toContain("(not nudged: it was slung so)");
  expect(status).toContain("(not supervised: it was slung so)");
  expect(await fleet.ok("agents", "show", "alone")).toContain("not supervised: it was slung so");
  const { agents } = JSON.parse(await fleet.ok("status", "--json")) as { agents: { agent: string; exempt: unknown }[] };
  expect(Object.fromEntries(agents.map(({ agent, exempt }) => [agent, exempt]))).toMatchObject({
    usual: null,
    spared: { nudges: "sling" },
    alone: { supervision: "sling" },
  });

  await fleet.kill(fleet.runner(alone.attempt));
  await seen(() => fleet.events(alone.attempt, "agent.ended")[0]?.data.cause === "died", "the death of the lone one");
});
