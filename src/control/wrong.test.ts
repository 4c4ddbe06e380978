/** A person's word about a steering: found, written once, shown in metrics, given out as labels that replay can read. */
import { expect, test } from "bun:test";
import { sentence } from "#domain/explain/why.ts";
import { attemptEvent } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import { readLabel } from "#domain/signals/replay-label.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { eventsMatching } from "#store/events.ts";
import { memoryStore } from "#store/memory.ts";
import { addRunning } from "../../test/support/attempts.ts";
import { worldOn } from "../../test/support/world.ts";
import { metrics } from "./metrics.ts";
import { exportWrong, judgeWrong } from "./wrong.ts";

async function steeredWorld(actor: "human:ada" | "agent:agent-0#1" = "human:ada") {
  const store = memoryStore();
  const [number = 0] = await addRunning(store, 1, { pid: 1, start: "1" });
  const world = worldOn(store, { actor });
  for (const anomaly of ["loop", "stall", "loop"]) {
    await store.commit({
      at: world.clock.now(),
      reads: { attempt: attemptByNumber(number) },
      decide: ({ attempt }) => {
        const data = { anomaly, fact: "it repeats itself", step: 12, text: "[SUPERVISOR] …" };
        return accept(attempt ? [attemptEvent(attempt, "overseer", "agent.steered", anomaly, data)] : [], null);
      },
    });
  }
  const { steered } = await store.read({ steered: eventsMatching({ type: "agent.steered", limit: 10 }) });
  return { world, store, steered };
}

test("ANOM-2: a steering is named by its id, or its agent for the last one, and called wrong once", async () => {
  const { world, store, steered } = await steeredWorld();
  const [first, , last] = steered;
  expect(sentence(first ?? expect.unreachable())).toContain(`(steering ${first?.seq})`);
  expect(await judgeWrong(world, `${first?.seq}`, "it waited")).toMatchObject({ anomaly: "loop", already: false });
  expect(await judgeWrong(world, `#${first?.seq}`, null)).toMatchObject({ steering: first?.seq ?? 0, already: true });
  expect(await judgeWrong(world, "agent-0", null)).toMatchObject({ steering: last?.seq ?? 0, already: false });
  const { refuted } = await store.read({ refuted: eventsMatching({ type: "agent.steering_refuted", limit: 10 }) });
  expect(refuted.map(({ data, actor }) => ({ data, actor }))).toMatchObject([
    { actor: "human:ada", data: { steering: first?.seq ?? 0, anomaly: "loop", step: 12, reason: "it waited" } },
    { data: { steering: last?.seq ?? 0 } },
  ]);
  expect(sentence(refuted[0] ?? expect.unreachable())).toBe(
    `ada said that steering ${first?.seq} of agent-0#1 was wrong (loop): "it waited".`,
  );
});

test("an attempt that is named is meant: another one's steering is not judged in its place", async () => {
  const { world, steered } = await steeredWorld();
  expect(judgeWrong(world, "agent-0#99", null)).rejects.toMatchObject({ code: "AGENT_UNKNOWN" });
  expect(await judgeWrong(world, "agent-0#1", null)).toMatchObject({ steering: steered.at(-1)?.seq ?? 0 });
});

test("metrics shows how many steerings were wrong, by anomaly", async () => {
  const { world, steered } = await steeredWorld();
  await judgeWrong(world, String(steered[0]?.seq), null);
  expect((await metrics(world, 10)).steerings).toEqual([
    { anomaly: "loop", said: 2, wrong: 1 },
    { anomaly: "stall", said: 1, wrong: 0 },
  ]);
});

test("each becomes one label, however often they are written down", async () => {
  const { world, steered } = await steeredWorld();
  await judgeWrong(world, String(steered[0]?.seq), "it waited");
  await world.files.makeDir("/labels");
  expect(await exportWrong(world, "/labels/l.ndjson")).toBe(1);
  expect(await exportWrong(world, "/labels/l.ndjson")).toBe(0);
  const label = readLabel((await world.files.read("/labels/l.ndjson")) ?? "");
  expect(label).toMatchObject({
    file: "../l/1/events.ndjson",
    anomaly: "loop",
    wrong: true,
    sure: true,
    from: { step: 12 },
  });
});

test("what is no steering is refused, and so is an agent", async () => {
  const { world, steered } = await steeredWorld();
  await expect(judgeWrong(world, "1", null)).rejects.toMatchObject({ code: "STEERING_UNKNOWN" });
  await expect(judgeWrong(world, "nobody", null)).rejects.toMatchObject({ code: "AGENT_UNKNOWN" });
  const agent = { ...world, actor: "agent:agent-0#1" as const };
  await expect(judgeWrong(agent, String(steered[0]?.seq), null)).rejects.toMatchObject({ code: "STEERING_NOT_YOURS" });
});
