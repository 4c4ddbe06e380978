/** RPC-2 over a real socket: whoever listens slowly loses nothing of the log and holds nobody up. */
import { afterEach, describe, expect, test } from "bun:test";
import { createConnection, type Socket } from "node:net";
import { accept } from "#domain/model/decision.ts";
import { memoryStore } from "#store/memory.ts";
import { tempDir } from "../../test/support/temp.ts";
import { EventStream } from "./event-stream.ts";
import { type Peer, RpcServer } from "./rpc-server.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function stage() {
  const store = memoryStore();
  const failures: unknown[] = [];
  const stream = new EventStream({
    store: async () => store,
    now: () => 0,
    onFailure: (error) => failures.push(error),
  });
  const peers: Peer[] = [];
  const server = new RpcServer(`${tempDir("s-")}/s`, {
    async request(peer, method) {
      if (method === "subscribe") {
        peers.push(peer);
        stream.subscribe(peer, { after: 0, types: [] });
      }
      return method;
    },
    onDrained: (peer) => stream.pumpIfSubscribed(peer),
    onGone: (peer) => stream.unsubscribe(peer),
    onFailure: (_what, error) => failures.push(error),
  });
  server.listen();
  ends.push(() => server.stop());
  const write = async (count: number, size: number) => {
    for (let number = 0; number < count; number += 1) {
      const data = { reason: "x".repeat(size) };
      const event = { type: "fleet.thawed", actor: "overseer", because: "test", data } as const;
      await store.commit({ at: 0, reads: {}, decide: () => accept([event], null) });
    }
    stream.pumpAll();
  };
  return { store, stream, server, peers, failures, write };
}

function connect(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path, () => resolve(socket));
    socket.once("error", reject);
    ends.push(() => socket.destroy());
  });
}

const ask = (socket: Socket, method: string) => socket.write(`${JSON.stringify({ id: 1, method })}\n`);

/** Reads lines until there are so many that count. */
function lines(
  socket: Socket,
  enough: (all: Record<string, unknown>[]) => boolean,
): Promise<Record<string, unknown>[]> {
  return new Promise((resolve) => {
    let text = "";
    const all: Record<string, unknown>[] = [];
    socket.on("data", (chunk) => {
      const parts = (text + chunk.toString()).split("\n");
      text = parts.pop() ?? "";
      all.push(...parts.map((line) => JSON.parse(line) as Record<string, unknown>));
      if (enough(all)) resolve(all);
    });
  });
}

const seqs = (all: Record<string, unknown>[]) =>
  all.filter(({ method }) => method === "event").map(({ params }) => (params as { seq: number }).seq);

describe("a slow subscriber", () => {
  test("RPC-2, EDGE-8: it loses no event of the log, only notices, and never blocks another", async () => {
    const { server, stream, peers, write, failures } = await stage();
    const slow = await connect(server.path);
    slow.pause();
    ask(slow, "subscribe");
    await write(200, 8_000);
    const quick = await connect(server.path);
    const answered = lines(quick, (all) => all.length === 1);
    ask(quick, "ping");
    expect(await answered).toMatchObject([{ id: 1, result: "ping" }]);
    // Its own buffer and the kernel's are full; what waits in the daemon is bounded.
    const backlog = peers[0]?.backlog ?? 0;
    expect(backlog).toBeGreaterThan(0);
    expect(backlog).toBeLessThan(64 * 1024 + 32 * 1024);
    for (let number = 0; number < 1_000; number += 1) stream.notice("tick.ended", { number });
    expect(peers[0]?.backlog).toBe(backlog);

    const everything = lines(slow, (all) => seqs(all).length === 200);
    slow.resume();
    expect(seqs(await everything)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    const next = lines(slow, (all) => all.some(({ method }) => method === "notice"));
    stream.notice("tick.ended", {});
    expect((await next).find(({ method }) => method === "notice")).toMatchObject({ params: { dropped: 1_000 } });
    expect(failures).toEqual([]);
  });

  test("RPC-2: one that goes away in the middle is forgotten", async () => {
    const { server, stream, write, failures } = await stage();
    const slow = await connect(server.path);
    slow.pause();
    ask(slow, "subscribe");
    await write(50, 8_000);
    slow.destroy();
    await write(50, 8_000);
    stream.notice("tick.ended", {});
    const other = await connect(server.path);
    const heard = lines(other, (all) => seqs(all).length === 100);
    ask(other, "subscribe");
    expect(seqs(await heard)).toHaveLength(100);
    expect(failures).toEqual([]);
  });
});

describe("what comes in", () => {
  test("RPC-1: lines that are no requests are answered with what is wrong, and the connection continues", async () => {
    const { server } = await stage();
    const socket = await connect(server.path);
    const heard = lines(socket, (all) => all.length === 3);
    socket.write('{"half\n[1]\n{"id":7,"method":"ping"}\n');
    expect(await heard).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: null, error: { code: -32600 } },
      { id: 7, result: "ping" },
    ]);
  });

  test("RPC-1: a line without an end is refused, and the connection closed", async () => {
    const { server } = await stage();
    const socket = await connect(server.path);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const heard = lines(socket, (all) => all.length === 1);
    socket.write("x".repeat(1024 * 1024 + 1));
    expect(await heard).toMatchObject([{ id: null, error: { code: -32600, data: { code: "REQUEST_TOO_LONG" } } }]);
    await closed;
  });
});
