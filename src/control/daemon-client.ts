/**
 * How a door talks to the daemon: one JSON object per line over a socket that only this user can open (JSON-RPC 2.0).
 * It says hello first; a daemon of another version refuses with the next step. Errors arrive as the errors they were.
 * It knows nothing of what the calls mean.
 */
import type { Registration } from "#domain/health/daemon-life.ts";
import { PROTOCOL } from "#domain/health/daemon-life.ts";
import { type ErrorKind, EXIT_CODES, messageOf, OverseerError } from "#errors.ts";
import { LineReader, LineWriter } from "#sys/line-socket.ts";

/** The name of the daemon's socket in the directory of sockets. */
export const DAEMON_SOCKET = "daemon";

export interface DaemonClient {
  /** Rejects with the daemon's own refusal, or environment/DAEMON_GONE when it goes away before it has answered. */
  call(method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown>;
  close(): void;
}

export interface Notification {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface ConnectOptions {
  readonly version: string;
  /** Patience for one answer. */
  readonly timeoutMs: number;
  /** What the daemon says without being asked: events and notices after `subscribe`. */
  onNotification?(notification: Notification): void;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly data?: Readonly<Record<string, string>> };
}

export async function connectDaemon(socketPath: string, options: ConnectOptions): Promise<DaemonClient> {
  const waiting = new Map<number, Waiting>();
  const reader = new LineReader(Number.MAX_SAFE_INTEGER);
  let writer: LineWriter | undefined;
  let last = 0;
  const take = (line: string) => {
    const answer = JSON.parse(line) as Answer;
    if (answer.method !== undefined) {
      options.onNotification?.({ method: answer.method, params: answer.params ?? {} });
      return;
    }
    const asked = waiting.get(answer.id ?? -1);
    waiting.delete(answer.id ?? -1);
    if (answer.error) asked?.reject(errorOf(answer.error));
    else asked?.resolve(answer.result);
  };
  const rejectAll = (why: string) => {
    for (const { reject } of waiting.values()) reject(toGoneError(why));
    waiting.clear();
  };
  const socket = await connect(socketPath, {
    data(_socket, chunk) {
      for (const line of reader.take(chunk)) take(line);
    },
    drain: () => writer?.flush(),
    close: () => rejectAll("it closed the connection"),
    error: (_socket, error) => rejectAll(messageOf(error)),
  });
  writer = new LineWriter(socket);
  const client: DaemonClient = {
    call(method, params = {}) {
      const id = ++last;
      return new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          waiting.delete(id);
          reject(toGoneError(`it did not answer '${method}' within ${options.timeoutMs} ms`));
        }, options.timeoutMs);
        const settle = (then: (value: unknown) => void) => (value: unknown) => {
          clearTimeout(late);
          then(value);
        };
        waiting.set(id, { resolve: settle(resolve), reject: settle(reject) });
        writer?.line({ jsonrpc: "2.0", id, method, params });
      });
    },
    close: () => socket.end(),
  };
  try {
    await client.call("hello", { client: "cli", version: options.version, protocol: PROTOCOL });
    return client;
  } catch (error) {
    client.close();
    throw error;
  }
}

async function connect(unix: string, socket: Bun.SocketHandler<undefined>): Promise<Bun.Socket<undefined>> {
  try {
    return await Bun.connect({ unix, socket });
  } catch (error) {
    throw toGoneError(messageOf(error), error);
  }
}

function errorOf({ message, data }: { message: string; data?: Readonly<Record<string, string>> }): OverseerError {
  const kind = data?.kind !== undefined && Object.hasOwn(EXIT_CODES, data.kind) ? (data.kind as ErrorKind) : "internal";
  return new OverseerError(kind, data?.code ?? "DAEMON_FAILED", message, data?.hint ?? "Look into the daemon's log.");
}

function toGoneError(why: string, cause?: unknown): OverseerError {
  return new OverseerError(
    "environment",
    "DAEMON_GONE",
    `The daemon cannot be reached: ${why}.`,
    "'overseer status' shows its state; 'overseer down' and 'overseer up' restart it.",
    { cause },
  );
}

/** One question to the daemon. */
export async function callDaemon(
  daemon: Registration,
  version: string,
  method: string,
  params: Readonly<Record<string, unknown>>,
  timeoutMs: number,
): Promise<unknown> {
  const client = await connectDaemon(daemon.socket, { version, timeoutMs });
  try {
    return await client.call(method, params);
  } finally {
    client.close();
  }
}
