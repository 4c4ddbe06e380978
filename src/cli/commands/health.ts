/** `overseer health`, `diagnoses` and `stats`: how agents do, what changed in that, and how their supervision has run. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { shortSpan, tellWhen } from "#cli/short-time.ts";
import { breakLines, inert, moment, plural, table } from "#cli/text.ts";
import type { HealthRow, HealthSnapshot, HealthView, SupervisionStats } from "#control/health.ts";
import { listHealth, listHealthChanges, readHealth, readSupervisionStats } from "#control/health.ts";
import { presentHealthChanges, presentHealths, presentHealthView, presentSupervisionStats } from "#control/present.ts";
import type { Attention } from "#domain/health/attention.ts";
import type { RingPulse } from "#domain/health/daemon-life.ts";
import { NUDGE_NAMES } from "#domain/model/ladder-state.ts";
import { describeExemption } from "#domain/model/supervision.ts";
import type { AgentHealth } from "#domain/watch/health.ts";
import { OverseerError } from "#errors.ts";

export const healthCommand: Command<Parts> = {
  name: "health",
  summary: "Show how every agent does, or one of them in full.",
  details: `As the watch judged it last (watch.every): the word for it and the older one, how fresh its last act is, how sure that
is, a sentence, and what the ladder would do next; where nobody looks now, since when. docs/health.md explains the words.`,
  args: [{ name: "agent", summary: "One of them: its name, label (builder-1#4) or task.", optional: true }],
  examples: [{ line: "overseer health builder-1", why: "its last calls, its context, and why it is judged so" }],
  async run(call, parts) {
    const world = await parts.world();
    const word = call.optionalArg("agent");
    if (word !== undefined) {
      const view = await readHealth(world, word);
      if (call.json) return call.out.json(presentHealthView(view));
      return printOne(call, view, world.clock.now());
    }
    const fleet = await listHealth(world);
    if (call.json) return call.out.json(presentHealths(fleet));
    printAttention(call, fleet.attention);
    if (fleet.agents.length === 0) return call.out.line("Nobody is at work, or nobody was looked at yet.");
    table(call.out, [HEADS, ...fleet.agents.map(healthRow)]);
  },
};

/** Where nobody looks, what follows is old: said first. */
function printAttention({ out }: Call, { unwatched, judgedAt }: Attention): void {
  if (unwatched === null) return;
  out.line(`${unwatched}; ${judgedAt === null ? "nobody was judged yet" : `judged last at ${moment(judgedAt)} UTC`}.`);
}

const HEADS = ["AGENT", "STATE", "OLDER WORD", "LAST ACT", "SURE", "RECOMMENDED", "NUDGED", "WHY"];

function healthRow(one: HealthRow): string[] {
  const exempt = describeExemption({ ...(one.exempt ? { exempt: one.exempt } : {}) });
  return [
    inert(`${one.agent}#${one.attempt}`),
    one.status,
    one.phase,
    one.freshness.replace("-", " "),
    `${Math.round(100 * one.confidence)} %`,
    one.recommendation,
    one.nudges === 0 ? "" : plural(one.nudges, "time"),
    exempt === undefined ? one.diagnosis : `${one.diagnosis} (${exempt})`,
  ];
}

function printOne(call: Call, view: HealthView, now: number): void {
  const { out } = call;
  const { health, snapshot, changes, ended } = view;
  const label = `${health.agent}#${health.attempt} on ${health.goalId}/${health.workNodeId}`;
  if (ended) {
    out.line(inert(`${label}: ended at ${moment(ended.at)} UTC (${ended.why}); this was the last look:`));
    out.line(`  ${health.status}, since ${moment(health.since)} UTC. ${health.diagnosis}`);
  } else {
    printAttention(call, view.attention);
    out.line(inert(`${label}: ${health.status} (${health.phase}), ${fresh(health)}`));
    for (const line of breakLines(out, health.diagnosis, "  ")) out.line(line);
    printOutlook(call, health, now);
  }
  if (snapshot) printSnapshot(call, snapshot, now);
  if (changes.length > 1) {
    out.line("Before that");
    for (const { at, status, diagnosis } of changes.slice(1)) out.line(`  ${moment(at)} UTC  ${status}  ${diagnosis}`);
  }
}

/** How sure that is, and what would follow. */
function printOutlook({ out }: Call, health: HealthRow, now: number): void {
  const { nextNudge, nextAt, nudges, exempt } = health;
  const sure = `${Math.round(100 * health.confidence)} % sure, since ${moment(health.since)} UTC`;
  const due = nextAt === null ? "" : `, ${tellWhen(nextAt, now)} at the earliest`;
  const sent = nudges > 0 || nextNudge !== null ? `; nudges sent: ${nudges}` : "";
  const rung = nextNudge ? ` (${NUDGE_NAMES[nextNudge]})` : "";
  out.line(`  ${sure}; recommended: ${health.recommendation}${rung}${due}${sent}`);
  if (exempt) out.line(`  It is ${describeExemption({ exempt })}.`);
}

function fresh({ freshness }: AgentHealth): string {
  return freshness === "unknown" ? "how fresh is not known" : freshness.replace("-", " ");
}

function printSnapshot({ out }: Call, snapshot: HealthSnapshot, now: number): void {
  const { iteration, tokens, costUsd, contextFill, calls, lastText } = snapshot;
  const context = contextFill === null ? "" : `, context ${Math.round(100 * contextFill)} % full`;
  out.line(`  ${plural(iteration, "turn")}, ${tokens.toLocaleString("en")} tokens, $${costUsd.toFixed(2)}${context}`);
  const ago = (what: string, at: number | null) =>
    at === null ? [] : [`${what} ${shortSpan(Math.max(0, now - at))} ago`];
  const times = [
    ...ago("last act", snapshot.lastActAt),
    ...ago("last completed step", snapshot.lastStepAt),
    ...ago("last progress", snapshot.lastProgressAt),
    ...ago("last changed file", snapshot.lastChangeAt),
    ...ago("last commit", snapshot.lastCommitAt),
  ];
  if (times.length > 0) out.line(`  ${times.join(", ")}`);
  if (calls.length > 0) out.line("Calls");
  table(
    out,
    calls
      .slice(-CALLS_SHOWN)
      .map(({ what, ok, errorClass, ms }) => [
        `  ${ok === null ? "running" : ok ? "ok" : `failed${errorClass ? ` (${inert(errorClass)})` : ""}`}`,
        ms === null ? "" : `took ${ms < 1_000 ? `${Math.round(ms)} ms` : shortSpan(ms)}`,
        what,
      ]),
  );
  if (lastText === "") return;
  out.line("Last words");
  for (const line of breakLines(out, lastText, "  ").slice(0, WORDS_SHOWN)) out.line(line);
}

const CALLS_SHOWN = 10;
const WORDS_SHOWN = 8;

export const diagnosesCommand: Command<Parts> = {
  name: "diagnoses",
  summary: "Show what changed in how agents do, newest first.",
  options: [
    { name: "agent", value: "name", summary: "Only this agent: its name, label or task." },
    { name: "limit", value: "n", summary: "At most this many (default 50)." },
  ],
  async run(call, parts) {
    const agent = call.text("agent");
    const limit = call.number("limit") ?? 50;
    if (limit < 1) {
      throw new OverseerError("usage", "NOT_A_COUNT", `--limit is ${limit}.`, "Give a whole number from 1 on.");
    }
    const found = await listHealthChanges(await parts.world(), { limit, ...(agent === undefined ? {} : { agent }) });
    if (call.json) return call.out.json(presentHealthChanges(found));
    printAttention(call, found.attention);
    if (found.changes.length === 0) return call.out.line("Nothing has changed yet.");
    table(
      call.out,
      found.changes.map((one) => [
        `${moment(one.at)} UTC`,
        inert(`${one.agent}#${one.attempt}`),
        one.was === null || one.was === one.status ? one.status : `${one.was} → ${one.status}`,
        one.recommendation,
        one.diagnosis,
      ]),
    );
  },
};

export const statsCommand: Command<Parts> = {
  name: "stats",
  summary: "Show how supervision runs, and what it has done.",
  async run(call, parts) {
    const world = await parts.world();
    const stats = await readSupervisionStats(world);
    if (call.json) return call.out.json(presentSupervisionStats(stats));
    printRings(call, stats, world.clock.now());
    call.out.line("Steps, ever");
    table(
      call.out,
      STEPS.map(([name, what]) => [`  ${what}`, String(stats[name])]),
    );
    call.out.line("Learnings, ever");
    table(
      call.out,
      LEARNED.map(([name, what]) => [`  ${what}`, String(stats.learnings[name])]),
    );
  },
};

function printRings({ out }: Call, { rings }: SupervisionStats, now: number): void {
  if (rings.length === 0) {
    out.line("No daemon runs; its loops have nothing to tell.");
    return;
  }
  out.line("Loops, in this life of the daemon");
  table(
    out,
    rings.map((one) => (one.off ? [`  ${one.ring}`, "off", "", "", ""] : ringRow(one, now))),
  );
}

function ringRow({ ring, cycles, failures, lastAt, degradedSince }: RingPulse, now: number): string[] {
  return [
    `  ${ring}`,
    plural(cycles, "cycle"),
    plural(failures, "failure"),
    lastAt === null ? "not yet" : `last ${shortSpan(Math.max(0, now - lastAt))} ago`,
    degradedSince === null ? "" : `DEGRADED since ${moment(degradedSince)} UTC`,
  ];
}

const LEARNED = [
  ["kept", "kept"],
  ["forgotten", "forgotten"],
  ["confirmed", "times found by another too"],
  ["relayed", "syncs: passed on to an agent"],
  ["offered", "offered with an agent's context"],
  ["seen", "seen"],
  ["used", "used"],
  ["repeated", "the same failure repeated after all"],
  ["saved", "repetitions saved"],
] as const;

const STEPS = [
  ["nudges", "nudges to agents that were stuck"],
  ["steerings", "steerings by agents' own reflex"],
  ["resends", "interrupted and told again"],
  ["pauses", "paused because nothing helped"],
  ["reassigned", "work given to a fresh agent"],
  ["escalated", "questions to a person about it"],
  ["aborts", "agents that a person stopped"],
  ["degraded", "times judged by thresholds alone"],
] as const;
