/**
 * What agents report and ask, through the real program: scripted agents as real processes, their last messages and the
 * command line as they use it, people who answer, and goals that are paused and cancelled with agents at work.
 */
import { afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Assignment } from "#domain/model/assignment.ts";
import type { Crystallization } from "#domain/model/crystallization.ts";
import type { Question } from "#domain/model/question.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { bundled, OVERSEER } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";

setDefaultTimeout(120_000);

let fleet: Fleet;
beforeAll(bundled);
beforeEach(async () => {
  fleet = await Fleet.make({ terminal: "detached" });
});
afterEach(() => fleet.end());

interface Shown extends WorkNode {
  readonly crystallization: Crystallization | null;
  readonly assignments: readonly Assignment[];
}

async function shown(attempt: number): Promise<Shown> {
  const { goalId, workNodeId } = fleet.attempt(attempt);
  return JSON.parse(await fleet.ok("work", "show", `${goalId}/${workNodeId}`, "--json")) as Shown;
}

const seen = <T>(look: () => T | undefined | false, what: string) => eventually(look, () => what);

describe("UPD-1: an update in the last message", () => {
  test("CRYS-1: becomes the node's handoff, and work show prints it", async () => {
    const summary = "The grammar reads ISO dates";
    const steps = [
      { kind: "report", status: "in_progress", summary, next: "Locales", evidence: { testsRun: ["bun test: 3 pass"] } },
    ] as const;
    const { attempt } = await fleet.sling("reporter", steps);
    await seen(() => fleet.events(attempt, "update.taken").length === 1, "the update");
    const node = await shown(attempt);
    expect(node.status).toBe("in_progress");
    expect(node.crystallization).toMatchObject({
      summary,
      nextActions: ["Locales"],
      evidence: { testsRun: [{ name: "bun test", result: "3 pass" }] },
    });
    const text = await fleet.ok("work", "show", `${node.goalId}/${node.workNodeId}`);
    expect(text).toContain(summary);
    expect(await fleet.ok("goal", "show", node.goalId)).toContain(summary);
  });

  test("DONE-1: done is a claim on the commit that git knows", async () => {
    const { attempt, branch } = await fleet.sling("finisher", [
      { kind: "edit", file: "a.txt", content: "1\n" },
      { kind: "commit", message: "Add a" },
      { kind: "report", status: "done", summary: "a is there" },
    ]);
    await seen(() => fleet.events(attempt, "work.claimed").length === 1, "the claim");
    const [claim] = fleet.events(attempt, "work.claimed");
    expect(claim?.data).toMatchObject({ commit: fleet.repo.git("rev-parse", branch).trim(), summary: "a is there" });
  });

  test("UPD-2: a lie is refused with its reason, and its author is asked again", async () => {
    const { attempt } = await fleet.sling("liar", [
      { kind: "lie", summary: "All done" },
      { kind: "on", message: "was not recorded", do: [{ kind: "say", text: "Caught." }] },
    ]);
    await fleet.said(attempt, "Caught.");
    const [refused] = fleet.events(attempt, "update.refused");
    expect(refused?.data).toMatchObject({ via: "block", code: "COMMIT_NOT_YOURS", askedAgain: true });
    expect(fleet.events(attempt, "work.claimed")).toEqual([]);
  });
});

test("CRYS-2: whoever takes over is told everything that was left, and what was not committed", async () => {
  const first = await fleet.sling("first", [
    { kind: "edit", file: "half.txt", content: "half\n" },
    {
      kind: "report",
      status: "in_progress",
      summary: "Half of it stands",
      next: "The other half",
      blockers: ["No zone data"],
    },
  ]);
  await seen(() => fleet.events(first.attempt, "update.taken").length === 1, "the report");
  await fleet.ok("stop", "first");
  const { wip } = (await fleet.ended(first.attempt)).end ?? {};
  const second = await fleet.sling("second", [], `${first.goalId}/${first.workNodeId}`);
  const told = readFileSync(`${fleet.state}/run/attempts/${second.attempt}/system-prompt.md`, "utf8");
  for (const words of ["Half of it stands", "The other half", "No zone data", String(wip)])
    expect(told).toContain(words);
});

test("OBS-1: why and work show say by name how the agent of an assignment does", async () => {
  const { attempt, assignmentId } = await fleet.sling("watched", [
    { kind: "run", command: "true" },
    { kind: "report", status: "in_progress", summary: "Under way", evidence: { testsRun: ["bun test: 1 pass"] } },
  ]);
  await seen(() => fleet.events(attempt, "update.taken").length === 1, "the report");
  const { observed } = (await shown(attempt)) as unknown as { observed: Record<string, unknown> };
  expect(observed).toMatchObject({
    assignmentId,
    agent: "watched",
    stalled: false,
    lastDispatch: { accepted: true, result: "ok" },
    backoffUntil: null,
    progress: { toolCalls: 1, evidence: ["test bun test: 1 pass"] },
  });
  const text = await fleet.ok("why", assignmentId);
  for (const words of ["not stalled", "No backoff", "was seen by the agent", "1 tool call", "test bun test: 1 pass"]) {
    expect(text).toContain(words);
  }
});

describe("UPD-1: work report", () => {
  test("takes every field, by flags and by file, and is fenced by the attempt", async () => {
    const file = JSON.stringify({ overseerUpdate: { currentState: "half of it", openQuestions: ["Zones?"] } });
    const words = [
      OVERSEER,
      "work",
      "report",
      "--status",
      "in_progress",
      "--summary",
      "S",
      "--decision",
      "UTC because simple",
    ];
    const command = `printf %s '${file}' | ${words.map((word) => `'${word}'`).join(" ")} --next N --blocker B --ref R --pr 7 --json-file -`;
    const { attempt } = await fleet.sling("clerk", [{ kind: "run", command }]);
    await seen(
      () => fleet.events(attempt, "update.taken").length === 1,
      `the report; ${fleet.log(attempt, "session.log")}`,
    );
    expect((await shown(attempt)).crystallization).toMatchObject({
      summary: "S",
      currentState: "half of it",
      decisions: [{ decision: "UTC", rationale: "simple" }],
      nextActions: ["N"],
      openQuestions: ["Zones?"],
      knownBlockers: ["B"],
      evidence: { externalRefs: ["R"], prs: ["7"] },
    });
    const env = fleet.environment(attempt);
    await fleet.ok("stop", "clerk");
    const late = await asAgent(env, "work", "report", "--summary", "too late");
    expect(late).toMatchObject({ code: 4 });
    expect(late.stderr).toContain("has ended");
    expect(fleet.events(attempt, "agent.fenced").at(-1)?.data).toEqual({ what: "it ran a command" });
  });

  test("is refused to people, with what they use instead", async () => {
    const said = await fleet.run("work", "report", "--summary", "x");
    expect([said.code, said.stderr.includes("work done")]).toEqual([2, true]);
  });
});

async function asAgent(env: Record<string, string>, ...words: string[]) {
  const child = Bun.spawn([OVERSEER, ...words], {
    cwd: fleet.repo.path,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, code };
}

async function openQuestionOf(attempt: number): Promise<Question> {
  const { goalId } = fleet.attempt(attempt);
  let found: Question | undefined;
  for (let tries = 0; tries < 100 && !found; tries += 1) {
    const all = JSON.parse(await fleet.ok("questions", "--json")) as Question[];
    found = all.find((one) => one.goalId === goalId);
    if (!found) await Bun.sleep(50);
  }
  if (!found) throw new Error(`No question of #${attempt}: ${fleet.log(attempt, "session.log")}`);
  return found;
}

describe("ESC-1: a question", () => {
  test("blocks the node, is answered by a person, reaches the agent and lets the work continue, once", async () => {
    const { attempt } = await fleet.sling("asker", [
      {
        kind: "ask",
        question: "Which calendar?",
        options: ["Gregorian", "Julian"],
        cli: [OVERSEER, "ask", "Which calendar?", "--option", "Gregorian", "--option", "Julian"],
      },
      { kind: "say", text: "I continue." },
    ]);
    const question = await openQuestionOf(attempt);
    expect(question).toMatchObject({
      text: "Which calendar?",
      options: ["Gregorian", "Julian"],
      askedBy: `agent:asker#${attempt}`,
    });
    expect((await shown(attempt)).status).toBe("blocked");
    expect(await fleet.ok("status")).toContain(question.questionId);
    const refusedNumber = await fleet.run("answer", question.questionId, "3");
    expect(refusedNumber.code).toBe(2);
    await fleet.ok("answer", question.questionId, "2");
    await fleet.said(attempt, "I continue.");
    const node = await shown(attempt);
    expect(node).toMatchObject({ status: "in_progress" });
    expect(node.assignments.at(-1)?.status).toBe("active");
    expect(node.crystallization?.decisions).toEqual([{ decision: "Julian", rationale: "answer to: Which calendar?" }]);
    expect((await fleet.run("answer", question.questionId, "1")).code).toBe(4);
    const told = fleet.messages(attempt).filter((message) => message.body.includes("was answered"));
    expect(told.map((message) => message.status)).toEqual(["seen"]);
    expect(await fleet.ok("why", question.questionId)).toContain("Julian");
  });

  test("answered by two people at once counts once, and an agent cannot answer it", async () => {
    const { attempt } = await fleet.sling("torn", [
      { kind: "ask", question: "Left or right?", cli: [OVERSEER, "ask", "Left or right?"] },
      { kind: "say", text: "Going." },
    ]);
    const { questionId } = await openQuestionOf(attempt);
    const own = await asAgent(fleet.environment(attempt), "answer", questionId, "left");
    expect([own.code, own.stderr.includes("Agents may not run 'overseer answer'")]).toEqual([4, true]);
    const both = await Promise.all(["left", "right"].map((word) => fleet.run("answer", questionId, word)));
    expect(both.map(({ code }) => code).toSorted()).toEqual([0, 4]);
    await fleet.said(attempt, "Going.");
    expect(fleet.messages(attempt).filter((message) => message.body.includes("was answered"))).toHaveLength(1);
  });

  test("of a node that has ended cannot be answered", async () => {
    const { attempt, goalId, workNodeId } = await fleet.sling("moot", [
      { kind: "ask", question: "Really?", cli: [OVERSEER, "ask", "Really?"] },
    ]);
    const { questionId } = await openQuestionOf(attempt);
    await fleet.ok("work", "cancel", `${goalId}/${workNodeId}`, "--reason", "not needed");
    const late = await fleet.run("answer", questionId, "yes");
    expect(late.code).toBe(4);
    expect(late.stderr).toContain("withdrawn");
  });
});

describe("GOAL-5: a goal with agents at work", () => {
  test("work cancel ends the assignment and stops the agent, keeping its work", async () => {
    const { attempt, goalId, workNodeId } = await fleet.sling("dropped", [
      { kind: "edit", file: "b.txt", content: "kept\n" },
      { kind: "wait" },
    ]);
    await fleet.turns(attempt, 1);
    await fleet.ok("work", "cancel", `${goalId}/${workNodeId}`);
    const over = await fleet.ended(attempt);
    expect(over.end).toMatchObject({ cause: "stopped" });
    expect(over.end?.wip).toStartWith("refs/overseer/wip/");
    expect((await shown(attempt)).assignments.map((one) => one.status)).toEqual(["cancelled"]);
    expect(fleet.marked(attempt)).toEqual([]);
  });

  test("paused, its agents wait after their turn; resumed, they continue", async () => {
    const { attempt, goalId } = await fleet.sling("waiter", [{ kind: "wait" }, { kind: "say", text: "Back again." }]);
    await fleet.turns(attempt, 1);
    await fleet.ok("goal", "pause", goalId);
    expect(fleet.attempt(attempt).status).toBe("paused");
    await fleet.ok("goal", "resume", goalId);
    await fleet.said(attempt, "Back again.");
    expect(fleet.attempt(attempt).status).toBe("running");
  });

  test("GOAL-4: cancelled, its agents are stopped with a snapshot, and the session that wanted it is told", async () => {
    const wanter = await fleet.sling("wanter", [
      { kind: "wait" },
      { kind: "on", message: "was cancelled.", do: [{ kind: "say", text: "Understood." }] },
    ]);
    await fleet.turns(wanter.attempt, 1);
    const created = JSON.parse(await fleet.ok("goal", "create", "Wanted", "--from-session", "wanter", "--json")) as {
      goalId: string;
      origin: object;
    };
    expect(created.origin).toMatchObject({ deliveryContext: { agent: "wanter", attempt: String(wanter.attempt) } });
    const plan = `${fleet.state}/plan.json`;
    const node = (id: string, more = {}) => ({ id, name: id, objective: "x", acceptance: ["y"], ...more });
    await Bun.write(plan, JSON.stringify({ planVersion: 1, phases: [node("P1", { tasks: [node("T1")] })] }));
    await fleet.ok("goal", "plan", created.goalId, "--file", plan);
    const { attempt } = JSON.parse(
      await fleet.ok("sling", `${created.goalId}/T1`, "--json", "--runtime", "scripted", "--name", "doomed"),
    ) as { attempt: number };
    await fleet.ok("goal", "cancel", created.goalId, "--reason", "no budget");
    expect((await fleet.ended(attempt)).end?.cause).toBe("stopped");
    await fleet.ok("tick", "--now");
    await fleet.said(wanter.attempt, "Understood.");
    expect((await shown(attempt)).status).toBe("cancelled");
  });
});
