/**
 * Hooks and rules know no CLI (AGENT-1): the scripted agent speaks two dialects that have no event, field, answer or tool
 * name in common, and the real hook programs record, permit, inject and keep a turn going in both.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shellCommand } from "#domain/core/shell-words.ts";
import { queueEvent } from "#domain/inbox/mailing.ts";
import { accept } from "#domain/model/decision.ts";
import { HEARD, REFUSED } from "#domain/permit/hook-moments.ts";
import type { PermitPolicy } from "#domain/permit/permit.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { startChild } from "#runner/child.ts";
import type { Preparation, Runtime } from "#runtimes/runtime.ts";
import { renderScript } from "#runtimes/scripted/language.ts";
import { makeScriptedRuntime } from "#runtimes/scripted/scripted.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { countQueuedMessages } from "#store/messages.ts";
import { openForWriting, prepareStore } from "#store/open.ts";
import { DEFAULT_SIGNAL_CAPS } from "#store/signal-log.ts";
import { connect } from "#store/sqlite/file.ts";
import type { Store } from "#store/store.ts";
import { systemProcesses } from "#sys/processes.ts";
import { addRunning } from "../support/attempts.ts";
import { run, say } from "../support/steps.ts";
import { tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(120_000);

const SRC = join(import.meta.dir, "../../src");
const part = (file: string) => [process.execPath, join(SRC, file)];
/** So small that each boundary hands over one message and tells of the rest. */
const CAP = 900;
const BODIES = ["FIRST", "SECOND", "THIRD"].map((word) => `${word} ${"and so on ".repeat(40)}`);

interface Played {
  readonly settings: string;
  readonly transcript: string;
  readonly streamed: readonly Signal[];
  readonly recorded: readonly { readonly kind: string; readonly data: Record<string, unknown> }[];
  readonly marks: readonly string[];
  readonly outside: string;
  readonly waiting: number;
}

test.each<["claude-code" | "plain", edit: string, shell: string]>([
  ["claude-code", "Write", "Bash"],
  ["plain", "put", "sh"],
])(
  "AGENT-1, HOOK-1, SCOPE-1, MAIL-2: in %s hooks record, permit, inject and keep a turn going",
  async (dialect, edit, shell) => {
    const home = tempDir("dialect-");
    const runtime = makeScriptedRuntime({ command: part("scripted-agent.ts"), home, speed: "10", dialect });
    const played = await play(runtime, home);
    const calls = played.recorded
      .filter(({ kind }) => kind === "tool.started")
      .map(({ data }) => [data.tool, data.does]);
    // Recorded by hooks alone: there is no runner. The same calls are in the stream, under the same names.
    expect(calls).toEqual([
      [edit, "edit"],
      [shell, "shell"],
      [edit, "edit"],
    ]);
    const streamed = played.streamed.flatMap((one) =>
      one.kind === "tool.started" ? [[one.data.tool, one.data.does]] : [],
    );
    expect<unknown>(streamed).toEqual(calls);
    const kinds = played.recorded.map(({ kind }) => kind);
    for (const kind of ["session.opened", "turn.started", "file.changed", "git.ran", "turn.ended", "session.closed"])
      expect(kinds).toContain(kind);
    // Permitted, and a mark left for each; refused, with a reason, and not done.
    const ended = played.streamed.flatMap((one) => (one.kind === "tool.ended" ? [one] : []));
    expect(ended.map(({ data }) => data.errorClass)).toEqual([null, null, "denied"]);
    expect(ended[2]?.data.result).toContain(`${REFUSED}${played.outside} is outside your worktree`);
    expect(existsSync(played.outside)).toBe(false);
    expect(played.marks.toSorted()).toEqual([ended[0]?.source ?? "", ended[1]?.source ?? ""].toSorted());
    // Put before the model at a boundary, and, what was left, as the reason why the turn continues.
    const heard = played.transcript.split("\n").filter((line) => line.includes("and so on ".repeat(20)));
    expect(
      heard.map((line) => [/FIRST|SECOND|THIRD/.exec(line)?.[0], line.includes("hook_additional_context")]),
    ).toEqual([
      ["FIRST", true],
      ["SECOND", false],
      ["THIRD", false],
    ]);
    expect(heard[1]).toContain("Stop hook feedback");
    // SYNC-2: what others learned is no reason to continue a turn; it waits for the next one.
    expect(played.waiting).toBe(1);
    // doctor finds the same commands, and reads the same refusal.
    const trial = runtime.hooks?.trial(played.settings, "/x");
    expect([trial?.recording.command, trial?.permit.command]).not.toContain("");
    expect(trial?.refusalIn(runtime.hooks?.dialect.deny("no") ?? "")).toContain("no");
    expect(trial?.refusalIn("")).toBeNull();
  },
);

async function play(runtime: Runtime, home: string): Promise<Played> {
  const repo = tempRepo();
  const state = join(repo.path, ".git/overseer");
  const directory = join(state, "run/attempts/1");
  mkdirSync(join(directory, HEARD), { recursive: true });
  const database = `${state}/overseer.db`;
  await prepareStore({ address: database, backupDir: `${database}.backups`, now: 0 });
  const store = await openForWriting({ address: database });
  await addRunning(store, 1, { pid: process.pid, start: "1" });
  await queueAll(store);
  writeFileSync(join(directory, "policy.json"), JSON.stringify(policyFor(repo.path, state, directory)));
  writeFileSync(join(directory, "launch.json"), JSON.stringify({ injectionCap: CAP }));
  writeFileSync(join(directory, "system-prompt.md"), "You are a builder.\n");
  const request = requestFor(repo.path, directory);
  for (const file of runtime.prepare(request)) await Bun.write(file.path, file.text);
  const outside = join(home, "outside.txt");
  const script = renderScript([
    { kind: "edit", file: join(repo.path, "a.txt"), content: "x" },
    run("git checkout -q -b other"),
    { kind: "edit", file: outside, content: "x" },
    say("Done."),
  ]);
  const streamed = await drive(runtime, request, `work ${script}`);
  const { waiting } = await store.read({ waiting: countQueuedMessages(1, { fresh: false }) });
  await store.close();
  return {
    settings: readFileSync(join(directory, runtime.hooks?.file ?? ""), "utf8"),
    transcript: readFileSync(runtime.sessionFile(request.session) ?? "", "utf8"),
    streamed,
    recorded: recordedIn(database),
    marks: readdirSync(join(directory, HEARD)),
    outside,
    waiting,
  };
}

async function drive(runtime: Runtime, request: Preparation, text: string): Promise<Signal[]> {
  const reader = runtime.reader(1);
  const signals: Signal[] = [];
  const child = startChild(runtime.launch(request), systemProcesses(), {
    line: (line) => signals.push(...reader.read(line, Date.now())),
    error: (line) => console.error(line),
  });
  await child.write(runtime.render({ id: crypto.randomUUID(), text }));
  child.closeInput();
  await child.exited;
  return signals;
}

async function queueAll(store: Store): Promise<void> {
  const outcome = await store.commit({
    at: 1,
    reads: { attempt: attemptByNumber(1) },
    decide: ({ attempt }) => {
      if (!attempt) throw new Error("There is no attempt.");
      const letters = BODIES.map((body, at) => ({ messageId: `m_${at}`, kind: "mail", from: "human", body }) as const);
      const body = `LEARNED ${"and so on ".repeat(40)}`;
      const learned = { messageId: "m_l", kind: "sync", from: "agent-1", body, tone: "fyi" } as const;
      return accept(
        [...letters, learned].map((letter) => queueEvent(attempt, letter, "human:ada", "x")),
        null,
      );
    },
  });
  expect(outcome.ok).toBe(true);
}

function policyFor(repo: string, state: string, directory: string): PermitPolicy {
  return {
    v: 1,
    attempt: 1,
    agent: "agent-0",
    worktree: repo,
    scope: null,
    readOnly: false,
    mainCheckout: repo,
    gitCommonDir: join(repo, ".git"),
    state,
    scratch: [],
    heard: join(directory, HEARD),
    // So that hooks are the source of everything, and hand over what waits.
    interactive: true,
    signalCaps: DEFAULT_SIGNAL_CAPS,
  };
}

function requestFor(repo: string, directory: string): Preparation {
  const { PATH = "", HOME = "", TMPDIR = "" } = process.env;
  return {
    ...{ worktree: repo, directory, session: crypto.randomUUID(), resume: false, model: null },
    ...{ permissionMode: "bypassPermissions", allowTools: [], denyTools: [] },
    systemPromptFile: join(directory, "system-prompt.md"),
    env: { PATH, HOME, TMPDIR, OVERSEER_ROOT: repo, OVERSEER_AGENT: "agent-0", OVERSEER_ATTEMPT: "1" },
    hooks: {
      hookCommand: shellCommand(part("hook.ts")),
      permitCommand: shellCommand([...part("permit-hook.ts"), join(directory, "policy.json")]),
      ...{ userHooks: [], deniedPaths: [], wakePipe: null, steered: true },
    },
  };
}

function recordedIn(database: string): Played["recorded"] {
  const db = connect(database, true);
  try {
    const rows = db.query<{ kind: string; data: string }, []>("select kind, data from signals order by id").all();
    return rows.map(({ kind, data }) => ({ kind, data: JSON.parse(data) as Record<string, unknown> }));
  } finally {
    db.close();
  }
}
