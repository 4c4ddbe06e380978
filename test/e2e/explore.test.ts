/** PLAN-1: a planner's look at real repositories, odd ones too: at one commit, bounded, and never through a link. */
import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exploreRepository } from "#act/planning/explore.ts";
import { OverseerError } from "#errors.ts";
import { systemExec } from "#sys/exec.ts";
import { realGitTools } from "../support/git-tools.ts";
import { PLANTED_SECRETS } from "../support/secrets.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

const git = realGitTools();

function explore(repo: Pick<TempRepo, "path">, more: { base?: string; sentence?: string; maxBytes?: number } = {}) {
  const state = join(repo.path, ".git/overseer");
  const root = {
    project: repo.path,
    userDir: join(repo.path, ".overseer"),
    state,
    gitCommonDir: join(repo.path, ".git"),
  };
  return exploreRepository({ git, root }, { base: "HEAD", sentence: "Limit the rate", maxBytes: 8_000, ...more });
}

test("PLAN-1: it tells what is committed at the base, not what lies around, and where similar things were done", async () => {
  const repo = tempRepo({
    files: {
      "src/rate-limit.ts": "",
      "package.json": '{"scripts":{"test":"jest"}}',
      "AGENTS.md": "Be kind.\n",
      "empty.txt": "",
    },
  });
  repo.write({ "src/login.ts": "" });
  repo.git("add", "-A");
  repo.git("commit", "-qm", "Limit the rate of logins");
  const base = repo.git("rev-parse", "HEAD");
  repo.write({ "AGENTS.md": "Be rude.\n", "secret-plans.md": "x" });
  const { text, facts, paths } = await explore(repo, { base });
  for (const said of [
    "src/: 2, mostly TypeScript",
    "npm test (a check:",
    "Be kind.",
    "Limit the rate of logins: src/login.ts",
  ])
    expect(text).toContain(said);
  expect(text).not.toMatch(/rude|secret-plans/);
  expect(facts.similar.files).toEqual(["src/rate-limit.ts"]);
  expect(paths).toContain("src/login.ts");
});

test("PLAN-1, SAFE-1: links are not followed, submodules not entered, binaries not shown, and secrets are gone", async () => {
  const outside = tempDir();
  writeFileSync(join(outside, "shadow"), "root:outside:secret");
  const repo = tempRepo({ files: { "a.ts": "" } });
  const inner = tempRepo({ files: { "inner-file": "inside\n" } });
  gitIn(repo.path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.path, "lib/inner");
  symlinkSync(join(outside, "shadow"), join(repo.path, "AGENTS.md"));
  symlinkSync(outside, join(repo.path, "elsewhere"));
  const planted = PLANTED_SECRETS.filter(({ secret }) => secret.length > 7);
  const words = planted.map(({ text }) => text).join("\n\n");
  repo.write({ "CLAUDE.md": `# Rules\n${words}\n`, "README.md": `bytes \u0000 and more`, Makefile: "\u0000\u0001" });
  mkdirSync(join(repo.path, "od d\nname"));
  writeFileSync(Buffer.from(join(repo.path, "od d\nname/b\u001b[31m\u00ff.ts"), "latin1"), "");
  repo.git("add", "-A");
  repo.git("commit", "-qm", `Use ${planted[0]?.text}`);
  const { text } = await explore(repo, { maxBytes: 60_000 });
  for (const { secret } of planted) expect(text.includes(secret) ? secret : "").toBe("");
  expect(text).toContain("# Rules");
  expect(text).not.toMatch(/outside|inner-file|bytes/);
  expect(text).not.toContain("\u001b");
  expect(text).toContain("Other repositories inside it, not looked into: lib/inner.");
  expect(text).toContain("Too large, or no text: Makefile, README.md.");
});

test("PLAN-1: a repository with an empty commit, one of 50,000 files, and one that is not there", async () => {
  const empty = tempRepo({ files: {} });
  const { text, facts } = await explore(empty);
  expect([facts.files, text]).toEqual([0, expect.stringContaining("There are no files in it yet.")]);
  const blob = Bun.spawnSync(["git", "hash-object", "-w", "--stdin"], { cwd: empty.path, stdin: Buffer.from("x") });
  const oid = blob.stdout.toString().trim();
  const lines = Array.from({ length: 50_000 }, (_, at) => `100644 ${oid}\tp${at % 97}/q${at % 7}/rate-${at}.ts\n`).join(
    "",
  );
  Bun.spawnSync(["git", "update-index", "--index-info"], { cwd: empty.path, stdin: Buffer.from(lines) });
  empty.git("commit", "-qm", "All at once");
  const large = await explore(empty, { maxBytes: 4_000 });
  expect(large.facts.files).toBe(50_000);
  expect(Buffer.byteLength(large.text)).toBeLessThanOrEqual(4_000);
  expect(large.text).toContain("[… 57 more directories at the top left out]");
  expect((await explore(empty, { maxBytes: 900 })).text).toMatch(/\[… \d+ more lines left out\]/);
  await expect(explore(empty, { base: "nowhere" })).rejects.toMatchObject({ kind: "not-found", code: "BASE_MISSING" });
});

test("PLAN-1: what git cannot say in time is a gap that is told, and a file that is too large is named", async () => {
  const repo = tempRepo({ files: { "AGENTS.md": "a".repeat(200_000), "go.mod": "module x\n" } });
  const exec = systemExec();
  const slow = realGitTools({
    run: async (argv, options) =>
      argv.includes("log") ? { ...(await exec.run(["true"])), timedOut: true } : exec.run(argv, options),
  });
  const root = { project: repo.path, userDir: "", state: "", gitCommonDir: join(repo.path, ".git") };
  const { text } = await exploreRepository({ git: slow, root }, { base: "main", sentence: "x", maxBytes: 4_000 });
  expect(text).toContain("The history was not read: it took too long.");
  expect(text).toContain("Too large, or no text: AGENTS.md.");
  expect(text).toContain("go test ./... (a check: there is a go.mod)");
  const broken = realGitTools({
    run: () => Promise.reject(new OverseerError("environment", "GIT_MISSING", "No git.", "x")),
  });
  await expect(exploreRepository({ git: broken, root }, { base: "main", sentence: "x", maxBytes: 1 })).rejects.toThrow(
    "No git.",
  );
});
