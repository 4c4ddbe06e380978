/**
 * Agents that outlived their terminal (a tmux server that was killed, a session that somebody closed): each is given another
 * one, in which what it does is shown as its log has it. The agent itself is not touched, and does not know. One on
 * its own screen has its program in the terminal; that ends with it, and is continued as after any other death.
 */
import { join } from "node:path";
import type { ActParts } from "#act/parts.ts";
import { isTerminalDue, type LostTerminal, NEVER_LOST, noteGiven, noteLook } from "#domain/agents/lost-terminal.ts";
import { refuse } from "#domain/core/refusal.ts";
import { type Attempt, attemptEvent, attemptLabel, isLiving } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import { messageOf } from "#errors.ts";
import { attemptByNumber, livingAttempts } from "#store/attempts.ts";
import type { Terminal, TerminalHandle } from "#terminals/terminal.ts";
import { sessionName } from "#terminals/terminal-name.ts";

type LostParts = Pick<ActParts, "writer" | "terminal" | "processes" | "clock" | "root" | "env">;

export interface GivenTerminal {
  readonly agent: string;
  /** Why it got none this time. */
  readonly problem?: string;
}

/**
 * Follows the log until the runner has ended; the shell is the pane's process, and `tail` goes with it. What is typed
 * reaches nobody, so it is not shown either.
 */
const FOLLOW = `printf '%s\\n' "$3"; stty -echo 2>/dev/null; tail -n 500 -F "$1" 2>/dev/null & while kill -0 "$2" 2>/dev/null; do sleep 2; done; kill $!`;

export class LostTerminals {
  private readonly known = new Map<number, LostTerminal>();

  /** Who was given one. Throws where it cannot be known what is open, and changes nothing then. */
  async look(parts: LostParts): Promise<GivenTerminal[]> {
    const { living } = await (await parts.writer()).read({ living: livingAttempts() });
    const watched = living.filter((one) => isWatched(parts, one));
    const numbers = new Set(watched.map(({ attempt }) => attempt));
    for (const number of this.known.keys()) if (!numbers.has(number)) this.known.delete(number);
    if (watched.length === 0) return [];
    const terminal = await parts.terminal();
    if (terminal.kind !== "tmux") return [];
    const open = new Set((await terminal.list()).map(({ name }) => name));
    const given: GivenTerminal[] = [];
    for (const attempt of watched) {
      const now = parts.clock.monotonic();
      const isThere = open.has(sessionName(attempt.attempt));
      const state = noteLook(this.known.get(attempt.attempt) ?? NEVER_LOST, isThere, now);
      this.known.set(attempt.attempt, state);
      // Who is held may be dying, and that its terminal is gone too is a sign of it (LIVE-1).
      if (!isTerminalDue(state, now) || isHeld(parts, attempt)) continue;
      this.known.set(attempt.attempt, noteGiven(state, now));
      given.push({ agent: attemptLabel(attempt), ...(await giveTerminal(parts, terminal, attempt)) });
    }
    return given;
  }
}

/** Driven, and its runner lives. */
function isWatched({ processes }: LostParts, { terminal, interactive, runner, status }: Attempt): boolean {
  if (interactive || (terminal as TerminalHandle | null)?.kind !== "tmux" || status === "preparing") return false;
  return runner !== null && processes.alive(runner);
}

function isHeld({ processes }: LostParts, { process }: Attempt): boolean {
  return processes
    .list()
    .some((one) => one.pid === process?.pid && one.start === process.start && one.stopped === true);
}

async function giveTerminal(parts: LostParts, terminal: Terminal, attempt: Attempt): Promise<{ problem?: string }> {
  try {
    const handle = await terminal.open({
      name: sessionName(attempt.attempt),
      cwd: parts.root.project,
      argv: [
        "/bin/sh",
        "-c",
        FOLLOW,
        "sh",
        join(attempt.logDir, "session.log"),
        `${attempt.runner?.pid}`,
        wordsOf(attempt),
      ],
      env: parts.env.PATH === undefined ? {} : { PATH: parts.env.PATH },
    });
    const store = await parts.writer();
    const outcome = await store.commit({
      at: parts.clock.now(),
      reads: { now: attemptByNumber(attempt.attempt) },
      decide: ({ now }) =>
        now && isLiving(now)
          ? accept(
              [attemptEvent(now, "overseer", "agent.terminal_regained", "terminal-lost", { terminal: handle })],
              null,
            )
          : refuse("conflict", "AGENT_ENDED", `${attemptLabel(attempt)} has ended.`, "Nothing is to be done."),
    });
    if (!outcome.ok) await terminal.kill(handle);
    return {};
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function wordsOf(attempt: Attempt): string {
  const said = `overseer mail send --to ${attempt.agent} --subject … --body …`;
  return `— ${attemptLabel(attempt)} lost its terminal and is at work; this one shows what it does. To tell it something: ${said}`;
}
