/** The attempt's socket: who is answered, who is not, and what bounds it. */
import { afterEach, expect, test } from "bun:test";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { hashOfToken, makeToken } from "#sys/attempt-token.ts";
import { tempDir } from "../../../test/support/temp.ts";
import { Gate } from "./gate.ts";
import type { SocketCall, SocketRoute, Unanswered } from "./routes.ts";
import { type AttemptSocket, type AttemptSocketOptions, openAttemptSocket } from "./server.ts";

const TOKEN = makeToken();
const open: AttemptSocket[] = [];
afterEach(async () => {
  for (const socket of open.splice(0)) await socket.stop();
});

function route(more: Partial<SocketRoute> = {}): SocketRoute {
  return {
    way: "any",
    maxBytes: 1_000,
    atOnce: 4,
    secretHash: hashOfToken(TOKEN),
    answer: async ({ body, rest }) => Response.json({ body, rest }),
    refuse: (why) => new Response(`no: ${why}`),
    ...more,
  };
}

interface Opened {
  readonly path: string;
  readonly url: string;
  readonly refused: Unanswered[];
  ask(
    path: string,
    body: string | ReadableStream<Uint8Array>,
    more?: { token?: string | null; door?: "unix" | "port" },
  ): Promise<Response>;
}

function start(more: Partial<SocketRoute> = {}, options: Partial<AttemptSocketOptions> = {}): Opened {
  const path = options.path ?? join(tempDir("sock-"), "a7");
  const refused: Unanswered[] = [];
  const routes = { hook: route(more), verb: route({ ...more, way: "unix" }) };
  const socket = openAttemptSocket({
    attempt: 7,
    path,
    routes,
    loopback: true,
    noteRefused: (_, why) => refused.push(why),
    ...options,
  });
  open.push(socket);
  const url = socket.url ?? "";
  return {
    path,
    url,
    refused,
    ask(where, body, { token = TOKEN, door = "port" } = {}) {
      const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
      const request = { method: "POST", body, headers };
      return door === "unix"
        ? fetch(`http://attempt${where}`, { ...request, unix: path })
        : fetch(url + where, request);
    },
  };
}

test("RPC-2: it answers by both doors whoever shows the secret, and verbs by the socket alone", async () => {
  writeFileSync(join(tempDir("sock-"), "unrelated"), "");
  const { ask, path } = start();
  expect(await (await ask("/hook/7/Stop", "hello")).json()).toEqual({ body: "hello", rest: ["Stop"] });
  expect(await (await ask("/hook/7/Stop", "hello", { door: "unix" })).json()).toEqual({
    body: "hello",
    rest: ["Stop"],
  });
  expect(await (await ask("/verb/7", "v", { door: "unix" })).json()).toEqual({ body: "v", rest: [] });
  expect((await ask("/verb/7", "v")).status).toBe(404);
  expect((await ask("/nothing/7", "v")).status).toBe(404);
  expect((await ask("/__proto__/7", "v")).status).toBe(404);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("FENCE-1: a wrong, missing, older or other secret and another number are refused unread, in the words of the route", async () => {
  const heard: string[] = [];
  const { ask, refused } = start({
    answer: async ({ body }: SocketCall) => {
      heard.push(body);
      return new Response("");
    },
  });
  for (const token of ["", "x", makeToken(), `${TOKEN}x`, null]) {
    expect(await (await ask("/hook/7/Stop", "x", { token })).text()).toBe("no: not-the-agent");
  }
  for (const number of ["6", "8", "07", "7.0", "", "-1"]) {
    expect(await (await ask(`/hook/${number}/Stop`, "x")).text()).toBe("no: other-attempt");
  }
  expect(refused).toHaveLength(11);
  expect(heard).toEqual([]);
});

test("RPC-2: what is too big is not read to its end, with and without a length said before", async () => {
  const { ask } = start({ maxBytes: 10_000_000 });
  expect(await (await ask("/hook/7/Stop", "a".repeat(10_000_001))).text()).toBe("no: too-big");
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1_000_000)),
  });
  const ended = await ask("/hook/7/Stop", endless).then(
    (response) => response.text(),
    () => "cut off",
  );
  expect(["no: too-big", "cut off"]).toContain(ended);
  const { body } = (await (await ask("/hook/7/Stop", "a".repeat(9_999_999))).json()) as { body: string };
  expect(body).toHaveLength(9_999_999);
});

test("RPC-2: a writer that does not come to an end is given up, and others are answered meanwhile", async () => {
  const { ask, url, refused } = start({}, { bodyMs: 100 });
  const slow = connect(Number(new URL(url).port), "127.0.0.1");
  const said = new Promise<string>((resolve) => slow.once("data", (data) => resolve(String(data))));
  slow.write(
    `POST /hook/7/Stop HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\ncontent-length: 100\r\n\r\n{"a`,
  );
  expect((await ask("/hook/7/Stop", "x")).status).toBe(200);
  expect(await said).toContain("no: too-slow");
  expect(refused).toEqual(["too-slow"]);
  slow.destroy();
  const garbage = connect(Number(new URL(url).port), "127.0.0.1");
  const closed = new Promise<void>((resolve) => garbage.once("close", () => resolve()));
  garbage.on("error", () => undefined);
  garbage.on("data", () => undefined);
  garbage.end("\0\0\x16\x03 this is no HTTP\r\n\r\n");
  await closed;
  expect((await ask("/hook/7/Stop", "x")).status).toBe(200);
});

test("RPC-2: of two hundred at once only so many are at work, and all are answered", async () => {
  let [now, most] = [0, 0];
  const { ask } = start({
    async answer({ body }) {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return new Response(body);
    },
  });
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => (await ask("/hook/7/Stop", String(index))).text()),
  );
  expect(answers).toEqual(Array.from({ length: 200 }, (_, index) => String(index)));
  expect(most).toBeLessThanOrEqual(4);
});

test("RPC-2: a route that fails answers as it refuses, and the problem is told", async () => {
  const problems: string[] = [];
  const answer = async () => {
    throw new Error("broken");
  };
  const { ask } = start({ answer }, { problem: (text) => problems.push(text) });
  expect(await (await ask("/hook/7/Stop", "x")).text()).toBe("no: failed");
  expect(problems).toEqual(["/hook failed: broken"]);
});

test("RPC-2: the file of a killed runner is in nobody's way, and goes with the socket", async () => {
  const path = join(tempDir("sock-"), "a7");
  writeFileSync(path, "left behind");
  const { ask } = start({}, { path });
  expect((await ask("/hook/7/Stop", "x", { door: "unix" })).status).toBe(200);
  await open.pop()?.stop();
  expect(existsSync(path)).toBe(false);
});

test("a gate lets those wait who come later, and nobody beyond its bound", async () => {
  const gate = new Gate(1, 1);
  const first = await gate.enter();
  const second = gate.enter();
  expect(await gate.enter()).toBeUndefined();
  first?.();
  first?.();
  const leave = await second;
  expect(leave).toBeDefined();
  leave?.();
  expect(await gate.enter()).toBeDefined();
});
