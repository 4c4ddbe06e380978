/**
 * The daemon's door on this machine: a socket in a directory that only this user can enter, one JSON object per line
 * (JSON-RPC 2.0). It takes requests apart, answers them in order, and knows who is connected; what the calls mean is
 * calls.ts's. Everything that comes in is bounded. A socket that vanished from the disk is made again, and those who are
 * connected stay so (FAIL-22).
 */
import { chmodSync, rmSync, statSync } from "node:fs";
import { messageOf, OverseerError } from "#errors.ts";
import { LineReader, LineWriter } from "#sys/line-socket.ts";

/** Somebody at the other end. */
export interface Peer {
  /** Bytes it has not taken yet. */
  readonly backlog: number;
  notify(method: string, params: unknown): void;
  close(): void;
}

export interface RpcHandlers {
  /** Answers one request; an OverseerError is told as it is, anything else as a fault of the daemon. */
  request(peer: Peer, method: string, params: unknown): Promise<unknown>;
  /** It has taken everything it was sent. */
  onDrained(peer: Peer): void;
  onGone(peer: Peer): void;
  /** Our own fault, for the log. */
  onFailure(what: string, error: unknown): void;
}

const MOST_PEERS = 1_000;
/** Requests of one peer that wait for their turn. */
const MOST_WAITING = 100;

/** What JSON-RPC calls the ways a request can fail. */
const CODES = { notJson: -32700, notARequest: -32600, noSuchCall: -32601, refused: -32000, fault: -32603 } as const;

export class RpcServer {
  private listener: Bun.UnixSocketListener<Connection> | undefined;
  private inode = 0;
  private readonly peers = new Set<Connection>();

  constructor(
    readonly path: string,
    private readonly handlers: RpcHandlers,
  ) {}

  /** Whoever holds the lock may take the name from a dead predecessor. */
  listen(): void {
    rmSync(this.path, { force: true });
    this.listener = Bun.listen<Connection>({
      unix: this.path,
      socket: {
        open: (socket) => this.welcome(socket),
        data: (socket, chunk) => socket.data?.take(chunk),
        drain: (socket) => socket.data?.drain(),
        close: (socket) => this.farewell(socket.data),
        error: (socket, error) => {
          this.handlers.onFailure("connection", error);
          this.farewell(socket.data);
        },
      },
    });
    chmodSync(this.path, 0o600);
    this.inode = statSync(this.path).ino;
  }

  /** True when the socket had to be made again. */
  repair(): boolean {
    if (statSync(this.path, { throwIfNoEntry: false })?.ino === this.inode) return false;
    this.listener?.stop(false);
    this.listen();
    return true;
  }

  stop(): void {
    this.listener?.stop(true);
    for (const peer of this.peers) peer.close();
    rmSync(this.path, { force: true });
  }

  private welcome(socket: Bun.Socket<Connection>): void {
    if (this.peers.size >= MOST_PEERS) {
      socket.end();
      return;
    }
    const connection = new Connection(socket, this.handlers);
    socket.data = connection;
    this.peers.add(connection);
  }

  private farewell(connection: Connection | undefined): void {
    if (!connection || !this.peers.delete(connection)) return;
    this.handlers.onGone(connection);
  }
}

class Connection implements Peer {
  private readonly reader = new LineReader();
  private readonly writer: LineWriter;
  private last: Promise<void> = Promise.resolve();
  private waiting = 0;
  private over = false;

  constructor(
    private readonly socket: Bun.Socket<Connection>,
    private readonly handlers: RpcHandlers,
  ) {
    this.writer = new LineWriter(socket);
  }

  get backlog(): number {
    return this.writer.backlog;
  }

  notify(method: string, params: unknown): void {
    this.writer.line({ jsonrpc: "2.0", method, params });
  }

  close(): void {
    this.over = true;
    this.socket.end();
  }

  drain(): void {
    this.writer.flush();
    if (this.writer.backlog === 0) this.handlers.onDrained(this);
  }

  take(chunk: Uint8Array): void {
    if (this.over) return;
    try {
      for (const line of this.reader.take(chunk)) if (line.trim() !== "") this.queue(line);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.answer(null, failure(CODES.notARequest, "The request is too long.", "REQUEST_TOO_LONG"));
      this.close();
    }
  }

  private queue(line: string): void {
    if (this.waiting >= MOST_WAITING) {
      this.answer(null, failure(CODES.refused, "Too many requests wait already.", "TOO_MANY_REQUESTS"));
      return;
    }
    this.waiting += 1;
    this.last = this.last.then(async () => {
      await this.serve(line);
      this.waiting -= 1;
    });
  }

  private async serve(line: string): Promise<void> {
    const request = requestOf(line);
    if ("error" in request) {
      this.answer(null, request);
      return;
    }
    const { id, method, params } = request;
    try {
      const result = await this.handlers.request(this, method, params);
      if (id !== undefined) this.answer(id, { result: result ?? null });
    } catch (error) {
      if (!(error instanceof OverseerError)) this.handlers.onFailure(`call ${method.slice(0, 60)}`, error);
      if (id !== undefined) this.answer(id, failureOf(error));
    }
  }

  private answer(id: string | number | null, body: object): void {
    this.writer.line({ jsonrpc: "2.0", id, ...body });
  }
}

interface Request {
  readonly id: string | number | undefined;
  readonly method: string;
  readonly params: unknown;
}

function requestOf(line: string): Request | ReturnType<typeof failure> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return failure(CODES.notJson, `The request is not JSON: ${messageOf(error)}.`, "NOT_JSON");
  }
  if (typeof value !== "object" || value === null || !("method" in value) || typeof value.method !== "string") {
    return failure(CODES.notARequest, "A request is an object with a method.", "NOT_A_REQUEST");
  }
  const id = "id" in value && (typeof value.id === "number" || typeof value.id === "string") ? value.id : undefined;
  return { id, method: value.method, params: "params" in value ? value.params : {} };
}

function failure(code: number, message: string, name: string) {
  const hint = "Send one JSON-RPC 2.0 request per line.";
  return { error: { code, message, data: { kind: "usage", code: name, hint } } };
}

function failureOf(error: unknown) {
  if (error instanceof OverseerError) {
    const { kind, code, hint, message } = error;
    const number = code === "NO_SUCH_CALL" ? CODES.noSuchCall : CODES.refused;
    return { error: { code: number, message, data: { kind, code, hint } } };
  }
  const data = { kind: "internal", code: "INTERNAL", hint: "Look into the daemon's log." };
  return { error: { code: CODES.fault, message: messageOf(error), data } };
}
