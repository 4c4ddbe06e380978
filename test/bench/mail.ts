/**
 * What it costs to look into an inbox and to send: the commands as agents' hooks and people run them, against Bun with
 * nothing to do. A look must cost the same however much was ever written, so it is measured with an empty inbox and
 * with ten thousand messages behind it.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attemptEvent } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { openForWriting } from "#store/open.ts";
import { connect } from "#store/sqlite/file.ts";
import type { Store } from "#store/store.ts";
import { systemProcesses } from "#sys/processes.ts";
import { addRunning, provenAttempt } from "../support/attempts.ts";
import { gitIn } from "../support/git-in.ts";
import { cpuOf, type Measure, turnAbout } from "./row.ts";

const OVERSEER = join(import.meta.dir, "../../bin/overseer");

/** A repository with one agent at work, and so many messages that it has seen. */
async function place(scratch: string, stored: number): Promise<{ repo: string; attempt: number }> {
  const repo = join(scratch, `mail-${stored}-${crypto.randomUUID().slice(0, 8)}`);
  mkdirSync(repo, { recursive: true });
  gitIn(repo, "init", "--quiet");
  const who = ["-c", "user.name=Bench", "-c", "user.email=bench@example.invalid"];
  gitIn(repo, ...who, "commit", "-qm", "x", "--allow-empty");
  cpuOf([OVERSEER, "init"], repo);
  cpuOf([OVERSEER, "goal", "create", "The first"], repo); // leaves the checked copy of the configuration behind
  const store = await openForWriting({ address: join(repo, ".git/overseer/overseer.db") });
  // It counts as its runner, and is only ever poked with a signal that it ignores.
  const [attempt = 0] = await addRunning(store, 1, systemProcesses().self());
  await quieten(store, attempt);
  for (let first = 0; first < stored; first += 1_000) await store1000(store, attempt, first);
  await store.close();
  return { repo, attempt };
}

/** Its first instruction has been seen: nothing waits. */
async function quieten(store: Store, attempt: number): Promise<void> {
  await store.commit({
    at: Date.now(),
    reads: { one: attemptByNumber(attempt) },
    decide: ({ one }) =>
      accept(one ? [attemptEvent(one, "overseer", "message.seen", "bench", { messageId: "m_RUNNING0" })] : [], null),
  });
}

async function store1000(store: Store, attempt: number, first: number): Promise<void> {
  await store.commit({
    at: Date.now(),
    reads: { one: attemptByNumber(attempt) },
    decide: ({ one }) => {
      const events: NewEvent[] = [];
      for (let index = first; one && index < first + 1_000; index += 1) {
        const messageId = `m_${String(index).padStart(10, "0")}`;
        const letter = { messageId, kind: "mail", from: "human", subject: `number ${index}`, body: "b" } as const;
        events.push(attemptEvent(one, "human:ada", "message.queued", "bench", letter));
        events.push(attemptEvent(one, "overseer", "message.seen", "bench", { messageId }));
      }
      return accept(events, null);
    },
  });
}

function mail(stored: number, words: readonly string[]): Measure {
  return async ({ quick, scratch, until }) => {
    const { repo, attempt } = await place(scratch, stored);
    const agent = words.includes("send")
      ? {}
      : { ...provenAttempt(join(repo, ".git/overseer"), attempt, "agent-0"), OVERSEER_ROOT: repo };
    const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...agent };
    // As beside a living agent: its runner has the database open, so nobody else is the last to close it.
    const runner = connect(join(repo, ".git/overseer/overseer.db"), false);
    runner.query("select 1 from attempts").get();
    const empty = join(scratch, "empty.js");
    writeFileSync(empty, "");
    const cpu = (argv: readonly string[]) => {
      const done = Bun.spawnSync([...argv], { cwd: repo, env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
      if (done.exitCode !== 0) throw new Error(`${argv.join(" ")} ended with ${done.exitCode}: ${done.stderr}`);
      return Number(done.resourceUsage.cpuTime.total) / 1000;
    };
    try {
      return await turnAbout(
        { turns: quick ? 20 : 200, until },
        () => cpu([OVERSEER, ...words]),
        () => cpu([process.execPath, empty]),
      );
    } finally {
      runner.close();
    }
  };
}

const SEND = ["mail", "send", "--to", "agent-0", "--subject", "The API", "--body", "Please use the second version."];

export const lookInto = (stored: number): Measure => mail(stored, ["mail", "check", "--inject"]);
export const send: Measure = mail(0, SEND);
