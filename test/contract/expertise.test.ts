/**
 * The sources of expertise: our own over the store in memory, and mulch itself. Beside the suite, what becomes of a mulch
 * that is missing, hangs or talks nonsense.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openExpertise } from "#act/expertise.ts";
import { addByHand } from "#control/learnings.ts";
import { judgeMulch } from "#domain/health/checkup.ts";
import { withoutThrowing } from "#expertise/list.ts";
import { makeMulchExpertise } from "#expertise/mulch.ts";
import { memoryStore } from "#store/memory.ts";
import { type Exec, systemExec } from "#sys/exec.ts";
import { tempDir, tempRepo } from "../support/temp.ts";
import { worldOn } from "../support/world.ts";
import { expertiseSuite } from "./expertise.suite.ts";

setDefaultTimeout(30_000);

expertiseSuite("own", async () => {
  const world = worldOn(memoryStore());
  const add = ({ text, domain }: { text: string; domain: string }) =>
    addByHand(world, { text, tags: [domain], paths: [] });
  const [own] = await openExpertise(world, { node: null, checkout: "/", add });
  if (own === undefined) throw new Error("it is off");
  return own;
});

const TOOLS = join(import.meta.dir, "../../node_modules/.bin");
const env = { ...(process.env as Record<string, string>), PATH: `${TOOLS}:${process.env.PATH}` };

/** A repository in which somebody has run `mulch init`. */
function mulchRepo(): string {
  const { path } = tempRepo();
  const done = Bun.spawnSync(["mulch", "init"], { cwd: path, env });
  if (done.exitCode !== 0) throw new Error(done.stderr.toString());
  return path;
}

const repo = mulchRepo();
expertiseSuite("mulch", async () => makeMulchExpertise({ exec: systemExec(), env, cwd: repo }));

test("MULCH-1: without a name, the domains that fit the files are told; a name of a domain is no option", async () => {
  const mulch = makeMulchExpertise({ exec: systemExec(), env, cwd: repo });
  const told = await mulch.prime({ domains: [], paths: ["src/auth/login.ts"], budgetBytes: 10_000 });
  expect(told.ok && new Set(told.value.map(({ domain }) => domain))).toEqual(new Set(["auth"]));
  const item = { domain: "--help", kind: "convention", text: "x", because: null, provenance: "human:ada" } as const;
  expect(await mulch.record(item)).toMatchObject({ ok: false });
  expect(existsSync(join(repo, "pwned"))).toBe(false);
});

/** A program of that name that does this. */
function stub(script: string): Record<string, string> {
  const directory = tempDir("bin-");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "mulch"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { ...env, PATH: `${directory}:/usr/bin:/bin` };
}

/** As patient as a test may be. */
const hasty: Exec = { run: (argv, options) => systemExec().run(argv, { ...options, timeoutMs: 300 }) };

test.each([
  ["is missing", { ...env, PATH: "/nowhere" }, "no program"],
  ["hangs", stub("exec sleep 1000"), "did not answer"],
  ["talks nonsense", stub("echo 'All good 🌱'"), "cannot be read"],
  ["answers in another shape", stub(`echo '{"success": true, "domains": {"auth": 1}}'`), "cannot be read"],
  ["never stops talking", stub("exec yes '{'"), "did not answer"],
  [
    "fails",
    stub(`echo '{"success": false, "error": "No .mulch/ directory found."}' >&2; exit 1`),
    "No .mulch/ directory",
  ],
  ["dies", stub("kill -9 $$"), "cannot be read"],
])("MULCH-1: one that %s is an answer, too", async (_what, its, problem) => {
  const mulch = makeMulchExpertise({ exec: hasty, env: its, cwd: repo });
  const answer = await mulch.prime({ domains: [], paths: [], budgetBytes: 1_000 });
  expect(answer).toMatchObject({ ok: false });
  expect(answer.ok ? "" : answer.problem).toContain(problem);
  expect(answer.ok ? "" : answer.problem).not.toEndWith(".");
  const { next = "" } = judgeMulch(answer.ok ? { records: 0 } : answer);
  expect(next.startsWith("Install it")).toBe(problem === "no program");
});

test.each([
  ["an object", '{"toString": 1, "valueOf": 2}'],
  ["a heap of lists", `${"[".repeat(20_000)}${"]".repeat(20_000)}`],
  ["a number", "7"],
  ["a long text", JSON.stringify("x".repeat(10_000))],
])("MULCH-1: %s as id or type of a record is left out, and the record is told", async (_what, odd) => {
  const directory = tempDir("odd-");
  const record = `{"id": ${odd}, "type": ${odd}, "content": "Tokens are hashed."}`;
  writeFileSync(
    join(directory, "answer"),
    `{"success": true, "domains": [{"domain": "auth", "records": [${record}]}]}`,
  );
  const mulch = makeMulchExpertise({ exec: systemExec(), env: stub("exec cat answer"), cwd: directory });
  expect(await mulch.prime({ domains: [], paths: [], budgetBytes: 1_000 })).toEqual({
    ok: true,
    value: [{ id: "", domain: "auth", kind: "", text: "Tokens are hashed." }],
  });
});

test("MULCH-1: what a source throws is its answer", async () => {
  const failing = () => Promise.reject(new TypeError("no such thing"));
  const source = withoutThrowing({ name: "mulch", prime: failing, record: failing, query: failing });
  const answer = { ok: false, problem: "mulch could not be asked: no such thing" } as const;
  expect(await source.prime({ domains: [], paths: [], budgetBytes: 1 })).toEqual(answer);
  expect(await source.query("x")).toEqual(answer);
});

test("MULCH-1: it hears nothing of who asks", async () => {
  const its = stub(`printf '{"success": false, "error": "%s"}' "$(env | grep -c '^OVERSEER_')"`);
  const mulch = makeMulchExpertise({ exec: systemExec(), env: { ...its, OVERSEER_TOKEN: "secret" }, cwd: repo });
  expect(await mulch.query("x")).toEqual({ ok: false, problem: "mulch: 0" });
});
