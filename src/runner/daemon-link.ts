/**
 * The runner's one connection to the daemon, where there is one. It says who it is, and later only what cannot wait for
 * the next regular look, such as a turn that failed: a line from
 * the other side means "look", and the end of the connection tells the daemon at once that this runner is gone. The
 * runner needs none of it. It never searches for a daemon by the clock: a daemon that comes up pokes every runner it
 * finds, and a poke is when this looks again. So an idle runner spends nothing on it.
 */
import { PROTOCOL, parseRegistration } from "#domain/health/daemon-life.ts";
import type { ProcessIdentity } from "#sys/processes.ts";
import { readNow } from "#sys/read-now.ts";

export interface LinkOptions {
  /** Where the daemon says who and where it is. */
  readonly registration: string;
  readonly hello: ProcessIdentity & { readonly attempt: number };
  /** The daemon says that there is something to look at. */
  news(): void;
}

const LOOK = Buffer.from('"look"');

export class DaemonLink {
  private socket: Bun.Socket<undefined> | undefined;
  private connecting = false;
  private over = false;

  constructor(private readonly options: LinkOptions) {}

  /** Connects when there is a daemon and no connection yet. Returns at once; a daemon that is not there is no fault. */
  look(): void {
    if (this.socket || this.connecting || this.over) return;
    const daemon = parseRegistration(readNow(this.options.registration));
    if (daemon) void this.connect(daemon.socket);
  }

  /** Something happened that the tick should see now; nothing where there is no daemon. */
  wake(reason: string): void {
    this.socket?.write(`${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "wake", params: { reason } })}\n`);
  }

  close(): void {
    this.over = true;
    this.socket?.end();
  }

  private async connect(unix: string): Promise<void> {
    this.connecting = true;
    const { hello, news } = this.options;
    try {
      const socket = await Bun.connect({
        unix,
        socket: {
          // The answer to hello is no news.
          data: (_socket, chunk) => {
            if (chunk.includes(LOOK)) news();
          },
          close: () => {
            this.socket = undefined;
          },
          error: () => {
            this.socket = undefined;
          },
        },
      });
      const params = { client: "runner", protocol: PROTOCOL, ...hello };
      socket.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "hello", params })}\n`);
      if (this.over) socket.end();
      else this.socket = socket;
    } catch (error) {
      // ENOENT, ECONNREFUSED: it has gone since it registered. The next one pokes.
      if (!(error instanceof Error)) throw error;
    } finally {
      this.connecting = false;
    }
  }
}
