/**
 * Everything that happens, told to whoever subscribed (RPC-2). Events come from the log itself: each subscriber has a
 * cursor, and what it has not been sent yet is read again when it can take it, so nothing is queued here and nothing of
 * the log is ever lost to it. Notices (a tick began, a socket was made again) are in no log: one that finds its
 * subscriber asleep is dropped and counted. Nobody who listens slowly can hold the daemon up or fill its memory.
 */
import { presentEvent } from "#control/present.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Store } from "#store/store.ts";
import type { Peer } from "./rpc-server.ts";

/** More than this untaken, and nothing new is put before it. */
const ROOM_BYTES = 64 * 1024;
const PAGE = 100;

export interface Subscription {
  /** Only what came after this place in the log. */
  readonly after: number;
  /** Types (`work.done`) or nouns (`work`); none means all. */
  readonly types: readonly string[];
}

interface Subscriber extends Subscription {
  cursor: number;
  dropped: number;
  pumping: boolean;
  again: boolean;
}

export interface StreamOptions {
  store(): Promise<Pick<Store, "log">>;
  now(): number;
  onFailure(error: unknown): void;
}

export class EventStream {
  private readonly subscribers = new Map<Peer, Subscriber>();

  constructor(private readonly options: StreamOptions) {}

  /** One subscription per peer; a second one takes the place of the first. */
  subscribe(peer: Peer, wanted: Subscription): void {
    this.subscribers.set(peer, { ...wanted, cursor: wanted.after, dropped: 0, pumping: false, again: false });
    this.pump(peer);
  }

  unsubscribe(peer: Peer): void {
    this.subscribers.delete(peer);
  }

  /** Somebody wrote to the log. */
  pumpAll(): void {
    for (const peer of this.subscribers.keys()) this.pump(peer);
  }

  /** It can take more. */
  pumpIfSubscribed(peer: Peer): void {
    if (this.subscribers.has(peer)) this.pump(peer);
  }

  notice(event: string, data: unknown): void {
    for (const [peer, subscriber] of this.subscribers) {
      if (peer.backlog > ROOM_BYTES) {
        subscriber.dropped += 1;
        continue;
      }
      const { dropped } = subscriber;
      subscriber.dropped = 0;
      const time = new Date(this.options.now()).toISOString();
      peer.notify("notice", { time, event, data, ...(dropped > 0 ? { dropped } : {}) });
    }
  }

  private pump(peer: Peer): void {
    const subscriber = this.subscribers.get(peer);
    if (!subscriber) return;
    if (subscriber.pumping) {
      subscriber.again = true;
      return;
    }
    subscriber.pumping = true;
    void this.send(peer, subscriber)
      .catch((error: unknown) => this.options.onFailure(error))
      .finally(() => {
        subscriber.pumping = false;
        if (!subscriber.again) return;
        subscriber.again = false;
        this.pump(peer);
      });
  }

  private async send(peer: Peer, subscriber: Subscriber): Promise<void> {
    while (peer.backlog <= ROOM_BYTES && this.subscribers.get(peer) === subscriber) {
      const store = await this.options.store();
      const page = await store.log({ after: subscriber.cursor, limit: PAGE });
      for (const event of page) {
        if (peer.backlog > ROOM_BYTES) return;
        subscriber.cursor = event.seq;
        if (isWanted(event, subscriber.types)) peer.notify("event", presentEvent(event));
      }
      if (page.length < PAGE) return;
    }
  }
}

function isWanted(event: EventOf, types: readonly string[]): boolean {
  return types.length === 0 || types.some((type) => event.type === type || event.type.startsWith(`${type}.`));
}
