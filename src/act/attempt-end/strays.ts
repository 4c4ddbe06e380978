/**
 * Finds and ends what agents and checks left standing in our worktrees with a bare environment (domain/agents/stray.ts): no
 * mark tells whose it is, and no runner is above it any more. Every one is known by pid and start time together.
 */

import { AGENT_MARK, CHECK_MARK, markOf, RUNNER_MARK } from "#act/attempt-files.ts";
import type { ActParts } from "#act/parts.ts";
import { resolveConfigured } from "#config/places.ts";
import {
  judgeStrays,
  PERSONAL_VARIABLES,
  type StandingProcess,
  type Stray,
  type Tenant,
} from "#domain/agents/stray.ts";
import { parseRegistration } from "#domain/health/daemon-life.ts";
import { type Attempt, attemptLabel, isLiving } from "#domain/model/attempt.ts";
import { nameOf, parentOf } from "#sys/paths.ts";
import { endTree } from "#sys/process-tree.ts";
import type { Processes, ProcessFacts, ProcessIdentity } from "#sys/processes.ts";
import { runFiles } from "#sys/run-files.ts";
import { redact } from "#telemetry/redact.ts";

type StrayParts = Pick<ActParts, "root" | "processes" | "files">;

/** Who works or has worked where. */
export type Tenants = ReadonlyMap<string, readonly Tenant[]>;

/** The worktrees of these attempts; those in `over` count as over whatever the store says. */
export function tenantsOf(attempts: readonly Attempt[], over: readonly number[] = []): Map<string, Tenant[]> {
  const tenants = new Map<string, Tenant[]>();
  for (const attempt of attempts) {
    const tenant = {
      label: attemptLabel(attempt),
      over: !isLiving(attempt) || over.includes(attempt.attempt),
      since: attempt.runner?.start ?? null,
    };
    tenants.set(attempt.worktree, [...(tenants.get(attempt.worktree) ?? []), tenant]);
  }
  return tenants;
}

/** More checks than this at once would only slow each other down. */
export const CHECK_PLACES = 8;

/** Where checks run; a place that is in use now is not over. */
export async function checkTenants(parts: ActParts): Promise<Map<string, Tenant[]>> {
  const { worktree } = await parts.config();
  const tenants = new Map<string, Tenant[]>();
  for (let number = 1; number <= CHECK_PLACES; number += 1) {
    const path = `${resolveConfigured(parts.root, worktree.dir).path}/.checks/${number}`;
    const lock = (await parts.files.facts(path)) && parts.takeLock(`${parts.root.state}/run/check-${number}.lock`);
    lock?.release();
    tenants.set(path, [checkTenant(lock !== undefined)]);
  }
  return tenants;
}

export function checkTenant(over: boolean): Tenant {
  return { label: "a check", over, since: "0" };
}

export async function findStrays(parts: StrayParts, tenants: Tenants, living: readonly Attempt[]): Promise<Stray[]> {
  const { processes } = parts;
  const all = processes.list().filter(({ zombie }) => !zombie);
  const table = new Map(all.map((one) => [one.pid, one]));
  const ours = await ourOwn(parts, living);
  const places = await realPlaces(parts, tenants);
  const standing: StandingProcess[] = [];
  for (const one of all) {
    if (descendsFrom(one, table, ours) || isMarked(parts, one.pid, living)) continue;
    const seen = processes.place(one.pid);
    const place = seen && placeAmong(places, [seen.cwd, ...seen.files]);
    if (!seen || place === undefined || processes.identify(one.pid)?.start !== one.start) continue;
    standing.push({
      ...one,
      command: redact(one.command),
      place,
      terminal: seen.terminal,
      personal: isPersonal(processes, one.pid),
    });
  }
  return judgeStrays(standing, table, (place) => tenants.get(place) ?? []);
}

/** Ends those that may be ended, with what they started since. What will not end is returned. */
export async function endStrays(
  parts: Pick<ActParts, "root" | "processes" | "clock">,
  strays: readonly Stray[],
): Promise<readonly ProcessIdentity[]> {
  const roots = strays.filter(({ ends }) => ends).map(({ pid, start }) => ({ pid, start }));
  if (roots.length === 0) return [];
  // They carry no mark; one that nobody has is looked for.
  const nobody = markOf(parts.root, 0);
  const mark = { name: AGENT_MARK, value: nobody };
  const tree = { roots, mark, apart: { name: RUNNER_MARK, value: nobody }, spare: [parts.processes.self().pid] };
  return (await endTree(parts, tree, 1_000)).left;
}

/** Ourselves, the daemon, and the runners of those at work: what stands below them is looked after. */
async function ourOwn(parts: StrayParts, living: readonly Attempt[]): Promise<Set<number>> {
  const daemon = parseRegistration(await parts.files.read(runFiles(parts.root.state).registration));
  const known = [daemon, ...living.map(({ runner }) => runner)].filter((one) => one && parts.processes.alive(one));
  return new Set([parts.processes.self().pid, ...known.flatMap((one) => (one ? [one.pid] : []))]);
}

function descendsFrom(one: ProcessFacts, table: ReadonlyMap<number, ProcessFacts>, ours: ReadonlySet<number>): boolean {
  const seen = new Set<number>();
  for (let at: ProcessFacts | undefined = one; at && !seen.has(at.pid); at = table.get(at.parent)) {
    if (ours.has(at.pid)) return true;
    seen.add(at.pid);
  }
  return false;
}

/** It says itself whose it is, and is found by that. */
function isMarked(parts: StrayParts, pid: number, living: readonly Attempt[]): boolean {
  const { processes, root } = parts;
  if (processes.variable(pid, CHECK_MARK) !== undefined) return true;
  if (living.length === 0) return false;
  const marks = [AGENT_MARK, RUNNER_MARK].map((name) => processes.variable(pid, name));
  return living.some(({ attempt }) => marks.includes(markOf(root, attempt)));
}

function isPersonal(processes: Processes, pid: number): boolean {
  return PERSONAL_VARIABLES.some((name) => processes.variable(pid, name) !== undefined);
}

/** The kernel names directories as they really are; a place that is gone is taken by its parent. */
async function realPlaces(parts: StrayParts, tenants: Tenants): Promise<Map<string, string>> {
  const parents = new Map<string, string>();
  const places = new Map<string, string>();
  for (const place of tenants.keys()) {
    const parent = parentOf(place);
    const real =
      parents.get(parent) ?? ((await parts.files.facts(parent)) ? await parts.files.realPath(parent) : parent);
    parents.set(parent, real);
    places.set(`${real}/${nameOf(place)}`, place);
  }
  return places;
}

/** The place that one of these paths is, or lies in. */
function placeAmong(places: ReadonlyMap<string, string>, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    for (let at = path; at !== "/"; at = parentOf(at)) {
      const place = places.get(at);
      if (place !== undefined) return place;
    }
  }
  return undefined;
}
