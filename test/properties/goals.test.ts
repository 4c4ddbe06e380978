/**
 * What holds for any sequence of commands about goals and work, whoever gives them and in whatever order, on both
 * stores. A failure prints its seed and the shortest sequence that shows it.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { exportDocument, importDocument } from "#control/upkeep/transfer.ts";
import { ASSIGNMENT_MOVES } from "#domain/model/assignment.ts";
import type { EventOf } from "#domain/model/event.ts";
import { apply, type Entity, listTouched } from "#domain/model/fold.ts";
import { GOAL_MOVES } from "#domain/model/goal.ts";
import { QUESTION_MOVES } from "#domain/model/question.ts";
import { WORK_MOVES } from "#domain/model/work.ts";
import { settle } from "#domain/plans/settle.ts";
import { OverseerError } from "#errors.ts";
import { goalById } from "#store/goals.ts";
import { memoryStore } from "#store/memory.ts";
import { openForWriting, prepareStore } from "#store/open.ts";
import type { Store } from "#store/store.ts";
import { nodesOfGoal } from "#store/work.ts";
import { makeSeededIds } from "#sys/virtual-ids.ts";
import { ADA } from "../support/samples.ts";
import { scaled } from "../support/scale.ts";
import { PLANTED_SECRETS } from "../support/secrets.ts";
import { tempDir } from "../support/temp.ts";
import { worldOn } from "../support/world.ts";
import { anyCommands, type Command, run } from "./commands.ts";

/** Far beyond what the rounds take at any scale; Bun's own five seconds are not. */
const PATIENCE_MS = 600_000;

const directory = tempDir("properties-");
let databases = 0;

async function freshDatabase(): Promise<string> {
  databases += 1;
  const path = `${directory}/${databases}.db`;
  await prepareStore({ address: path, backupDir: `${directory}/backups`, now: 0 });
  return path;
}

const MEMORY = async () => memoryStore();
const SQLITE = async () => openForWriting({ address: await freshDatabase() });

/** Runs them all; an error must be one of ours, say what to do next, and leave everything as it was. */
async function runAll(store: Store, commands: readonly Command[]): Promise<void> {
  const world = worldOn(store);
  const made: string[] = [];
  for (const command of commands) {
    const before = await wholeOf(store);
    try {
      await run(world, command, made);
    } catch (error) {
      expectRefusal(error);
      expect(await wholeOf(store)).toBe(before);
    }
  }
}

async function wholeOf(store: Store): Promise<string> {
  return JSON.stringify([await store.dump(), (await logOf(store)).length]);
}

function logOf(store: Store): Promise<readonly EventOf[]> {
  return store.log({ after: 0, limit: 1_000_000 });
}

function expectRefusal(error: unknown): void {
  if (!(error instanceof OverseerError)) throw error;
  expect(error.kind).not.toBe("internal");
  expect(error.message).not.toBe("");
  expect(error.hint).not.toBe("");
}

const TABLES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  goal: GOAL_MOVES,
  node: WORK_MOVES,
  assignment: ASSIGNMENT_MOVES,
  question: QUESTION_MOVES,
};

/** Follows each thing through the log, by the move tables alone. */
function expectLegalMoves(log: readonly EventOf[]): void {
  expect(log.map((event) => event.seq)).toEqual(log.map((_, index) => index + 1));
  const now = new Map<string, Entity>();
  for (const event of log) {
    for (const { kind, id } of listTouched(event)) {
      const before = now.get(`${kind} ${id}`);
      const after = apply(kind, before as never, event);
      if (!after) continue;
      now.set(`${kind} ${id}`, after);
      if (!before || !("status" in before) || !("status" in after) || before.status === after.status) continue;
      expect(TABLES[kind]?.[before.status]).toContain(after.status);
    }
  }
}

/** Nothing that should have followed is missing. */
async function expectSettled(store: Store): Promise<void> {
  for (const { doc } of (await store.dump()).filter((row) => row.kind === "goal")) {
    const { goalId } = doc as { goalId: string };
    const { goal, nodes } = await store.read({ goal: goalById(goalId), nodes: nodesOfGoal(goalId) });
    if (goal) expect(settle({ goal, nodes }, ADA)).toEqual([]);
  }
}

async function expectRebuildsEqual(store: Store): Promise<void> {
  const before = await store.dump();
  await store.rebuild();
  expect(await store.dump()).toEqual(before);
}

async function exported(store: Store): Promise<string> {
  let text = "";
  for await (const piece of exportDocument(store)) text += piece;
  return text;
}

async function expectImportsEqual(store: Store, empty: () => Promise<Store>): Promise<void> {
  const text = await exported(store);
  const other = await empty();
  await importDocument(other, text);
  expect(await other.dump()).toEqual(await store.dump());
  expect(await exported(other)).toBe(text);
  await other.close();
}

test(
  "STORE-1, STORE-8, WORK-2: any commands, in memory",
  async () => {
    await fc.assert(
      fc.asyncProperty(anyCommands, async (commands) => {
        const store = await MEMORY();
        await runAll(store, commands);
        expectLegalMoves(await logOf(store));
        await expectSettled(store);
        await expectRebuildsEqual(store);
        await expectImportsEqual(store, MEMORY);
      }),
      { numRuns: scaled(100) },
    );
  },
  PATIENCE_MS,
);

test(
  "STORE-1, STORE-8, WORK-2: any commands, on SQLite, which ends up equal to memory",
  async () => {
    await fc.assert(
      fc.asyncProperty(anyCommands, async (commands) => {
        const [store, twin] = [await SQLITE(), await MEMORY()];
        await runAll(store, commands);
        await runAll(twin, commands);
        expect(await store.dump()).toEqual(await twin.dump());
        expect(JSON.parse(await exported(store))).toEqual(JSON.parse(await exported(twin)));
        expectLegalMoves(await logOf(store));
        await expectRebuildsEqual(store);
        await expectImportsEqual(store, SQLITE);
        await store.close();
      }),
      { numRuns: scaled(20) },
    );
  },
  PATIENCE_MS,
);

test(
  "STORE-1, WORK-2: two callers racing on two connections of one file",
  async () => {
    await fc.assert(
      fc.asyncProperty(anyCommands, anyCommands, async (mine, yours) => {
        const path = await freshDatabase();
        const made: string[] = [];
        const race = async (commands: readonly Command[], seed: number) => {
          const store = await openForWriting({ address: path });
          const world = worldOn(store, { ids: makeSeededIds(seed), actor: `human:racer${seed}` });
          for (const command of commands) await run(world, command, made).catch(expectRefusal);
          await store.close();
        };
        await Promise.all([race(mine, 1), race(yours, 2)]);
        const store = await openForWriting({ address: path });
        expectLegalMoves(await logOf(store));
        await expectSettled(store);
        await expectRebuildsEqual(store);
        await store.close();
      }),
      { numRuns: scaled(20) },
    );
  },
  PATIENCE_MS,
);

test(
  "STORE-7: no command leaves a secret behind",
  async () => {
    await fc.assert(
      fc.asyncProperty(anyCommands, async (commands) => {
        const store = await MEMORY();
        await runAll(store, commands);
        const everything = await exported(store);
        for (const { secret } of PLANTED_SECRETS.slice(0, 8)) {
          expect(everything.includes(JSON.stringify(secret).slice(1, -1))).toBe(false);
        }
      }),
      { numRuns: scaled(30) },
    );
  },
  PATIENCE_MS,
);
