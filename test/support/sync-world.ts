/** A fleet in memory whose agents do what a test says, and turns of the sync over it. */
import type { Config } from "#config/schema.ts";
import { defaultConfig } from "#config/schema.ts";
import { NO_USAGE } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Message } from "#domain/model/message.ts";
import { SyncMemory, type SyncTurn, turnSync } from "#engine/sync.ts";
import { memoryStore } from "#store/memory.ts";
import { messagesLike } from "#store/messages.ts";
import { addRunning } from "./attempts.ts";
import { ADA } from "./samples.ts";
import { type TestWorld, worldOn } from "./world.ts";

export interface SyncFleet {
  readonly world: TestWorld;
  readonly store: ReturnType<typeof memoryStore>;
  /** The numbers of the attempts; each on a goal of its own. */
  readonly attempts: readonly number[];
  turn(): Promise<SyncTurn>;
  /** The same daemon's memory is gone. */
  restart(): void;
  run(attempt: number, command: string, ok: boolean, result?: string): Promise<void>;
  write(...events: readonly NewEvent[]): Promise<void>;
  /** Handed over and seen. */
  see(message: Message): Promise<void>;
  /** The newest first. */
  syncs(): Promise<Message[]>;
  end(attempt: number): Promise<void>;
}

/** `tags[n]`: the tags of the goal of the n-th attempt. */
export async function syncFleet(
  tags: readonly (readonly string[])[],
  config: Config = defaultConfig(),
): Promise<SyncFleet> {
  const store = memoryStore();
  const world: TestWorld = { ...worldOn(store), config: async () => config };
  const attempts = await addRunning(store, tags.length, { pid: 7, start: "7" });
  let memory = new SyncMemory();
  let calls = 0;
  const write = async (...events: readonly NewEvent[]) => {
    await store.commit({ at: world.clock.now(), reads: {}, decide: () => accept(events, null) });
  };
  for (const [index, own] of tags.entries()) {
    const goalId = `goal_RUNNING${String(index).padStart(3, "0")}`;
    await write({
      type: "goal.updated",
      actor: ADA.actor,
      goalId,
      because: "asked-for",
      data: { changes: { tags: own } },
    });
  }
  const about = (attempt: number) =>
    ({ actor: "overseer", agent: `agent-${attempts.indexOf(attempt)}`, attempt }) as const;
  return {
    ...{ world, store, attempts, write },
    turn: () => turnSync(world, memory),
    restart() {
      memory = new SyncMemory();
    },
    async run(attempt, command, ok, result = "") {
      calls += 1;
      const source = `toolu_${calls}`;
      const args = JSON.stringify({ command });
      const at = world.clock.now();
      await store.signals.record(attempt, `agent-${attempts.indexOf(attempt)}`, [
        {
          ...{ kind: "tool.started", source, phase: "started", at },
          data: { tool: "Bash", does: "shell", argsHash: args, args, sub: null },
        },
        {
          ...{ kind: "tool.ended", source, phase: "ended", at },
          data: { tool: "Bash", ok, errorClass: null, ms: 1, result },
        },
      ]);
      await world.clock.advance(1_000);
    },
    async see({ messageId, attempt }) {
      await write(
        { ...about(attempt), type: "message.handed", because: "boundary", data: { messageId, handedAs: "h" } },
        { ...about(attempt), type: "message.seen", because: "echoed", data: { messageId } },
      );
      await world.clock.advance(1_000);
    },
    syncs: async () => (await store.read({ found: messagesLike({ kind: "sync", limit: 100 }) })).found,
    async end(attempt) {
      const data = {
        cause: "finished",
        detail: "Done.",
        exitCode: 0,
        signal: null,
        usage: NO_USAGE,
        wip: null,
      } as const;
      await write({ ...about(attempt), type: "agent.ended", because: "finished", data });
    },
  };
}
