/**
 * What one may ask the daemon (RPC-1): each call with the shape of its parameters, checked before anything happens, and
 * the verb of control that answers it. Hello comes first: a door of another version is refused with the next step,
 * because it would be answered by code it does not know; runners outlive updates and only have to speak the protocol.
 */
import * as z from "zod/mini";
import * as goals from "#control/goals.ts";
import * as health from "#control/health.ts";
import * as learnings from "#control/learnings.ts";
import { nudge } from "#control/mail/send.ts";
import {
  presentHealthChanges,
  presentHealths,
  presentHealthView,
  presentLearningId,
  presentLearnings,
  presentNudge,
  presentStatus,
  presentSupervisionStats,
  presentSyncs,
} from "#control/present.ts";
import { readFleetStatus } from "#control/status.ts";
import * as work from "#control/work.ts";
import type { World } from "#control/world.ts";
import { PROTOCOL } from "#domain/health/daemon-life.ts";
import { NO_EVIDENCE } from "#domain/model/crystallization.ts";
import { PRIORITIES } from "#domain/model/goal.ts";
import { NUDGE_SEVERITIES } from "#domain/model/message.ts";
import { BLOCKED_KINDS } from "#domain/model/work.ts";
import { OverseerError } from "#errors.ts";
import { logSize } from "#store/events.ts";
import type { EventStream } from "./event-stream.ts";
import type { Peer } from "./rpc-server.ts";
import type { RunnerLinks } from "./runner-links.ts";

export interface CallParts {
  readonly version: string;
  readonly instance: string;
  /** The world a person's verbs act on; another one after the configuration has changed. */
  world(): World;
  readonly stream: EventStream;
  readonly links: RunnerLinks;
  /** Resolves when a tick that began after the call has ended. */
  tick(): Promise<unknown>;
  wake(cause: string): void;
}

type Answer = (parts: CallParts, peer: Peer, params: unknown) => Promise<unknown>;

/** A call: parameters are checked, then it runs. */
function call<S extends z.ZodMiniType>(
  shape: S,
  run: (parts: CallParts, params: z.output<S>, peer: Peer) => unknown,
): Answer {
  return async (parts, peer, params) => {
    const checked = z.safeParse(shape, params ?? {});
    if (checked.success) return run(parts, checked.data, peer);
    const problems = checked.error.issues.map(({ path, message }) => `${path.join(".") || "params"}: ${message}`);
    throw new OverseerError(
      "usage",
      "INVALID_PARAMS",
      `The parameters do not fit: ${problems.slice(0, 5).join("; ")}.`,
      "docs/rpc.md lists the calls and what they take.",
    );
  };
}

const text = z.string().check(z.maxLength(64 * 1024));
const texts = z.array(text).check(z.maxLength(500));
const optional = z.optional(text);
const nothing = z.strictObject({});

const definition = {
  priority: z.optional(z.enum(PRIORITIES)),
  tags: z.optional(texts),
  problemStatement: optional,
  successCriteria: z.optional(texts),
  nonGoals: z.optional(texts),
  constraints: z.optional(texts),
  assumptions: z.optional(texts),
  risks: z.optional(z.array(z.strictObject({ risk: text, impact: text, mitigation: text })).check(z.maxLength(500))),
  owner: optional,
  stakeholders: z.optional(texts),
};

const workUpdate = z.strictObject({
  node: text,
  goal: optional,
  to: z.enum(["done", "blocked", "unblocked", "cancelled"]),
  summary: optional,
  commits: z.optional(texts),
  files: z.optional(texts),
  reason: optional,
  kind: z.optional(z.enum(BLOCKED_KINDS)),
  needs: optional,
  override: optional,
});

async function updateWork(world: World, params: z.output<typeof workUpdate>): Promise<string> {
  const words = { node: params.node, ...(params.goal === undefined ? {} : { goal: params.goal }) };
  switch (params.to) {
    case "done": {
      const evidence = { ...NO_EVIDENCE, commits: params.commits ?? [], filesTouched: params.files ?? [] };
      return work.finishWork(
        world,
        words,
        withoutUndefined({ summary: params.summary, evidence, override: params.override }),
      );
    }
    case "blocked": {
      const { kind = "other", reason = "", needs } = params;
      return work.blockWork(world, words, { kind, detail: reason, ...withoutUndefined({ needs }) });
    }
    case "unblocked":
      return work.unblockWork(world, words, params.reason);
    case "cancelled":
      return work.cancelWork(world, words, params.reason);
  }
}

/** As many as the commands list unless told otherwise. */
const FEW = 20;
const limit = z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(10_000)));
const whole = z.number().check(z.int(), z.minimum(0));
/** How many lines of a history are answered at once. */
const few = z.number().check(z.int(), z.minimum(1), z.maximum(1_000));
const DIAGNOSES_LISTED = 50;
const moved = z.strictObject({ goal: text, reason: optional });

const CALLS: Readonly<Record<string, Answer>> = {
  ping: call(nothing, ({ instance, version }) => ({ instance, version })),
  "overseer.status": call(nothing, async ({ world }) => presentStatus(await readFleetStatus(world()))),
  "goal.create": call(
    z.strictObject({ title: text, fromSession: optional, ...definition }),
    async ({ world }, input) => ({
      goalId: await goals.create(world(), withoutUndefined(input)),
    }),
  ),
  "goal.update": call(z.strictObject({ goal: text, title: optional, ...definition }), async ({ world }, input) => {
    const { goal, ...changes } = input;
    return { goalId: await goals.update(world(), goal, withoutUndefined(changes)) };
  }),
  "goal.pause": call(moved, async ({ world }, input) => ({
    goalId: await goals.pauseGoal(world(), input.goal, input.reason),
  })),
  "goal.resume": call(moved, async ({ world }, input) => ({
    goalId: await goals.resumeGoal(world(), input.goal, input.reason),
  })),
  "work.update": call(workUpdate, async ({ world }, input) => ({ node: await updateWork(world(), input) })),
  "health.get": call(z.strictObject({ agent: text }), async ({ world }, { agent }) =>
    presentHealthView(await health.readHealth(world(), agent)),
  ),
  "health.list": call(nothing, async ({ world }) => presentHealths(await health.listHealth(world()))),
  "diagnoses.list": call(
    z.strictObject({ agent: optional, limit: z.optional(few) }),
    async ({ world }, { agent, limit = DIAGNOSES_LISTED }) =>
      presentHealthChanges(
        await health.listHealthChanges(world(), { limit, ...(agent === undefined ? {} : { agent }) }),
      ),
  ),
  "supervision.stats": call(nothing, async ({ world }) =>
    presentSupervisionStats(await health.readSupervisionStats(world())),
  ),
  "agent.nudge": call(
    z.strictObject({ agent: text, text, severity: z.optional(z.enum(NUDGE_SEVERITIES)) }),
    async ({ world }, { agent, text: said, severity = "hint" }) =>
      presentNudge(await nudge(world(), agent, { text: said, severity })),
  ),
  "learnings.list": call(z.strictObject({ all: z.optional(z.boolean()), limit }), async ({ world }, input) =>
    presentLearnings(await learnings.learnings(world(), { all: input.all ?? false, limit: input.limit ?? FEW })),
  ),
  "learnings.search": call(z.strictObject({ words: text, limit }), async ({ world }, input) =>
    presentLearnings(await learnings.searchLearnings(world(), input.words, input.limit ?? FEW)),
  ),
  "learnings.add": call(
    z.strictObject({ text, tags: z.optional(texts), paths: z.optional(texts), fails: optional, fix: optional }),
    async ({ world }, { tags = [], paths = [], ...input }) =>
      presentLearningId(await learnings.addByHand(world(), { tags, paths, ...withoutUndefined(input) })),
  ),
  "learnings.forget": call(z.strictObject({ learning: text, reason: optional }), async ({ world }, input) =>
    presentLearningId((await learnings.forgetByHand(world(), input.learning, input.reason)).learningId),
  ),
  "syncs.list": call(z.strictObject({ agent: optional, limit }), async ({ world }, input) =>
    presentSyncs(await learnings.syncs(world(), { agent: input.agent, limit: input.limit ?? FEW })),
  ),
  tick: call(nothing, ({ tick }) => tick()),
  wake: call(z.strictObject({ reason: optional }), ({ wake }, { reason }) => {
    wake(reason === undefined ? "asked" : `asked: ${reason.slice(0, 80)}`);
    return { woken: true };
  }),
  subscribe: call(
    z.strictObject({ after: z.optional(whole), types: z.optional(texts) }),
    async ({ world, stream }, { after, types }, peer) => {
      const { size } = await (await world().writer()).read({ size: logSize() });
      const from = after ?? size.last;
      stream.subscribe(peer, { after: from, types: types ?? [] });
      return { after: from };
    },
  ),
  unsubscribe: call(nothing, ({ stream }, _params, peer) => {
    stream.unsubscribe(peer);
    return { subscribed: false };
  }),
};

/** All of them, as docs/rpc.md lists them. */
export const CALL_NAMES: readonly string[] = ["hello", ...Object.keys(CALLS)];

/** Calls that anybody may make before hello. */
const BEFORE_HELLO: ReadonlySet<string> = new Set(["ping"]);

export class Calls {
  private readonly known = new WeakSet<Peer>();

  constructor(private readonly parts: CallParts) {}

  async answer(peer: Peer, method: string, params: unknown): Promise<unknown> {
    if (method === "hello") return this.hello(peer, params);
    const one = Object.hasOwn(CALLS, method) ? CALLS[method] : undefined;
    if (!one) {
      throw new OverseerError(
        "usage",
        "NO_SUCH_CALL",
        `There is no call '${method.slice(0, 60)}'.`,
        `There are: ${CALL_NAMES.join(", ")}.`,
      );
    }
    if (!this.known.has(peer) && !BEFORE_HELLO.has(method)) {
      throw new OverseerError("usage", "HELLO_FIRST", "Say hello first.", "Send 'hello' with your version.");
    }
    return one(this.parts, peer, params);
  }

  private readonly hello = async (peer: Peer, params: unknown): Promise<unknown> => {
    const answer = await HELLO(this.parts, peer, params);
    this.known.add(peer);
    return answer;
  };
}

const helloShape = z.discriminatedUnion("client", [
  z.strictObject({ client: z.literal("cli"), version: text, protocol: whole }),
  z.strictObject({ client: z.literal("runner"), protocol: whole, attempt: whole, pid: whole, start: text }),
]);

const HELLO = call(helloShape, ({ version, instance, links }, hello, peer) => {
  const same = hello.protocol === PROTOCOL && (hello.client === "runner" || hello.version === version);
  if (!same) {
    throw new OverseerError(
      "conflict",
      "VERSION_MISMATCH",
      `The daemon is Overseer ${version}${hello.client === "cli" ? `, this is ${hello.version.slice(0, 40)}` : ""}.`,
      "Run 'overseer down' and 'overseer up': agents keep running meanwhile, and the new daemon adopts them.",
    );
  }
  if (hello.client === "runner" && !links.join(peer, hello)) {
    throw new OverseerError("conflict", "NO_SUCH_RUNNER", `No runner has pid ${hello.pid}.`, "Start again.");
  }
  return { version, instance, protocol: PROTOCOL };
});

/** Without the keys that were not given, which exact types want. */
function withoutUndefined<T extends object>(input: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
