/**
 * Which runners are connected. Each holds one connection for as long as it lives, so the end of the connection is the
 * news of its death, sooner than any look could bring it. A runner that is not connected (its daemon has only just come
 * up) is told to look, and is watched by its pid until it is. What a death means is the tick's to say.
 */
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptLabel } from "#domain/model/attempt.ts";
import type { Processes, ProcessIdentity } from "#sys/processes.ts";
import type { Peer } from "./rpc-server.ts";

interface RunnerHello extends ProcessIdentity {
  readonly attempt: number;
}

export interface LinksOptions {
  readonly processes: Processes;
  /** Tells an unconnected runner to look. Never rejects. */
  wake(attempt: number): Promise<unknown>;
  /** A runner is gone, however that was noticed. */
  onRunnerLost(attempt: number, how: string): void;
  /** A line ended whose process is still to be seen: it is time for a look in a moment. */
  lookSoon(): void;
}

/** An unconnected runner is poked again after so many looks. */
const WAKE_EVERY_LOOKS = 30;

export class RunnerLinks {
  private readonly byPeer = new Map<Peer, RunnerHello>();
  private living: readonly Attempt[] = [];
  private readonly mourned = new Set<number>();
  private looks = 0;

  constructor(private readonly options: LinksOptions) {}

  get connected(): number {
    return this.byPeer.size;
  }

  /** False when the process that says so is not there: then it is somebody else who speaks. */
  join(peer: Peer, hello: RunnerHello): boolean {
    if (!this.options.processes.alive(hello)) return false;
    this.byPeer.set(peer, hello);
    this.mourned.delete(hello.attempt);
    return true;
  }

  leave(peer: Peer): void {
    const hello = this.byPeer.get(peer);
    if (!hello) return;
    this.byPeer.delete(peer);
    // One that connected twice is still there.
    if (this.isConnected(hello.attempt)) return;
    // A process that is being killed loses its lines before it is gone. A tick in between would find it alive, and
    // nobody would wake the next one.
    if (this.options.processes.alive(hello)) {
      this.options.lookSoon();
      return;
    }
    this.mourned.add(hello.attempt);
    this.options.onRunnerLost(hello.attempt, "its connection ended");
  }

  /** Tells a connected runner that there is news; false when it is not connected. */
  tell(attempt: number): boolean {
    for (const [peer, hello] of this.byPeer) {
      if (hello.attempt !== attempt) continue;
      peer.notify("look", {});
      return true;
    }
    return false;
  }

  /** Tells every connected runner to look. */
  tellAll(): void {
    for (const peer of this.byPeer.keys()) peer.notify("look", {});
  }

  /** Who should be there now. */
  expect(living: readonly Attempt[]): void {
    this.living = living;
    for (const attempt of this.mourned) {
      if (!living.some((one) => one.attempt === attempt)) this.mourned.delete(attempt);
    }
  }

  /** Looks after those who are not connected; costs nothing while all are. */
  async look(): Promise<void> {
    const unseen = this.living.filter(({ attempt, runner }) => runner && !this.isConnected(attempt));
    const poking = this.looks % WAKE_EVERY_LOOKS === 0;
    this.looks += 1;
    for (const attempt of unseen) {
      if (attempt.runner && this.options.processes.alive(attempt.runner)) {
        if (poking) await this.options.wake(attempt.attempt);
      } else if (!this.mourned.has(attempt.attempt)) {
        this.mourned.add(attempt.attempt);
        this.options.onRunnerLost(attempt.attempt, `the process of ${attemptLabel(attempt)} is gone`);
      }
    }
  }

  private isConnected(attempt: number): boolean {
    return [...this.byPeer.values()].some((hello) => hello.attempt === attempt);
  }
}
