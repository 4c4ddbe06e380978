/**
 * Gathers what a remediating agent is shown (domain/guard/remedy-prompt.ts): the ends of the logs, who is at work, what git
 * says. Each piece stands for itself: what cannot be read says so and keeps nothing else from being shown, because any of
 * them may be what is broken. Everything is redacted here.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { LogTail } from "#domain/guard/remedy-prompt.ts";
import { SHOWN_LOGS } from "#domain/guard/remedy-prompt.ts";
import { attemptLabel } from "#domain/model/attempt.ts";
import type { WorkStatus } from "#domain/model/work.ts";
import { messageOf, OverseerError, systemCode } from "#errors.ts";
import { gitCommandLine, gitEnvironment } from "#git/git.ts";
import { parseWorktreeList } from "#git/worktree-list.ts";
import { presentConditions } from "#store/actions.ts";
import { livingAttempts } from "#store/attempts.ts";
import { addressIn, openForReading } from "#store/open.ts";
import { nodesInStatus } from "#store/work.ts";
import type { Exec } from "#sys/exec.ts";
import type { Root } from "#sys/root.ts";
import { redact } from "#telemetry/redact.ts";

/** More of a log than this is not even looked at: a prompt has no room for it. */
const MOST_READ = 256 * 1024;

export function tailLogs(root: Root, count: number): Record<string, LogTail> {
  return Object.fromEntries(SHOWN_LOGS.map(({ name }) => [name, tailLog(`${root.state}/logs/${name}`, count)]));
}

function tailLog(path: string, count: number): LogTail {
  try {
    const text = readEnd(path);
    const lines = redact(text).split("\n");
    if (lines.at(-1) === "") lines.pop();
    return { lines: count === 0 ? [] : lines.slice(-count) };
  } catch (error) {
    return systemCode(error) === "ENOENT" ? null : { problem: messageOf(error) };
  }
}

function readEnd(path: string): string {
  const descriptor = openSync(path, "r");
  try {
    const { size } = fstatSync(descriptor);
    const bytes = new Uint8Array(Math.min(size, MOST_READ));
    const read = readSync(descriptor, bytes, 0, bytes.length, Math.max(0, size - bytes.length));
    const text = new TextDecoder().decode(bytes.subarray(0, read));
    // The first of them is probably not whole.
    return size > MOST_READ ? text.slice(text.indexOf("\n") + 1) : text;
  } finally {
    closeSync(descriptor);
  }
}

const OPEN: readonly WorkStatus[] = ["in_progress", "blocked", "queued", "todo"];
const MOST_NODES = 1_000;

/** Who is at work, by the store, which is only read; a sentence where that cannot be. */
export async function describeAgents(root: Root): Promise<string> {
  try {
    const store = await openForReading({ address: addressIn(root.state) });
    try {
      const { living, conditions } = await store.read({ living: livingAttempts(), conditions: presentConditions() });
      const agents = living.map(
        (one) => `${attemptLabel(one)}: ${one.status}, on ${one.goalId}/${one.workNodeId} in ${one.worktree}`,
      );
      const workers = conditions.find((one) => one.kind === "workers")?.workers ?? [];
      const names = workers.map(({ name, excluded }) => (excluded ? `${name} (excluded)` : name));
      const open: string[] = [];
      for (const status of OPEN) {
        const { some } = await store.read({ some: nodesInStatus(status, MOST_NODES) });
        open.push(`${status}: ${some.length === MOST_NODES ? `${MOST_NODES} or more` : some.length}`);
      }
      const lines = [
        `Work: ${open.join(", ")}.`,
        workers.length === 0 ? "No workers of auto mode." : `Workers of auto mode: ${names.join(", ")}.`,
        ...(agents.length === 0 ? ["No agent is at work."] : agents),
      ];
      return redact(lines.join("\n"));
    } finally {
      await store.close();
    }
  } catch (error) {
    return redact(`The store cannot be read, so nothing is known of workers and agents: ${messageOf(error)}`);
  }
}

export interface GitLook {
  readonly text: string;
  /** Every checkout of the repository; undefined when git cannot say. */
  readonly worktrees: readonly string[] | undefined;
}

const GIT_TIMEOUT_MS = 10_000;

export async function lookAtGit(
  { exec, env }: { readonly exec: Pick<Exec, "run">; readonly env: Readonly<Record<string, string>> },
  root: Root,
): Promise<GitLook> {
  const ask = async (...args: string[]): Promise<{ readonly text: string; readonly ok: boolean }> => {
    try {
      const { code, stdout, stderr, timedOut } = await exec.run(gitCommandLine(args), {
        cwd: root.project,
        // Looking must not wait for a lock, and must not leave one behind.
        env: { ...gitEnvironment(env), GIT_OPTIONAL_LOCKS: "0" },
        timeoutMs: GIT_TIMEOUT_MS,
        maxBytes: 64 * 1024,
      });
      if (timedOut) return { ok: false, text: `(it did not answer within ${GIT_TIMEOUT_MS / 1_000} s)` };
      return code === 0 ? { ok: true, text: stdout } : { ok: false, text: `(it failed: ${stderr.trim()})` };
    } catch (error) {
      if (error instanceof OverseerError) return { ok: false, text: `(it could not be run: ${error.message})` };
      throw error;
    }
  };
  const status = await ask("status", "--short", "--branch");
  const log = await ask("log", "--oneline", "--max-count=5");
  const list = await ask("worktree", "list", "--porcelain");
  const found = list.ok ? parseWorktreeList(list.text).map(({ path }) => path) : undefined;
  const parts = [
    ["git status --short --branch", firstLines(status.text)],
    ["git log --oneline --max-count=5", log.text],
    ["git worktree list", found ? firstLines(found.join("\n")) : list.text],
  ] as const;
  const text = parts.map(([command, said]) => `$ ${command}\n${said.trimEnd()}`).join("\n\n");
  return { text: redact(text), worktrees: found };
}

const MOST_LINES = 40;

function firstLines(text: string): string {
  const lines = text.trimEnd().split("\n");
  return lines.length <= MOST_LINES
    ? lines.join("\n")
    : `${lines.slice(0, MOST_LINES).join("\n")}\n(${lines.length - MOST_LINES} more lines)`;
}
