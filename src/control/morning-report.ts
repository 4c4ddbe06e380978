/** What happened while nobody looked (REPORT-1): gathers it, and lets the domain tell it. It reads and never writes. */
import type { MorningReport } from "#domain/explain/morning.ts";
import { reportMorning } from "#domain/explain/morning.ts";
import { OverseerError } from "#errors.ts";
import { attemptsLivedSince, morningEvents, nodeNames } from "#store/morning.ts";
import { pulsesOfLiving } from "#store/signals.ts";
import { readFleetStatus } from "./status.ts";
import type { World } from "./world.ts";

/** More than anybody reads. */
const MOST_EVENTS = 50_000;

export async function readMorningReport(world: World, sinceAt: number): Promise<MorningReport> {
  const store = await world.reader();
  const { events, attempts, pulses, names } = await store.read({
    events: morningEvents(sinceAt, MOST_EVENTS),
    attempts: attemptsLivedSince(sinceAt),
    pulses: pulsesOfLiving(),
    names: nodeNames(),
  });
  const status = await readFleetStatus(world);
  const used = new Map(pulses.map(({ attempt, usage }) => [attempt, usage]));
  return reportMorning({
    ...{ project: status.project, sinceAt, at: world.clock.now(), events, names },
    ...{ goals: status.goals, standstills: status.standstills },
    sessions: attempts.map((attempt) => ({ attempt, usage: used.get(attempt.attempt) })),
  });
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `12h`, `2d`, or a day or moment as ISO 8601 has it. */
export function parseSince(text: string, now: number): number {
  const span = /^(\d{1,5})([mhd])$/.exec(text.trim());
  if (span) return now - Number(span[1]) * (UNITS[span[2] ?? ""] ?? 0);
  const at = /^\d{4}-\d\d-\d\d/.test(text.trim()) ? Date.parse(text.trim()) : Number.NaN;
  if (Number.isFinite(at)) return at;
  const message = `"${text.slice(0, 40)}" is no span of time and no date.`;
  throw new OverseerError("usage", "NOT_A_TIME", message, "For example: --since 12h, --since 2026-03-01");
}
