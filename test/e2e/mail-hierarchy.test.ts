/** A lead and its agents: it slings them from inside its own session, waits, and hears every outcome once. */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { outcomeId } from "#domain/inbox/outcome.ts";
import type { Message } from "#domain/model/message.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { bundled, OVERSEER } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { run, say, wait } from "../support/steps.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let fleet: Fleet | undefined;
afterEach(async () => {
  await fleet?.end();
  fleet = undefined;
});

const leave: Step = { kind: "fail", message: "bye", exitCode: 0 };
const sling = (name: string, steps: readonly Step[]) =>
  run(
    `'${OVERSEER}' sling --runtime scripted --name ${name} --prompt 'Work ${renderScript(steps)}' > ${name}.out 2>&1`,
  );

function gate() {
  const go = join(tempDir("gate-"), "go");
  return {
    step: run(`for i in $(seq 600); do [ -e '${go}' ] && exit 0; sleep 0.05; done`),
    open: () => writeFileSync(go, ""),
  };
}

function messageOf(given: Fleet, id: string): Message | undefined {
  const [row] = given.rows<{ doc: string }>("select doc from messages where id = ?1", id);
  return row && (JSON.parse(row.doc) as Message);
}

const numberOf = (given: Fleet, name: string) =>
  eventually(
    () => given.rows<{ attempt: number }>("select attempt from attempts where agent = ?1", name)[0]?.attempt,
    () => `the attempt of ${name}`,
  );

test.each(["detached", "tmux"] as const)(
  "VALID-8, SLING-3, TELL-1, WAIT-1: a lead slings two agents, waits, is resumed by each outcome, and finishes (%s)",
  async (terminal) => {
    fleet = await Fleet.make({ terminal });
    const given = fleet;
    const [first, second] = [gate(), gate()];
    const lead = await given.sling(
      "lead-1",
      [
        sling("w1", [say("w1 works"), first.step, leave]),
        sling("w2", [say("w2 works"), second.step, { kind: "die", at: "now", signal: "SIGKILL" }]),
        run(`'${OVERSEER}' mail check --wait --on w1,w2 > wait1.out 2>&1`),
        wait,
        say("one has ended"),
        run(`'${OVERSEER}' mail check --wait --on w2 > wait2.out 2>&1`),
        wait,
        say("both have ended"),
        leave,
      ],
      "--capability",
      "lead",
    );
    const [w1, w2] = [await numberOf(given, "w1"), await numberOf(given, "w2")];
    expect(given.attempt(w1)).toMatchObject({ parent: { agent: "lead-1", attempt: lead.attempt }, depth: 1 });
    await given.turns(lead.attempt, 1);
    const waiting = await eventually(
      () => given.attempt(lead.attempt).waiting ?? undefined,
      () => "the lead to wait",
    );
    expect(waiting.on).toEqual(["w1", "w2"]);
    expect(await given.ok("status")).toContain("waiting(on w1, w2)");
    // What a lead started lives its own life: neither its tool's end nor ours is theirs.
    expect(given.attempt(w1).status).toBe("running");

    first.open();
    await given.said(lead.attempt, "one has ended");
    await eventually(
      () => given.attempt(lead.attempt).waiting?.on.join() === "w2",
      () => "the lead to wait for the other",
    );
    second.open();
    await given.said(lead.attempt, "both have ended");
    await given.ended(lead.attempt);
    expect(given.attempt(lead.attempt).end?.cause).toBe("finished");

    const outcomes = [w1, w2].map((number) => messageOf(given, outcomeId(given.attempt(number).assignmentId)));
    expect(outcomes).toMatchObject([
      { from: "overseer", agent: "lead-1", attempt: lead.attempt, status: "seen", hands: 1, type: "status" },
      { from: "overseer", agent: "lead-1", attempt: lead.attempt, status: "seen", hands: 1, type: "error" },
    ]);
    expect(outcomes[1]?.subject).toBe(`w2#${w2} died`);
    expect(given.events(lead.attempt, "agent.waiting")).toHaveLength(2);
    expect(given.events(lead.attempt, "agent.woken")).toHaveLength(2);
  },
);

test("SLING-3: an agent outlives its lead, and its outcome goes to the person then", async () => {
  fleet = await Fleet.make({ terminal: "detached" });
  const given = fleet;
  const lead = await given.sling(
    "lead-1",
    [sling("w1", [say("w1 works"), wait, leave]), say("slung"), wait],
    "--capability",
    "lead",
  );
  await given.said(lead.attempt, "slung");
  const w1 = await numberOf(given, "w1");
  await given.said(w1, "w1 works");
  const runner = given.runner(w1);
  await given.ok("stop", "lead-1");
  expect(given.processes.alive(runner)).toBe(true);
  const mail = JSON.parse(await given.ok("mail", "send", "--to", "w1", "--subject", "s", "--body", "go on", "--json"));
  await given.ended(w1);
  expect(messageOf(given, mail.messageId)?.status).toBe("seen");
  expect(messageOf(given, outcomeId(given.attempt(w1).assignmentId))).toMatchObject({ agent: "human", attempt: 0 });
});

test("POL-1: an agent mails and waits; it does not nudge, stop or read another's box into its own", async () => {
  fleet = await Fleet.make({ terminal: "detached" });
  const given = fleet;
  await given.sling("b", [say("here"), wait]);
  await given.ok("mail", "send", "--to", "b", "--subject", "for b alone", "--body", "not for a");
  const commands = [
    "nudge b hello",
    "stop b",
    "mail check --inject --agent b",
    "mail send --to human --subject hi --body 'from me'",
    "mail send --to human --type question --subject 'Which one?' --body 'a or b'",
  ];
  const agent = await given.sling("a", [
    ...commands.map((command, index) => run(`'${OVERSEER}' ${command} > out-${index} 2>&1; echo $? >> out-${index}`)),
    say("tried"),
    wait,
  ]);
  await given.said(agent.attempt, "tried");
  const out = async (index: number) => Bun.file(join(agent.worktree, `out-${index}`)).text();
  expect(await out(0)).toMatch(/Agents may not run[\s\S]*4\n$/);
  expect(await out(1)).toMatch(/Agents may not run[\s\S]*4\n$/);
  expect(await out(2)).toBe("0\n");
  expect(await out(3)).toMatch(/queued for human[\s\S]*0\n$/);
  const [row] = given.rows<{ doc: string }>("select doc from messages where agent = 'human'");
  expect(JSON.parse(row?.doc ?? "{}")).toMatchObject({ from: "a", body: "from me", status: "queued" });
  expect(await out(4)).toMatch(/Asked as q_[\s\S]*0\n$/);
  const asked = JSON.parse(await given.ok("questions", "--json")) as { questionId: string; text: string }[];
  expect(asked).toMatchObject([{ text: expect.stringContaining("Which one?") }]);
  await given.ok("answer", asked[0]?.questionId ?? "", "a");
  await eventually(
    () => given.messages(agent.attempt).some((one) => one.status === "seen" && one.body.includes("a")),
    () => "the answer",
  );
  expect(given.log(agent.attempt, "session.log")).toMatch(/→ sent mail m_\w+ to human/);
});
