/** Hooks as the runner answers them: each route in its own direction, whatever is wrong. */
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { PermitPolicy } from "#domain/permit/permit.ts";
import { CLAUDE_HOOKS } from "#runtimes/claude-code/hooks.ts";
import { hashOfToken, makeToken } from "#sys/attempt-token.ts";
import { tempDir } from "../../../test/support/temp.ts";
import { type AttemptSocket, openAttemptSocket } from "../socket/server.ts";
import type { RunnerDesk } from "./desk.ts";
import { hookRoutes } from "./routes.ts";

const TOKEN = makeToken();
let socket: AttemptSocket | undefined;
afterEach(async () => {
  await socket?.stop();
  socket = undefined;
});

function start(more: Partial<RunnerDesk> = {}) {
  const state = tempDir("state-");
  const worktree = tempDir("worktree-");
  const policy: PermitPolicy = {
    ...{ v: 1, attempt: 7, agent: "ada", worktree, scope: null, readOnly: false, mainCheckout: "/r", scratch: [] },
    ...{ gitCommonDir: "/r/.git", state, interactive: false, signalCaps: { textBytes: 1_000, saidBytes: 1_000 } },
  };
  const away = () => Promise.reject(new Error("database or disk is full"));
  const desk: RunnerDesk = {
    ...{ state, directory: join(state, "run/attempts/7"), attempt: 7, agent: "ada", policy, interactive: false },
    ask: async () => "working" as never,
    withLog: away,
    close() {},
    ...more,
  };
  const heard: string[] = [];
  const problems: string[] = [];
  const routes = hookRoutes({
    ...{ dialect: CLAUDE_HOOKS, desk, ear: { hear: (call) => heard.push(call) }, secretHash: hashOfToken(TOKEN) },
    problem: (text) => problems.push(text),
    rest: () => undefined,
  });
  socket = openAttemptSocket({ attempt: 7, path: join(state, "a7"), routes, loopback: true });
  const { url } = socket;
  const ask = async (path: string, body: unknown, token = TOKEN) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const answer = await fetch(`${url}${path}`, {
      method: "POST",
      body: text,
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(200);
    return answer.text();
  };
  const write = (path: string, content = "x") => ({
    ...{ hook_event_name: "PreToolUse", tool_name: "Write", tool_use_id: "toolu_1", cwd: worktree },
    tool_input: { file_path: path, content },
  });
  return { ask, write, state, worktree, heard, problems };
}

test("SCOPE-1: the permit is answered from memory, and heard; what is outside, or cannot be known, is refused", async () => {
  const { ask, write, heard } = start();
  expect(await ask("/permit/7", write("a.txt"))).toBe("");
  expect(heard).toEqual(["toolu_1"]);
  expect(await ask("/permit/7", write("/etc/passwd"))).toContain("is outside your worktree");
  for (const nonsense of ["", "{", "[]", "null", "\0\0", '{"tool_input":'])
    expect(await ask("/permit/7", nonsense)).toContain("could not be understood");
  await socket?.stop();
  const unknown = start({ ask: () => Promise.reject(new Error("locked")) });
  expect(await unknown.ask("/permit/7", unknown.write("a.txt"))).toContain("cannot be read");
  expect([...heard, ...unknown.heard]).toEqual(["toolu_1"]);
});

test("FENCE-1: whoever shows no secret, another's or the agent's own changes nothing and is refused", async () => {
  const { ask, write, heard } = start();
  for (const token of ["x", makeToken()]) {
    expect(await ask("/permit/7", write("a.txt"), token)).toContain("did not show the secret");
    expect(await ask("/hook/7/SessionEnd", {}, token)).toBe("");
  }
  expect(await ask("/permit/6", write("a.txt"))).toContain("rules of another attempt");
  expect(heard).toEqual([]);
});

test("HOOK-3: what the store does not take is spooled before the answer; with no room for that either the agent goes on", async () => {
  const { ask, write, state, problems } = start();
  expect(await ask("/hook/7/SessionEnd", { reason: "other" })).toBe("");
  expect(problems).toHaveLength(1); // there is not even a run directory
  mkdirSync(join(state, "run"));
  expect(await ask("/hook/7/SessionEnd", { reason: "other" })).toBe("");
  expect(readdirSync(join(state, "run/spool/7"))).toHaveLength(1);
  for (const nonsense of ["", "{", "[]"]) expect(await ask("/hook/7/Notification", nonsense)).toBe("");
  expect(await ask("/hook/7/NoSuchMoment", "{}")).toBe("");
  expect(await ask("/permit/7", write("a.txt"))).toBe("");
  expect(problems).toHaveLength(1);
});

test("SCOPE-1: a call of ten megabytes is judged, one of more than sixteen refused, and two hundred at once are all answered", async () => {
  const { ask, write } = start();
  expect(await ask("/permit/7", write("a.txt", "x".repeat(10_000_000)))).toBe("");
  expect(await ask("/permit/7", write("a.txt", "x".repeat(17_000_000)))).toContain("could not be understood");
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => ask("/permit/7", write(index % 2 ? "a.txt" : "/etc/passwd"))),
  );
  expect(answers.map((answer) => answer === "")).toEqual(answers.map((_, index) => index % 2 === 1));
});
