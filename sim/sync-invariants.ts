/**
 * What must hold of passing on what agents learn: held against the log in its order, and against what is true of the
 * agents themselves, found out here by other means than the rules that decide it.
 */
import type { Config } from "#config/schema.ts";
import type { EventOf } from "#domain/model/event.ts";
import { nodeKey } from "#domain/model/work.ts";

/** Their names, each a sentence. */
export const SYNC_INVARIANTS = [
  "nobody is told a learning twice",
  "a learning is not told to whoever found it",
  "a learning is told only to those it concerns",
  "nobody is told more learnings than the rate allows",
] as const;
export type SyncInvariant = (typeof SYNC_INVARIANTS)[number];

type Report = (invariant: SyncInvariant, detail: string) => void;

interface Worker {
  readonly node: string;
  readonly parent: number | null;
  readonly places: readonly string[];
}

export class SyncInvariants {
  /** The node above each node. */
  private readonly above = new Map<string, string | null>();
  private readonly workers = new Map<number, Worker>();
  private readonly finders = new Map<string, number[]>();
  /** By learning and node. */
  private readonly told = new Set<string>();
  private readonly times = new Map<number, number[]>();

  constructor(
    private readonly sync: Config["sync"],
    private readonly report: Report,
  ) {}

  lookAtEvent(event: EventOf): void {
    const { goalId = "", attempt = 0 } = event;
    switch (event.type) {
      case "work.added":
        this.above.set(nodeKey(goalId, event.nodeId ?? ""), event.data.parentId);
        return;
      case "agent.slung":
        this.workers.set(attempt, {
          node: nodeKey(goalId, event.nodeId ?? ""),
          parent: event.data.parent?.attempt ?? null,
          places: (event.data.scope ?? []).map((path) => path.replace(/\/?[^/]*\*.*$/, "")),
        });
        return;
      case "learning.found": {
        // One that was forgotten and comes back concerns those near to whoever found it now.
        const { learningId } = event.data;
        this.finders.set(learningId, [attempt, ...(this.finders.get(learningId) ?? [])]);
        return;
      }
      case "learning.confirmed": {
        const { learningId } = event.data;
        this.finders.set(learningId, [...(this.finders.get(learningId) ?? []), attempt]);
        return;
      }
      case "learning.relayed":
        for (const to of event.data.to) this.lookAtTelling(event.data.learningId, to, event.at);
        return;
      default:
        return;
    }
  }

  private lookAtTelling(
    learningId: string,
    { attempt, node }: { readonly attempt: number; readonly node: string },
    at: number,
  ): void {
    const what = `${learningId} to #${attempt} on ${node}`;
    if (this.told.has(`${learningId} ${node}`)) this.report("nobody is told a learning twice", what);
    this.told.add(`${learningId} ${node}`);
    const finders = (this.finders.get(learningId) ?? []).flatMap((one) => this.workers.get(one) ?? []);
    if (finders.some((one) => one.node === node)) this.report("a learning is not told to whoever found it", what);
    const [finder] = finders;
    const hearer = this.workers.get(attempt);
    if (!finder || !hearer || !this.areRelated(finder, hearer)) {
      this.report("a learning is told only to those it concerns", what);
    }
    const before = (this.times.get(attempt) ?? []).filter((time) => time > at - this.sync.rate.per && time <= at);
    if (before.length >= this.sync.rate.max) this.report("nobody is told more learnings than the rate allows", what);
    this.times.set(attempt, [...(this.times.get(attempt) ?? []), at]);
  }

  /** Tags are not played. */
  private areRelated(one: Worker, other: Worker): boolean {
    const [goal] = one.node.split("/");
    const sameParent = this.above.get(one.node) === this.above.get(other.node) && other.node.startsWith(`${goal}/`);
    const sameAsker = one.parent !== null && one.parent === other.parent;
    return sameParent || sameAsker || one.places.some((place) => place !== "" && other.places.includes(place));
  }
}
