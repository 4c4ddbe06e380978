/** When the next stage of restoring a fleet is looked at: nothing waits for the regular tick. */
import { expect, test } from "bun:test";
import { applied, attemptWith, endedWith, LIMITS, NOW, seenWith, snapshotOf } from "../../../test/support/snapshots.ts";
import { nodeWith } from "../../../test/support/tree.ts";
import { decide } from "./decide.ts";

test("MASS-1: each stage is looked at when it is due, from the death to the last that counts as alive", () => {
  const { withinMs } = LIMITS.massDeath;
  const ended = [1, 2, 3].map((attempt) => endedWith({}, { attempt, workNodeId: `T${attempt}` }));
  const nodes = ended.map(({ workNodeId }) => nodeWith("queued", { workNodeId }));
  const died = snapshotOf({ nodes, ended });
  expect(decide(died).nextDueAt).toBe(NOW + withinMs);
  const waiting = { ...applied(died, decide(died)), now: NOW + 1_000 };
  expect(decide(waiting).nextDueAt).toBe(NOW + withinMs);
  const probing = { ...waiting, now: NOW + withinMs };
  const { events } = decide(probing);
  expect(events.map(({ type }) => type)).toContain("fleet.restoring");
  // One is up again; what follows is due when it has lived for so long.
  const startedAt = NOW + withinMs + 5_000;
  const up = attemptWith({ attempt: 4, workNodeId: "T1", startedAt, createdAt: startedAt });
  const one = nodes.map((node) => (node.workNodeId === "T1" ? { ...node, status: "in_progress" as const } : node));
  const tried = { ...applied(probing, { events }, probing.now), nodes: one, actions: [] };
  const lives = { ...tried, ended: ended.slice(1), agents: [seenWith({ attempt: up })], now: startedAt + 1_000 };
  expect(decide(lives).nextDueAt).toBe(startedAt + withinMs);
});

test("MASS-1: deaths that are noticed one after another are one loss: it grows, and the first is tried after one pause", () => {
  const { withinMs, count } = LIMITS.massDeath;
  const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
  const nodes = numbers.map((number) => nodeWith("queued", { workNodeId: `T${number}`, position: number }));
  const dead = numbers.map((attempt) =>
    endedWith({}, { attempt, workNodeId: `T${attempt}`, endedAt: NOW + Math.floor((attempt - 1) / count) * 1_000 }),
  );
  let scene = snapshotOf({ nodes, ended: [] });
  const said: unknown[] = [];
  // The last is noticed with nobody else, and belongs to them all the same.
  for (const number of [3, 6, 9, 12, 15, 18, 19, 20]) {
    const ended = dead.slice(0, number);
    const now = Math.max(...ended.map(({ endedAt }) => endedAt ?? 0));
    const decided = decide({ ...scene, ended, now });
    expect(decided.nextDueAt).toBe(NOW + withinMs);
    expect(decided.actions).toEqual([]);
    said.push(...decided.events.filter(({ type }) => type === "fleet.mass_death").map(({ because }) => because));
    scene = { ...applied({ ...scene, ended, now }, decided, now), ended };
  }
  expect(said).toEqual(["died-together", ...Array.from({ length: 7 }, () => "died-with-them")]);
  expect(scene.conditions.find(({ kind }) => kind === "mass-death")).toMatchObject({
    ...{ attempts: numbers, failedProbes: 0, stage: 0, stageAt: NOW, probeAt: NOW + withinMs },
  });
  const { events } = decide({ ...scene, now: NOW + withinMs });
  expect(events.filter(({ type }) => type === "fleet.restoring")).toMatchObject([
    { data: { stage: 1, nodes: { length: 1 } } },
  ]);
});

test("MASS-1: a death long after the loss is that agent's own, also while nobody is tried yet", () => {
  const { withinMs } = LIMITS.massDeath;
  const ended = [1, 2, 3].map((attempt) => endedWith({}, { attempt, workNodeId: `T${attempt}` }));
  const nodes = [1, 2, 3, 4].map((number) => nodeWith("queued", { workNodeId: `T${number}` }));
  const died = snapshotOf({ nodes, ended });
  const now = NOW + withinMs + 1;
  const later = {
    ...applied(died, decide(died)),
    ended: [...ended, endedWith({}, { attempt: 4, workNodeId: "T4", endedAt: now })],
    now,
  };
  expect(decide(later).events.map(({ type }) => type)).not.toContain("fleet.mass_death");
});

test("MASS-1: where the last are noticed when the pause is over, the first is tried at once", () => {
  const { withinMs } = LIMITS.massDeath;
  const ended = [1, 2, 3].map((attempt) => endedWith({}, { attempt, workNodeId: `T${attempt}` }));
  const nodes = [1, 2, 3, 4].map((number) => nodeWith("queued", { workNodeId: `T${number}` }));
  const died = snapshotOf({ nodes, ended });
  const now = NOW + withinMs;
  const later = {
    ...applied(died, decide(died)),
    ended: [...ended, endedWith({}, { attempt: 4, workNodeId: "T4", endedAt: now })],
    now,
  };
  expect(decide(later).events.map(({ type }) => type)).toContain("fleet.mass_death");
  expect(decide(later).nextDueAt).toBe(now + 1);
});

const DEATHS: [what: string, nodes: readonly string[], isMassDeath: boolean][] = [
  ["three tasks lose their agents", ["T1", "T2", "T3"], true],
  ["one task loses its agent three times", ["T1", "T1", "T1"], false],
  ["one task loses its agent again and again, and so does another", ["T1", "T2", "T1", "T2", "T1"], false],
  ["one task loses its agent again and again while two others lose theirs", ["T1", "T1", "T2", "T1", "T3"], true],
];

test.each(DEATHS)("MASS-1, FAIL-6: %s", (_what, lost, isMassDeath) => {
  const ended = lost.map((workNodeId, at) =>
    endedWith({}, { attempt: at + 1, workNodeId, endedAt: NOW - lost.length + at }),
  );
  const nodes = [...new Set(lost)].map((workNodeId) => nodeWith("queued", { workNodeId }));
  const { events } = decide(snapshotOf({ nodes, ended }));
  const losses = events.filter(({ type }) => type === "fleet.mass_death");
  expect(losses.map(({ data }) => data)).toEqual(
    isMassDeath ? [expect.objectContaining({ attempts: ended.map(({ attempt }) => attempt) })] : [],
  );
});
