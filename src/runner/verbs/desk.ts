/**
 * Carries out what an agent asks for by its commands. Whoever asks has signed with the attempt's secret, which is known
 * to the runner's memory; the command itself runs in a program of its own, started with the environment the agent was
 * given, and vouched for by the runner's key. Some run at once, the next ones wait; an agent that goes away ends what it
 * had asked for, except what must not be left half done.
 */
import type { FencedBecause } from "#act/fence.ts";
import { commandOf, isLetFinish, isWaiting } from "#domain/agents/verbs.ts";
import { judgeClaim } from "#domain/core/caller.ts";
import { messageOf } from "#errors.ts";
import { Gate } from "#runner/socket/gate.ts";
import type { SocketCall, SocketRoute, Unanswered } from "#runner/socket/routes.ts";
import { hashOfToken, isSignedWith, REQUEST_VARIABLE } from "#sys/attempt-token.ts";
import { refuseTooBig } from "./client.ts";
import { renderExit } from "./exit-proof.ts";
import { FrameQueue } from "./frame-queue.ts";
import { Salts } from "./salts.ts";
import {
  encodeFrame,
  JOB_WORD,
  MOST_VERB_BYTES,
  readRequest,
  type VerbJob,
  type VerbRefusal,
  type VerbRequest,
} from "./wire.ts";

/** Each is a program of its own; more at once would only slow each other down. */
const AT_ONCE = 8;
/** Those that wait by design hold nobody else up, and cost next to nothing. */
const WAITING_AT_ONCE = 16;
const MOST_QUEUED = 256;
/** The longest is starting an agent, with a worktree to be set up; each step of that has a limit of its own. */
const LONGEST_MS = 15 * 60_000;
/** Well below what the client takes for silence. */
const ALIVE_EVERY_MS = 5_000;
/** How long an attempt that ends waits for what has begun. */
const FINISH_MS = 10_000;

export interface VerbDeskParts {
  readonly attempt: number;
  readonly agent: string;
  readonly token: string;
  /** With which the runner vouches for what it starts; the log has its hash. */
  readonly key: string;
  /** The agent's whole environment, as the runner was given it. */
  readonly env: Readonly<Record<string, string>>;
  /** What starts that command of this program. */
  commandFor(command: string): { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> };
  now(): number;
  /** Somebody spoke for that attempt who is not it. Never rejects. */
  noteFenced(attempt: number, what: string, because: FencedBecause): Promise<void>;
  /** What was said while nobody answered comes first. Never rejects. */
  foldReports(): Promise<void>;
  /** Nothing is being carried out any more, for now. */
  rest(): void;
}

type Child = Bun.Subprocess<Blob, "pipe", "pipe">;

export class VerbDesk {
  private readonly gates = {
    quick: new Gate(AT_ONCE, MOST_QUEUED),
    waiting: new Gate(WAITING_AT_ONCE, MOST_QUEUED),
    watching: new Gate(WAITING_AT_ONCE, MOST_QUEUED),
  };
  private readonly salts = new Salts();
  private readonly begun = new Map<Child, { readonly letFinish: boolean }>();
  private closed = false;

  constructor(private readonly parts: VerbDeskParts) {}

  /** Where it is asked. What is said is signed, so there is no secret to be shown. */
  get route(): SocketRoute {
    return {
      way: "unix",
      maxBytes: MOST_VERB_BYTES,
      atOnce: AT_ONCE + WAITING_AT_ONCE,
      secretHash: null,
      answer: (call) => this.answer(call),
      refuse: (why, claimed) => {
        const number = /^\d{1,15}$/.test(claimed) ? Number(claimed) : 0;
        if (why === "other-attempt") void this.parts.noteFenced(number, "the agent of another", "not-the-agent");
        return toResponse(refuseUnread(why, number));
      },
    };
  }

  private async answer(call: SocketCall): Promise<Response> {
    const request = readRequest(call.body);
    if (!request) return toResponse(refuseUnread("failed", this.parts.attempt));
    const no = await this.judge(request, call);
    if (no) return toResponse(no);
    if (this.closed) return toResponse(refuseEnded(this.parts.attempt));
    call.takeTime();
    const frames = new FrameQueue((code) => renderExit(code, request.salt, this.parts.token));
    frames.put(encodeFrame("taken"));
    void this.carryOut(request, frames, call.gone);
    return new Response(frames.stream());
  }

  /** Why it is not done; what is judged is in the runner's memory, never in a file. */
  private async judge(request: VerbRequest, { headers, body }: SocketCall): Promise<VerbRefusal | undefined> {
    const { attempt, agent, token } = this.parts;
    const [, signature] = /^Signed ([0-9a-f]{64})$/.exec(headers.get("authorization") ?? "") ?? [];
    const isOwn = signature !== undefined && isSignedWith(token, body, signature);
    const tokenHash = signature === undefined ? undefined : hashOfToken(isOwn ? token : "");
    const claimed = { attempt: request.attempt, agent: request.agent, tokenHash };
    // What is under another number is of another: its secret is not ours to compare with.
    const known = { attempt: request.attempt, agent, tokenHash: request.attempt === attempt ? hashOfToken(token) : "" };
    const no = judgeClaim(claimed, known);
    if (no) {
      await this.parts.noteFenced(request.attempt, no.what, "not-the-agent");
      return { kind: "conflict", code: "NOT_THE_AGENT", message: no.message, hint: no.hint };
    }
    const now = this.parts.now();
    if (request.until < now || !this.salts.isNew(request.salt, request.until, now)) return refuseLate();
    return undefined;
  }

  private async carryOut(request: VerbRequest, frames: FrameQueue, gone: AbortSignal): Promise<void> {
    const alive = setInterval(() => frames.put(encodeFrame("alive")), ALIVE_EVERY_MS);
    const leave = await this.gateOf(request.words).enter();
    try {
      if (!leave) return frames.refuse(refuseTooMany(), 5);
      if (gone.aborted || frames.dropped) return;
      if (this.closed) return frames.refuse(refuseEnded(this.parts.attempt), 4);
      await this.parts.foldReports();
      await this.runChild(request, frames, gone);
    } catch (error) {
      frames.refuse(refuseFailed(error), 5);
    } finally {
      clearInterval(alive);
      leave?.();
      frames.end();
      if (this.begun.size === 0) this.parts.rest();
    }
  }

  /** What only watches has nothing to say: it never keeps one waiting that speaks first and waits then. */
  private gateOf(words: readonly string[]): Gate {
    if (!isWaiting(words)) return this.gates.quick;
    return isLetFinish(words) ? this.gates.waiting : this.gates.watching;
  }

  private async runChild(request: VerbRequest, frames: FrameQueue, gone: AbortSignal): Promise<void> {
    const child = this.start(request);
    const letFinish = isLetFinish(request.words) && !isWaiting(request.words);
    this.begun.set(child, { letFinish });
    const end = () => {
      if (!letFinish) child.kill("SIGTERM");
    };
    gone.addEventListener("abort", end, { once: true });
    frames.onDropped(end);
    const limit = setTimeout(() => child.kill("SIGKILL"), isWaiting(request.words) ? 2 ** 31 - 1 : LONGEST_MS);
    try {
      await Promise.all([
        frames.pump("out", child.stdout as ReadableStream<Uint8Array>),
        frames.pump("err", child.stderr as ReadableStream<Uint8Array>),
      ]);
      const code = await child.exited;
      // Killed, it may have done it or not: without an exit code the answer counts as cut off, and a report is kept.
      if (child.signalCode !== null) return;
      frames.putExit(code);
    } finally {
      clearTimeout(limit);
      gone.removeEventListener("abort", end);
      this.begun.delete(child);
    }
  }

  private start({ salt, words, cwd, inputs, colour, width, interactive, root, debug }: VerbRequest): Child {
    const job: VerbJob = {
      ...{ v: 1, key: this.parts.key, words },
      ...(inputs === undefined ? {} : { inputs }),
      ...(interactive === true ? { interactive } : {}),
      ...(root === undefined ? {} : { root }),
    };
    const { argv, env: cheap } = this.parts.commandFor(commandOf(words)[0] ?? "");
    const { NO_COLOR: _none, FORCE_COLOR: _neither, ...env } = this.parts.env;
    return Bun.spawn([...argv, JOB_WORD], {
      cwd,
      env: {
        ...env,
        ...cheap,
        BUN_OPTIONS: "",
        [REQUEST_VARIABLE]: salt,
        ...(colour ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" }),
        COLUMNS: String(Math.trunc(Number(width)) || 80),
        ...(debug === true ? { OVERSEER_DEBUG: "1" } : {}),
      },
      stdin: new Blob([JSON.stringify(job)]),
      stdout: "pipe",
      stderr: "pipe",
    });
  }

  /** The attempt ends: nothing new is begun; what must not be half done is waited for, the rest is ended. */
  async close(): Promise<void> {
    this.closed = true;
    for (const [child, { letFinish }] of this.begun) if (!letFinish) child.kill("SIGTERM");
    if (this.begun.size === 0) return;
    let timer: Timer | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FINISH_MS);
    });
    await Promise.race([Promise.all([...this.begun.keys()].map((child) => child.exited)), late]);
    clearTimeout(timer);
  }
}

function toResponse(refusal: VerbRefusal): Response {
  return new Response(JSON.stringify(refusal), { status: 403 });
}

function refuseUnread(why: Unanswered, attempt: number): VerbRefusal {
  switch (why) {
    case "too-big":
      return refuseTooBig();
    case "too-many":
      return refuseTooMany();
    case "other-attempt":
    case "not-the-agent":
      return {
        kind: "conflict",
        code: "NOT_THE_AGENT",
        message: `This is not attempt #${attempt} speaking: OVERSEER_SOCKET is not its own.`,
        hint: "Run it from the agent itself, with the environment it was started with.",
      };
    default:
      return {
        kind: "environment",
        code: "NOT_UNDERSTOOD",
        message: "The agent's runner did not understand what it was asked.",
        hint: "It may be of another version; a person can restart the agent.",
      };
  }
}

function refuseTooMany(): VerbRefusal {
  return {
    kind: "environment",
    code: "TOO_MANY",
    message: "Too many commands of this agent are waiting already.",
    hint: "Run fewer at once, and this one again later.",
  };
}

function refuseEnded(attempt: number): VerbRefusal {
  return {
    kind: "conflict",
    code: "ATTEMPT_FENCED",
    message: `Attempt #${attempt} has ended; what it says no longer counts.`,
    hint: "Nothing to do: another attempt has taken over, or it was stopped.",
  };
}

function refuseLate(): VerbRefusal {
  return {
    kind: "environment",
    code: "TOO_LATE",
    message: "The request reached the agent's runner too late, or twice; nothing was done.",
    hint: "Run the command again.",
  };
}

function refuseFailed(error: unknown): VerbRefusal {
  return {
    kind: "environment",
    code: "NOT_STARTED",
    message: `The command could not be started: ${messageOf(error)}.`,
    hint: "Check that the working directory is still there, and run it again.",
  };
}
