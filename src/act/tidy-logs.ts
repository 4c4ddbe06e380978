/**
 * Takes away logs that nobody needs any more (domain/health/log-retention.ts), and what attempts that have ended were started
 * with, should their end have left it behind. Run by the daemon now and then; safe to repeat.
 */
import { type KeptLog, LOG_LIMITS, logsToRemove } from "#domain/health/log-retention.ts";
import { nodeKey, type WorkNode, type WorkStatus } from "#domain/model/work.ts";
import { openQuestions } from "#store/assignments.ts";
import { lastAttemptNumber, latestAttempts, livingAttempts } from "#store/attempts.ts";
import { listQueuedMerges } from "#store/merges.ts";
import { nodesInStatus } from "#store/work.ts";
import { nameOf } from "#sys/paths.ts";
import { dropLaunchFile } from "./attempt-files.ts";
import type { ActParts } from "./parts.ts";

export interface Tidied {
  readonly removed: readonly string[];
}

type TidyParts = Pick<ActParts, "root" | "files" | "clock" | "writer">;

export async function tidyLogs(parts: TidyParts): Promise<Tidied> {
  await dropLaunchFiles(parts);
  const logs = `${parts.root.state}/logs`;
  const all = await listKeptLogs(parts, logs);
  const referred = await whatIsReferredTo(parts);
  const removed = logsToRemove(all, (name) => referred.includes(nameOf(name)), LOG_LIMITS, parts.clock.now());
  for (const name of removed) await parts.files.remove(`${logs}/${name}`);
  return { removed };
}

/** One for each session of an agent and each file of a check or a model; the daemon turns over its own. */
async function listKeptLogs({ files }: TidyParts, logs: string): Promise<KeptLog[]> {
  const kept: KeptLog[] = [];
  for (const group of (await files.list(logs)) ?? []) {
    if ((await files.facts(`${logs}/${group}`))?.kind !== "directory") continue;
    for (const entry of (await files.list(`${logs}/${group}`)) ?? []) {
      const name = `${group}/${entry}`;
      const facts = await files.facts(`${logs}/${name}`);
      if (!facts) continue;
      const inside = facts.kind === "directory" ? ((await files.list(`${logs}/${name}`)) ?? []) : [];
      const all = [facts];
      for (const file of inside) {
        const one = await files.facts(`${logs}/${name}/${file}`);
        if (one) all.push(one);
      }
      const at = Math.max(...all.map(({ mtimeMs }) => mtimeMs));
      kept.push({ name, at, bytes: all.reduce((sum, { size }) => sum + size, 0) });
    }
  }
  return kept;
}

const OPEN: readonly WorkStatus[] = ["todo", "queued", "in_progress", "blocked"];
const MOST = 10_000;

/** Everything that is open, as text: a log whose name is in it is still to be read by somebody. */
async function whatIsReferredTo(parts: TidyParts): Promise<string> {
  const store = await parts.writer();
  const nodes: WorkNode[] = [];
  for (const status of OPEN) nodes.push(...(await store.read({ some: nodesInStatus(status, MOST) })).some);
  const { attempts, ...seen } = await store.read({
    living: livingAttempts(),
    attempts: latestAttempts(MOST),
    questions: openQuestions(),
    merges: listQueuedMerges(),
  });
  // Whoever continues with work may want to know how the ones before fared.
  const keys = new Set(nodes.map(({ goalId, workNodeId }) => nodeKey(goalId, workNodeId)));
  const own = attempts.filter(({ goalId, workNodeId }) => keys.has(nodeKey(goalId, workNodeId)));
  return JSON.stringify({ ...seen, own, nodes });
}

/** An attempt is in the store before it has files, so whoever is not living there has ended. */
async function dropLaunchFiles(parts: TidyParts): Promise<void> {
  const names = (await parts.files.list(`${parts.root.state}/run/attempts`)) ?? [];
  const { living, last } = await (await parts.writer()).read({ living: livingAttempts(), last: lastAttemptNumber() });
  const numbers = names.filter((name) => /^\d+$/.test(name)).map(Number);
  for (const number of numbers) {
    if (number <= last && !living.some(({ attempt }) => attempt === number)) await dropLaunchFile(parts, number);
  }
}
