/**
 * Many hands in one inbox, and hands that are cut off: senders and readers race, readers, runners and agents are killed
 * at random moments. Whatever happens, by the log every message is seen once, or it is said openly that it never was.
 */
import { afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { settleLeftovers } from "#act/attempt-end/end-attempt.ts";
import { idsInText } from "#act/messages/trace-messages.ts";
import * as mail from "#control/mail/send.ts";
import { slingAgent } from "#control/sling.ts";
import type { World } from "#control/world.ts";
import { renderScript } from "#runtimes/scripted/language.ts";
import { openForWriting } from "#store/open.ts";
import { systemProcesses } from "#sys/processes.ts";
import { addRunning, provenAttempt } from "../support/attempts.ts";
import { bundled, OVERSEER } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { worldAt } from "../support/real-world.ts";
import { isLongLane, scaled } from "../support/scale.ts";

setDefaultTimeout(isLongLane() ? 3_600_000 : 600_000);
beforeAll(bundled);

const fleets: Fleet[] = [];
/** Processes that count as runners and do nothing. */
const idlers: Bun.Subprocess[] = [];
async function fleetOf(): Promise<Fleet> {
  const fleet = await Fleet.make({ terminal: "detached" });
  fleets.push(fleet);
  return fleet;
}
afterEach(async () => {
  for (const one of idlers.splice(0)) one.kill("SIGKILL");
  for (const fleet of fleets.splice(0)) await fleet.end();
});

function start(fleet: Fleet, env: Record<string, string>, ...words: string[]) {
  return Bun.spawn([OVERSEER, ...words], {
    cwd: fleet.repo.path,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}
async function ok(fleet: Fleet, env: Record<string, string>, ...words: string[]): Promise<string> {
  const child = start(fleet, env, ...words);
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${stderr}`);
  return stdout;
}

interface Receipt {
  readonly id: string;
  readonly status: string;
}
const receipts = (fleet: Fleet) =>
  fleet.rows<Receipt>("select id, status from messages where kind = 'mail' and sender <> 'overseer' order by id");
const counted = (fleet: Fleet, type: string) =>
  fleet.rows<{ id: string; many: number }>(
    "select data ->> '$.messageId' as id, count(*) as many from events where type = ?1 group by 1",
    type,
  );

/** An attempt at work as far as the store knows, whose messages nobody hands over. */
async function box(fleet: Fleet): Promise<Record<string, string>> {
  const store = await openForWriting({ address: `${fleet.state}/overseer.db` });
  const idle = Bun.spawn(["sleep", "600"], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  idlers.push(idle);
  const runner = systemProcesses().identify(idle.pid);
  if (!runner) throw new Error("no process");
  const [attempt] = await addRunning(store, 1, runner);
  await store.close();
  return { ...provenAttempt(fleet.state, attempt ?? 0, "agent-0"), OVERSEER_ROOT: fleet.repo.path };
}

describe("MAIL-3: many at once", () => {
  test("12 senders in parallel: nothing is lost, nothing is there twice", async () => {
    const fleet = await fleetOf();
    await box(fleet);
    const senders = Array.from({ length: 12 }, async (_, sender) => {
      for (let index = 0; index < 10; index += 1) {
        await ok(fleet, {}, "mail", "send", "--to", "agent-0", "--subject", `${sender}.${index}`, "--body", "b");
      }
    });
    await Promise.all(senders);
    const subjects = fleet.rows<{ subject: string }>(
      "select doc ->> '$.subject' as subject from messages where kind = 'mail'",
    );
    expect(subjects).toHaveLength(120);
    expect(new Set(subjects.map((row) => row.subject)).size).toBe(120);
    await fleet.ok("doctor");
  });

  const boxes: [whose: string, of: (fleet: Fleet) => Promise<Record<string, string>>, name: string][] = [
    ["an agent's", box, "agent-0"],
    ["the orchestrator's", async () => ({ OVERSEER_AGENT: "orchestrator" }), "orchestrator"],
  ];
  test.each(boxes)(
    "6 readers race for 120 messages in %s inbox: 120 delivered, none twice",
    async (_whose, of, name) => {
      const fleet = await fleetOf();
      const env = await of(fleet);
      const world = await worldAt(fleet.repo.path);
      for (let index = 0; index < 120; index += 1) {
        await mail.send(world, { to: name, subject: `${index}`, body: "b".repeat(200) });
      }
      const printed: string[] = [];
      const readers = Array.from({ length: 6 }, async () => {
        for (let found = -1; found !== 0; ) {
          const ids = idsInText(await ok(fleet, env, "mail", "check", "--inject"));
          printed.push(...ids.filter((id) => !id.endsWith("-end") && !id.startsWith("m_RUNNING")));
          found = ids.length;
        }
      });
      await Promise.all(readers);
      expect(printed).toHaveLength(120);
      expect(new Set(printed).size).toBe(120);
      expect(counted(fleet, "message.handed").every((row) => row.many === 1)).toBe(true);
      expect(new Set(receipts(fleet).map((row) => row.status))).toEqual(
        new Set([name === "orchestrator" ? "seen" : "handed"]),
      );
    },
  );
});

describe("MAIL-2, RCPT-1: kill −9 at random moments", () => {
  const SCRIPT = renderScript([
    { kind: "say", text: "ready" },
    { kind: "loop", steps: [{ kind: "wait" }] },
  ]);

  const rounds = isLongLane() ? 300 : scaled(10);

  test("of reader, runner and agent: every message ends seen once, by the log and by the transcripts", async () => {
    const fleet = await fleetOf();
    const world = await worldAt(fleet.repo.path);
    const random = seeded(Number(process.env.OVERSEER_TEST_SEED ?? Date.now()));
    let attempt = (await slung(world, { prompt: `Work ${SCRIPT}` })).attempt;
    const { goalId, workNodeId } = fleet.attempt(attempt);
    const again = async () => {
      attempt = (await slung(world, { task: `${goalId}/${workNodeId}`, goal: goalId })).attempt;
    };
    const sent: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const sending = Array.from({ length: 1 + random.below(3) }, async (_, index) => {
        const [one] = await mail.send(world, { to: "a", subject: `${round}.${index}`, body: "hello" });
        if (one) sent.push(one.messageId);
      });
      const env = fleet.environment(attempt);
      const reader = random.below(3) === 0 ? start(fleet, env, "mail", "check", "--inject") : undefined;
      await Bun.sleep(random.below(2) === 0 ? random.below(60) : random.below(500));
      const victims = random.below(4);
      reader?.kill("SIGKILL");
      const now = fleet.attempt(attempt);
      if (victims !== 0 && now.runner && victims !== 2) await fleet.kill(now.runner);
      if (victims !== 0 && now.process && victims !== 1) await fleet.kill(now.process);
      await Promise.all([...sending, reader?.exited]);
      if (victims === 0 || (victims === 2 && !now.process)) continue; // nobody was killed
      if (victims === 2) await fleet.ended(attempt);
      await settleLeftovers(world);
      await again();
    }
    // The last life has whatever is left; what a killed reader took comes back when its process ends.
    await fleet.kill(await fleet.process(attempt));
    await fleet.ended(attempt);
    await again();
    const open = () => receipts(fleet).filter((row) => row.status !== "seen" && row.status !== "dead_lettered");
    await eventually(
      () => open().length === 0,
      () => `all to end: ${JSON.stringify(open())}`,
    );
    expect(receipts(fleet).map((row) => row.id)).toEqual(sent.toSorted());
    const ends = [...counted(fleet, "message.seen"), ...counted(fleet, "message.dead_lettered")];
    const own = ends.filter((row) => sent.includes(row.id));
    expect(own).toHaveLength(sent.length);
    expect(own.every((row) => row.many === 1)).toBe(true);
    // Handed over in vain twenty times in a row is a matter of the long lane.
    expect(receipts(fleet).filter((row) => row.status === "seen").length).toBeGreaterThan(sent.length * 0.9);
    const told = transcripts(fleet)
      .flatMap(idsInText)
      .filter((id) => sent.includes(id));
    expect(told).toHaveLength(new Set(told).size);
    await fleet.ok("doctor");
  });
});

async function slung(
  world: World,
  what: { readonly prompt: string } | { readonly task: string; readonly goal: string },
) {
  const outcome = await slingAgent(world, {
    ...what,
    name: "a",
    capability: "builder",
    runtime: "scripted",
    files: [],
    tags: [],
    interactive: false,
    keep: false,
    dryRun: false,
  });
  if (outcome.dryRun) throw new Error("not slung");
  return outcome.attempt;
}

/** What reached the agents, in all their sessions. */
function transcripts(fleet: Fleet): string[] {
  const home = `${fleet.state}/run/scripted`;
  return [...new Bun.Glob("projects/*/*.jsonl").scanSync({ cwd: home })].map((path) =>
    readFileSync(`${home}/${path}`, "utf8"),
  );
}

function seeded(seed: number) {
  console.log(`seed ${seed}`);
  let state = seed >>> 0 || 1;
  return {
    below(limit: number): number {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * limit);
    },
  };
}
