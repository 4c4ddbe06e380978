/**
 * ORCH-1 on a store in memory: letters of the log reach exactly one session, once, whoever opens, prompts, loses what
 * it was handed, dies and comes back; and off is off.
 */
import { expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { settleHanded } from "#act/lead/hand-over.ts";
import { postLetters } from "#act/lead/post-letters.ts";
import { idsInText } from "#act/messages/trace-messages.ts";
import { accept } from "#domain/model/decision.ts";
import type { Message } from "#domain/model/message.ts";
import { type VirtualProcesses, virtualProcesses } from "#sim/virtual-processes.ts";
import { eventsMatching } from "#store/events.ts";
import { memoryStore } from "#store/memory.ts";
import { messagesLike } from "#store/messages.ts";
import type { Store } from "#store/store.ts";
import { scaled } from "../../test/support/scale.ts";
import { tempDir } from "../../test/support/temp.ts";
import { type TestWorld, worldOn } from "../../test/support/world.ts";
import { answerLeadHook, type LeadMoment, readLead, switchLead } from "./lead.ts";

/** Sessions of a person, each with a process and a transcript that keeps what its model was shown. */
class Desk {
  readonly store: Store = this.racing(memoryStore());
  private readonly processes: VirtualProcesses = virtualProcesses();
  private readonly world: TestWorld = { ...worldOn(this.store), processes: this.processes };
  private readonly pids = new Map<string, number>();
  private readonly directory = tempDir("lead-");
  private happenings = 0;
  private races = 0;
  /** No letter can be written. */
  isFull = false;
  /** What sessions were really shown, by letter. */
  readonly shown: string[] = [];

  /** Where that session's transcript lies, as its CLI says. */
  transcriptOf(session: string): string {
    return join(this.directory, `${session}.jsonl`);
  }

  switch(on: boolean): Promise<boolean> {
    return switchLead(this.world, on);
  }

  view() {
    return readLead(this.world);
  }

  /** Something happens after each of the next reads, before the next one. */
  raceNext(reads: number): void {
    this.races = reads;
  }

  get happened(): number {
    return this.happenings;
  }

  async happen(): Promise<void> {
    this.happenings += 1;
    const account = `account-${this.happenings}`;
    await this.store.commit({
      at: this.world.clock.now(),
      reads: {},
      decide: () =>
        accept([{ type: "quota.restored", actor: "overseer", because: "test", data: { account } } as never], null),
    });
  }

  /** What its hook answers; `takes`: whether it gets as far as the model. */
  async at(
    session: string,
    moment: LeadMoment,
    { takes = true, source = "startup", hidden = false } = {},
  ): Promise<string> {
    const pid = this.pids.get(session) ?? this.processes.spawn().pid;
    this.pids.set(session, pid);
    const transcript = this.transcriptOf(session);
    const world = { ...this.world, env: { ...(!hidden && { CLAUDE_PID: String(pid) }) } };
    const said = (await answerLeadHook(world, moment, { session, transcript, source })) ?? "";
    if (takes && said !== "") this.take(session, said);
    return said;
  }

  /** Its model is shown what the hook said. */
  take(session: string, said: string): void {
    const context = (JSON.parse(said) as Hooked).hookSpecificOutput.additionalContext;
    const attachment = { type: "hook_additional_context", hookEvent: "UserPromptSubmit", content: [context] };
    this.write(session, { type: "attachment", attachment });
    this.shown.push(...idsInText(context));
  }

  write(session: string, line: object): void {
    appendFileSync(this.transcriptOf(session), `${JSON.stringify(line)}\n`);
  }

  /** An agent writes. */
  async mail(): Promise<void> {
    const data = { messageId: "m_mail", kind: "mail", from: "builder-1", body: "Hello" } as const;
    await this.store.commit({
      at: this.world.clock.now(),
      reads: {},
      decide: () =>
        accept([{ type: "message.queued", actor: "overseer", agent: "orchestrator", because: "test", data }], null),
    });
  }

  async pass(ms: number): Promise<void> {
    await this.world.clock.advance(ms);
  }

  die(session: string): void {
    const pid = this.pids.get(session);
    if (pid !== undefined) this.processes.exit(pid);
    this.pids.delete(session);
  }

  /** As the daemon does. */
  async look(): Promise<void> {
    await postLetters(this.store, this.world.clock.now());
    await settleHanded(this.store, this.processes, this.world.clock.now());
  }

  private racing(store: Store): Store {
    return {
      ...store,
      read: async (reads) => {
        const found = await store.read(reads);
        if (this.races > 0) {
          this.races -= 1;
          await this.happen();
        }
        return found;
      },
      commit: (request) =>
        store.commit({
          ...request,
          decide: (seen) => {
            const decided = request.decide(seen);
            const writes = decided.ok && decided.events.some(({ type }) => type === "message.queued");
            if (writes && this.isFull) throw new Error("the disk is full");
            return decided;
          },
        }),
    };
  }

  /** The log is read from its beginning again. */
  async readAgain(): Promise<void> {
    const data = { cursor: 0, letters: 0 };
    await this.store.commit({
      at: this.world.clock.now(),
      reads: {},
      decide: () => accept([{ type: "lead.read", actor: "overseer", because: "test", data }], null),
    });
  }

  /** How often a letter was written, as the log has it. */
  async written(): Promise<number> {
    const { events } = await this.store.read({ events: eventsMatching({ type: "message.queued", limit: 1_000 }) });
    return events.length;
  }

  async letters(): Promise<Message[]> {
    return (await this.store.read({ found: messagesLike({ to: "orchestrator", limit: 1_000 }) })).found;
  }
}

interface Hooked {
  readonly hookSpecificOutput: { readonly additionalContext: string };
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: "happen" } as const) },
  { weight: 2, arbitrary: fc.constant({ kind: "look" } as const) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("race" as const), reads: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("prompt" as const),
      session: fc.constantFrom("a", "b"),
      takes: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("start" as const, "stop" as const, "close" as const, "kill" as const),
      session: fc.constantFrom("a", "b"),
    }),
  },
);

test("ORCH-1, MAIL-3: whatever sessions do, each letter reaches one of them, once, and has its receipt", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const desk = new Desk();
      await desk.switch(true);
      for (const one of steps) {
        if (one.kind === "happen") await desk.happen();
        else if (one.kind === "race") desk.raceNext(one.reads);
        else if (one.kind === "look") await Promise.all([desk.look(), desk.look()]);
        else if (one.kind === "prompt") {
          await desk.at(one.session, "UserPromptSubmit", { takes: one.takes });
          // What its hook said is lost with a session that ends before it could write it down.
          if (!one.takes) desk.die(one.session);
        } else if (one.kind === "start") await desk.at(one.session, "SessionStart");
        else if (one.kind === "stop") await desk.at(one.session, "Stop");
        else {
          if (one.kind === "close") await desk.at(one.session, "SessionEnd");
          desk.die(one.session);
        }
      }
      for (const session of ["a", "b"]) desk.die(session);
      desk.raceNext(0);
      await desk.at("c", "SessionStart");
      await desk.at("c", "UserPromptSubmit");
      await desk.at("c", "Stop");
      expect(desk.shown.toSorted()).toEqual([...new Set(desk.shown)].sort());
      expect(desk.shown).toHaveLength(desk.happened);
      expect(await desk.written()).toBe(desk.happened);
      expect((await desk.letters()).map(({ status }) => status)).toEqual(desk.shown.map(() => "seen"));
    }),
    { numRuns: scaled(150) },
  );
});

test("ORCH-1: one leads; the second is told at its start, gets nothing, and takes over when the first has closed", async () => {
  const desk = new Desk();
  await desk.switch(true);
  expect(await desk.at("a", "SessionStart")).toContain("You are the orchestrator");
  expect(await desk.at("b", "SessionStart")).toContain("Another session (`a`");
  await desk.happen();
  expect(await desk.at("b", "UserPromptSubmit")).toBe("");
  await desk.at("b", "SessionEnd"); // frees no place that is another's
  expect(await desk.view()).toMatchObject({ on: true, session: "a" });
  expect(await desk.at("a", "UserPromptSubmit")).toContain("The quota of account-1 is back.");
  await desk.at("a", "SessionEnd");
  expect(await desk.view()).toMatchObject({ session: null, waiting: 0 });
  expect(await desk.at("b", "UserPromptSubmit")).toContain("You are the orchestrator");
});

test("ORCH-1, MAIL-3: what happens while the log is read gets one letter, and those after it theirs", async () => {
  const desk = new Desk();
  await desk.switch(true);
  await desk.at("a", "SessionStart");
  for (let reads = 1; reads <= 4; reads += 1) {
    desk.raceNext(reads);
    await desk.at("a", "UserPromptSubmit");
    await desk.at("a", "Stop");
    desk.raceNext(0);
    await desk.happen();
    await desk.look();
  }
  expect(await desk.at("a", "SessionStart")).toContain("You are the orchestrator");
  await desk.at("a", "UserPromptSubmit");
  await desk.at("a", "Stop");
  expect(new Set(desk.shown).size).toBe(desk.happened);
  expect(desk.shown).toHaveLength(desk.happened);
  expect((await desk.view()).failure).toBeNull();
});

test("ORCH-1: a session whose letters cannot be written is told where it stands, and status says why", async () => {
  const desk = new Desk();
  await desk.switch(true);
  desk.isFull = true;
  await desk.happen();
  expect(await desk.at("a", "SessionStart")).toContain("You are the orchestrator");
  expect((await desk.view()).failure).toMatchObject({
    moment: "SessionStart",
    problem: expect.stringContaining("disk is full"),
  });
  desk.isFull = false;
  expect(await desk.at("a", "UserPromptSubmit")).toContain("account-1");
  expect((await desk.view()).failure).toBeNull();
});

test("ORCH-1: a letter that is there already is not written again, and keeps none back", async () => {
  const desk = new Desk();
  await desk.switch(true);
  await desk.happen();
  await desk.look();
  await desk.at("a", "UserPromptSubmit");
  await desk.at("a", "Stop");
  // A place in the log from before a letter, as an earlier version left it.
  await desk.readAgain();
  await desk.happen();
  expect(await desk.at("a", "UserPromptSubmit")).toContain("account-2");
  expect(desk.shown).toHaveLength(2);
});

test("ORCH-1, EDGE-6: a pipe in the place of a transcript holds up neither hooks nor the daemon", async () => {
  const desk = new Desk();
  await desk.switch(true);
  Bun.spawnSync(["mkfifo", desk.transcriptOf("a")]);
  await desk.at("a", "SessionStart", { takes: false });
  await desk.happen();
  expect(await desk.at("a", "UserPromptSubmit", { takes: false })).toContain("account-1");
  await desk.look();
  await desk.at("a", "Stop");
  expect((await desk.letters()).map(({ status }) => status)).toEqual(["handed"]);
});

test("ORCH-1, RCPT-1: mail that a session has seen is not handed again after off and on", async () => {
  for (const late of [false, true]) {
    const desk = new Desk();
    await desk.switch(true);
    await desk.mail();
    const said = await desk.at("a", "UserPromptSubmit", { takes: !late });
    await desk.switch(false);
    if (late) desk.take("a", said);
    await desk.switch(true);
    desk.die("a");
    await desk.at("b", "UserPromptSubmit");
    expect(desk.shown).toHaveLength(1);
    expect((await desk.letters()).map(({ status }) => status)).toEqual(["seen"]);
  }
});

test("ORCH-1: a session that nobody can see holds the place for an hour of silence", async () => {
  const desk = new Desk();
  await desk.switch(true);
  expect(await desk.at("a", "SessionStart", { hidden: true })).toContain("You are the orchestrator");
  await desk.pass(59 * 60_000);
  expect(await desk.at("b", "SessionStart")).toContain("Another session (`a`");
  await desk.pass(60_000);
  expect(await desk.view()).toMatchObject({ session: null });
  expect(await desk.at("b", "UserPromptSubmit")).toContain("You are the orchestrator");
});

test("RCPT-1: a letter's tag is no receipt in a tool's result, in a session's own words or in another hook's", async () => {
  const desk = new Desk();
  await desk.switch(true);
  await desk.mail();
  const said = await desk.at("a", "UserPromptSubmit", { takes: false });
  const tag = '<overseer-mail id="m_mail" from="builder-1">';
  expect([said.includes("m_mail"), idsInText(tag)]).toEqual([true, ["m_mail"]]);
  const result = { type: "tool_result", tool_use_id: "t", content: tag };
  desk.write("a", { type: "user", message: { role: "user", content: [result] }, toolUseResult: { stdout: tag } });
  desk.write("a", { type: "assistant", message: { role: "assistant", content: [{ type: "text", text: tag }] } });
  desk.write("a", { type: "user", message: { role: "user", content: tag } });
  const attachment = { type: "hook_additional_context", hookEvent: "PostToolUse", content: [tag] };
  desk.write("a", { type: "attachment", attachment });
  await desk.look();
  expect((await desk.letters()).map(({ status }) => status)).toEqual(["handed"]);
  desk.take("a", said);
  await desk.look();
  expect((await desk.letters()).map(({ status }) => status)).toEqual(["seen"]);
});

test("PRIME-1: a compacted session is told again in short, and of letters only that they wait", async () => {
  const desk = new Desk();
  await desk.switch(true);
  await desk.at("a", "SessionStart");
  await desk.happen();
  const again = await desk.at("a", "SessionStart", { source: "compact" });
  expect(again).toContain("You are the orchestrator");
  expect(again).toContain("1 letter waits for you");
  expect(desk.shown).toEqual([]);
});

test("ORCH-1: off, nothing is said or written, and what happens meanwhile is no news later", async () => {
  const desk = new Desk();
  expect(await desk.at("a", "SessionStart")).toBe("");
  await desk.happen();
  expect(await desk.letters()).toEqual([]);
  expect([await desk.switch(true), await desk.switch(true)]).toEqual([true, false]);
  await desk.happen();
  await desk.look();
  expect([await desk.switch(false), await desk.switch(false)]).toEqual([true, false]);
  expect((await desk.letters()).map(({ status }) => status)).toEqual(["expired"]);
  expect(await desk.view()).toMatchObject({ on: false, session: null, waiting: 0 });
  await desk.happen();
  await desk.switch(true);
  expect(await desk.at("a", "UserPromptSubmit")).not.toContain("account-");
});
