/** The desk behind a real socket, asked by the real client; what it starts is a shell instead of the whole program. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AttemptSocket, openAttemptSocket } from "#runner/socket/server.ts";
import { signWith } from "#sys/attempt-token.ts";
import { askRunner, type VerbAnswer, type VerbCall } from "./client.ts";
import { VerbDesk, type VerbDeskParts } from "./desk.ts";
import { renderExit } from "./exit-proof.ts";
import { encodeFrame, type VerbRequest } from "./wire.ts";

setDefaultTimeout(30_000);

interface Opened {
  readonly directory: string;
  readonly socket: string;
  readonly desk: VerbDesk;
  readonly fenced: [number, string][];
}

const opened: { directory: string; server: AttemptSocket }[] = [];
afterEach(async () => {
  for (const { directory, server } of opened.splice(0)) {
    await server.stop();
    rmSync(directory, { recursive: true });
  }
});

/** Every word of the request is handed to this script, as `$job`. */
function open(script: string, more: Partial<VerbDeskParts> = {}): Opened {
  const directory = mkdtempSync(join(tmpdir(), "desk-"));
  const socket = join(directory, "a7");
  writeFileSync(join(directory, "script"), `job=$(cat)\n${script}`);
  const fenced: [number, string][] = [];
  const desk = new VerbDesk({
    ...{ attempt: 7, agent: "anna", token: "ovtk_own", key: "ovtk_key" },
    env: { PATH: process.env.PATH ?? "", WHO: "anna" },
    commandFor: () => ({ argv: ["sh", join(directory, "script")], env: {} }),
    now: Date.now,
    noteFenced: async (attempt, what) => void fenced.push([attempt, what]),
    foldReports: async () => undefined,
    rest: () => undefined,
    ...more,
  });
  const routes = { verb: desk.route };
  const server = openAttemptSocket({ attempt: 7, path: socket, routes, loopback: false });
  opened.push({ directory, server });
  return { directory, socket, desk, fenced };
}

async function ask(socket: string, more: Partial<VerbCall> = {}): Promise<{ out: string; err: string } & VerbAnswer> {
  const said = { out: "", err: "" };
  const answer = await askRunner({
    salt: crypto.randomUUID(),
    ...{ socket, attempt: 7, agent: "anna", token: "ovtk_own", words: ["status"], cwd: "/", inputs: undefined },
    ...{ colour: false, width: 72, interactive: true, root: "/of/anna", debug: false },
    async print(to, bytes) {
      said[to] += new TextDecoder().decode(bytes);
    },
    ...more,
  });
  return { ...said, ...answer };
}

test("RPC-2: both outputs, the exit code, the place, the input and the form of the answer are the command's", async () => {
  const { socket, directory } = open('pwd; echo "$WHO $COLUMNS $NO_COLOR $1"; printf %s "$job" >&2; exit 6');
  const said = await ask(socket, {
    cwd: directory,
    words: ["mail", "send", "--file", "-"],
    inputs: { "-": "läuft\n" },
  });
  expect(said).toMatchObject({ kind: "done", code: 6, out: `${directory}\nanna 72 1 __job\n` });
  const words = ["mail", "send", "--file", "-"];
  const seen = { interactive: true, root: "/of/anna" };
  expect(JSON.parse(said.err)).toEqual({ v: 1, key: "ovtk_key", words, inputs: { "-": "läuft\n" }, ...seen });
});

test("RPC-2: what is printed is seen at once, not when the command has ended", async () => {
  const { socket, directory } = open(`echo first; while [ ! -e "$0.go" ]; do sleep 0.02; done; echo second`);
  const seen: string[] = [];
  const print: VerbCall["print"] = async (_, bytes) => {
    seen.push(new TextDecoder().decode(bytes));
    writeFileSync(join(directory, "script.go"), "");
  };
  expect(await ask(socket, { print })).toMatchObject({ kind: "done", code: 0 });
  expect(seen.join("")).toBe("first\nsecond\n");
});

test("RPC-2: 10 MB of output arrive whole", async () => {
  const { socket } = open("head -c 10485760 /dev/zero | tr '\\0' x");
  let bytes = 0;
  const print: VerbCall["print"] = async (_, piece) => {
    bytes += piece.length;
  };
  expect(await ask(socket, { print })).toMatchObject({ kind: "done", code: 0 });
  expect(bytes).toBe(10 * 1024 * 1024);
});

test("FENCE-1: another's secret, none, another name and another number are refused and noted; nothing is started", async () => {
  const { socket, fenced, directory } = open('touch "$0.ran"');
  const said = await Promise.all([
    ask(socket, { token: "ovtk_other" }),
    ask(socket, { token: undefined }),
    ask(socket, { agent: "berta" }),
    ask(socket, { attempt: 8 }),
  ]);
  expect(said.map((one) => one.kind === "refused" && [one.refusal.kind, one.refusal.code])).toEqual(
    said.map(() => ["conflict", "NOT_THE_AGENT"]),
  );
  expect(fenced.map(([attempt]) => attempt).toSorted()).toEqual([7, 7, 7, 8]);
  expect(existsSync(join(directory, "script.ran"))).toBe(false);
});

const request = (more: Partial<VerbRequest> = {}): string =>
  JSON.stringify({
    ...{ v: 1, salt: "s", until: Date.now() + 5_000, attempt: 7, words: ["status"], cwd: "/" },
    ...{ colour: false, width: 80, debug: false },
    ...more,
  });

function post(unix: string, body: string, token = "ovtk_own"): Promise<Response> {
  const headers = { authorization: `Signed ${signWith(token, body)}` };
  return fetch("http://x/verb/7", { unix, method: "POST", body, headers });
}

test("FENCE-1: a request that somebody listened to is worth nothing a second time, nor altered, nor late", async () => {
  const { socket, directory } = open('echo x >> "$0.ran"');
  const body = request();
  expect(await (await post(socket, body)).text()).toContain("0");
  expect(await (await post(socket, body)).json()).toMatchObject({ code: "TOO_LATE" });
  const altered = await fetch("http://x/verb/7", {
    unix: socket,
    method: "POST",
    body: body.replace("status", "agents"),
    headers: { authorization: `Signed ${signWith("ovtk_own", body)}` },
  });
  expect(await altered.json()).toMatchObject({ code: "NOT_THE_AGENT" });
  const late = request({ salt: "t", until: Date.now() - 1 });
  expect(await (await post(socket, late)).json()).toMatchObject({ code: "TOO_LATE" });
  expect(readFileSync(join(directory, "script.ran"), "utf8")).toBe("x\n");
});

test("RPC-2: garbage and more than 1 MB are refused with a sentence", async () => {
  const { socket } = open("echo ran");
  expect(await (await post(socket, "{}")).json()).toMatchObject({ code: "NOT_UNDERSTOOD" });
  expect(await (await post(socket, request({ inputs: { "-": "x".repeat(10_000_000) } }))).json()).toMatchObject({
    code: "TOO_BIG",
  });
  expect(await ask(socket, { inputs: { "-": "x".repeat(10_000_000) } })).toMatchObject({
    refusal: { code: "TOO_BIG" },
  });
});

test("RPC-2: 200 at once all get their answer, a few at a time, and those that wait by design hold nobody up", async () => {
  const { socket, directory } = open(
    'case $job in *--wait*) while [ ! -e "$0.go" ]; do sleep 0.05; done;; esac; echo "$job" | tr -dc 0-9',
  );
  const waiting = Array.from({ length: 16 }, () => ask(socket, { words: ["mail", "--wait"] }));
  const all = await Promise.all(Array.from({ length: 200 }, (_, n) => ask(socket, { words: ["status", `n${n}`] })));
  expect(all.map((one) => one.kind === "done" && one.out)).toEqual(all.map((_, n) => `1${n}`));
  writeFileSync(join(directory, "script.go"), "");
  expect((await Promise.all(waiting)).every((one) => one.kind === "done")).toBe(true);
});

test("RPC-2: an agent that goes away ends what it asked for, but not a report that has begun", async () => {
  const { socket, directory, desk } = open(
    'echo begun; for i in $(seq 400); do [ -e "$0.go" ] && break; sleep 0.02; done; echo "$job" >> "$0.finished"',
  );
  for (const words of [["events"], ["work", "report"]]) {
    const body = request({ words, salt: words.join() });
    const gone = new AbortController();
    const headers = { authorization: `Signed ${signWith("ovtk_own", body)}` };
    const response = await fetch("http://x/verb/7", {
      unix: socket,
      method: "POST",
      body,
      headers,
      signal: gone.signal,
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (let text = ""; !text.includes("begun"); ) text += new TextDecoder().decode((await reader.read()).value);
    gone.abort();
  }
  writeFileSync(join(directory, "script.go"), "");
  await desk.close();
  expect(readFileSync(join(directory, "script.finished"), "utf8")).toContain("report");
  expect(readFileSync(join(directory, "script.finished"), "utf8")).not.toContain("events");
  expect(await ask(socket)).toMatchObject({ kind: "refused", refusal: { code: "ATTEMPT_FENCED" } });
});

test("RPC-2: a place that is gone is a sentence, not a silence", async () => {
  const { socket, directory } = open("echo ran");
  const said = await ask(socket, { cwd: join(directory, "nowhere") });
  expect(said).toMatchObject({ kind: "done", code: 5 });
  expect(said.err).toContain("could not be started");
});

test("RPC-2: what was killed in the middle is not an answer", async () => {
  const { socket } = open("echo begun; kill -9 $$");
  expect(await ask(socket)).toMatchObject({ kind: "cut", out: "begun\n" });
});

test("FENCE-1: an exit code that nobody proved is no answer, whatever was printed before it", async () => {
  const { directory } = open("");
  const path = join(directory, "another");
  const of = (code: number, salt: string, token: string) => encodeFrame("exit", renderExit(code, salt, token));
  const lies = [
    encodeFrame("exit", new TextEncoder().encode("0")),
    of(0, "s", "ovtk_other"),
    of(0, "another request", "ovtk_own"),
    encodeFrame(
      "exit",
      new TextEncoder().encode(new TextDecoder().decode(renderExit(1, "s", "ovtk_own")).replace("1", "0")),
    ),
  ];
  const bytes = (exit: Uint8Array) => Buffer.concat([encodeFrame("taken"), exit]);
  let exit = of(0, "s", "ovtk_own");
  const server = Bun.serve({ unix: path, fetch: () => new Response(bytes(exit)) });
  expect(await ask(path, { salt: "s" })).toMatchObject({ kind: "done", code: 0 });
  for (exit of lies) expect(await ask(path, { salt: "s" })).toMatchObject({ kind: "cut" });
  await server.stop(true);
});

test("RPC-2: those that only watch do not keep one waiting that has something to say first", async () => {
  const { socket, directory } = open('case $job in *--follow*) while [ ! -e "$0.go" ]; do sleep 0.05; done;; esac');
  const watching = Array.from({ length: 17 }, () => ask(socket, { words: ["events", "--follow"] }));
  expect(await ask(socket, { words: ["ask", "Which?", "--wait"] })).toMatchObject({ kind: "done", code: 0 });
  writeFileSync(join(directory, "script.go"), "");
  await Promise.all(watching);
});

test("RPC-2: who is not there, or ends in the middle, is told apart", async () => {
  const { directory } = open("");
  expect(await ask(join(directory, "none"))).toMatchObject({ kind: "absent", frozen: false });
  const path = join(directory, "half");
  const half = Bun.listen({
    unix: path,
    socket: {
      data(socket) {
        const frame = encodeFrame("taken");
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n`);
        socket.write(frame);
        socket.end();
      },
    },
  });
  expect(await ask(path)).toMatchObject({ kind: "cut" });
  half.stop(true);
});
