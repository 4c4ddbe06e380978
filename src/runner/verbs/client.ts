/**
 * An agent's command, as it asks its runner: the words go over the attempt's socket, what comes back is printed as it
 * comes. It never opens the store, and what it is told by its environment is at most where to ask: who it is, the runner
 * judges by what the request is signed with.
 */
import { systemCode } from "#errors.ts";
import { signWith } from "#sys/attempt-token.ts";
import { readExit } from "./exit-proof.ts";
import {
  FrameReader,
  MOST_VERB_BYTES,
  readRefusal,
  VERB_ROUTE,
  type VerbFrame,
  type VerbInputs,
  type VerbRefusal,
  type VerbRequest,
} from "./wire.ts";

/** How long a runner may take to say that it has the request; a busy machine needs a part of it. */
const PATIENCE_MS = 8_000;
/** Beyond that, what was asked for is not begun any more (`until`), so that nothing happens behind our back. */
const MARGIN_MS = 1_000;
/** A runner that has taken a request says every few seconds that it is alive. */
const SILENCE_MS = 40_000;

/** What the kernel says of a socket at which nobody listens. */
const NOBODY_THERE: ReadonlySet<string> = new Set(["ENOENT", "ECONNREFUSED", "ENOTDIR", "ENAMETOOLONG", "EACCES"]);

export interface VerbCall {
  /** The request's own name: by it, what is kept of it counts once. */
  readonly salt: string;
  readonly socket: string;
  readonly attempt: number;
  readonly agent: string | undefined;
  readonly token: string | undefined;
  readonly words: readonly string[];
  readonly cwd: string;
  readonly inputs: VerbInputs | undefined;
  readonly colour: boolean;
  readonly width: number;
  readonly interactive: boolean;
  /** OVERSEER_ROOT as the caller has it; empty when it has none. */
  readonly root: string;
  readonly debug: boolean;
  print(to: "out" | "err", bytes: Uint8Array): Promise<void>;
}

export type VerbAnswer =
  | { readonly kind: "done"; readonly code: number }
  | { readonly kind: "refused"; readonly refusal: VerbRefusal }
  /** Nobody took it: nothing was done, and nothing will be. */
  | { readonly kind: "absent"; readonly frozen: boolean }
  /** It was taken, and then its runner fell silent: it may have been done or not. */
  | { readonly kind: "cut" };

export async function askRunner(call: VerbCall): Promise<VerbAnswer> {
  const body = JSON.stringify(requestOf(call));
  if (body.length > MOST_VERB_BYTES) return { kind: "refused", refusal: refuseTooBig() };
  const patience = new AbortController();
  let timer = setTimeout(() => patience.abort(), PATIENCE_MS);
  let taken = false;
  try {
    const response = await fetch(`http://overseer/${VERB_ROUTE}/${call.attempt}`, {
      method: "POST",
      unix: call.socket,
      body,
      signal: patience.signal,
      // Bun's own patience ends after minutes; there are commands that wait for an hour.
      timeout: false,
      headers: call.token === undefined ? {} : { authorization: `Signed ${signWith(call.token, body)}` },
    } as BunFetchRequestInit);
    if (response.status !== 200) return readAnswer(await response.text());
    const frames = new FrameReader();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { kind: "cut" };
      taken = true;
      clearTimeout(timer);
      const code = await showFrames(frames.take(value), call);
      if (code === "unproven") return { kind: "cut" };
      if (code !== undefined) return { kind: "done", code };
      timer = setTimeout(() => patience.abort(), SILENCE_MS);
    }
  } catch (error) {
    if (systemCode(error) === "EPIPE") return { kind: "done", code: 0 };
    if (!taken && patience.signal.aborted) return { kind: "absent", frozen: true };
    // Whoever let us in and then fell silent may have begun; who is not there has not.
    return !taken && NOBODY_THERE.has(systemCode(error) ?? "") ? { kind: "absent", frozen: false } : { kind: "cut" };
  } finally {
    clearTimeout(timer);
  }
}

function requestOf(call: VerbCall): VerbRequest {
  const { salt, attempt, agent, words, cwd, inputs, colour, width, interactive, root, debug } = call;
  return {
    v: 1,
    salt,
    until: Date.now() + PATIENCE_MS - MARGIN_MS,
    attempt,
    ...(agent === undefined ? {} : { agent }),
    words,
    cwd,
    ...(inputs === undefined ? {} : { inputs }),
    colour,
    width,
    interactive,
    root,
    debug,
  };
}

/** The exit code, once it is there. One that nobody proved is another's word: it may be that nothing was done. */
async function showFrames(frames: readonly VerbFrame[], call: VerbCall): Promise<number | "unproven" | undefined> {
  for (const { kind, bytes } of frames) {
    if (kind === "exit") {
      return readExit(new TextDecoder().decode(bytes), call.salt, call.token ?? "") ?? "unproven";
    }
    if (kind === "out" || kind === "err") await call.print(kind, bytes);
  }
  return undefined;
}

function readAnswer(text: string): VerbAnswer {
  const refusal = readRefusal(text);
  return refusal ? { kind: "refused", refusal } : { kind: "absent", frozen: false };
}

export function refuseTooBig(): VerbRefusal {
  return {
    kind: "usage",
    code: "TOO_BIG",
    message: "That is more than one command takes (1 MB).",
    hint: "Say it shorter, or commit it as a file and name that.",
  };
}
