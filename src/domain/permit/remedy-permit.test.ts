/** GUARD-7: what a remediating agent may write and run. Everything that is not on a list is refused. */
import { describe, expect, test } from "bun:test";
import { judgeRemedyFileTool, judgeRemedyShell, type RemedyPolicy, readRemedyPolicy } from "./remedy-permit.ts";

const POLICY: RemedyPolicy = {
  v: 1,
  kind: "remedy",
  project: "/p",
  userDir: "/p/.overseer",
  state: "/p/.git/overseer",
  gitCommonDir: "/p/.git",
  worktrees: ["/p", "/p/.overseer/worktrees/ada", "/p/side", "/elsewhere/bob"],
  allowRepoEdits: false,
  heard: "/p/.git/overseer/run/remedy/r/heard",
};
const EDITS: RemedyPolicy = { ...POLICY, allowRepoEdits: true };

/** Links of this disk: name → where it leads. */
const LINKS: Readonly<Record<string, string>> = {
  "/p/.overseer/roles/out": "/etc",
  "/p/.overseer/hooks.yaml.link": "/p/.git/overseer/overseer.db",
  "/p/.overseer/agents/db.md": "/p/.git/overseer/overseer.db",
  "/p/tmp.lock": "/p/.git/index",
  "/p/.git/evil.lock": "/p/README.md",
  "/p/g": "/p/.git",
};

function resolve(base: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
    const link = LINKS[`/${parts.join("/")}`];
    if (link !== undefined) parts.splice(0, parts.length, ...link.split("/").filter(Boolean));
  }
  return `/${parts.join("/")}`;
}

const write = (path: string | undefined, policy = POLICY) =>
  judgeRemedyFileTool(policy, { tool: "Write", path, cwd: "/p" }, resolve);
const shell = (line: string, policy = POLICY) => judgeRemedyShell(policy, line, "/p", resolve);

describe("files", () => {
  test.each([
    "/p/.overseer/config.yaml",
    ".overseer/config.yaml",
    "./src/../.overseer/config.yaml",
    "/p/.overseer/hooks.yaml",
    "/p/.overseer/roles/builder.yaml",
    "/p/.overseer/roles/builder.yaml",
    "/p/.overseer/agents/builder.md",
    "/p/.overseer/manual_intervention_needed_20260115T093000Z.txt",
  ])("GUARD-7: %s may be written", (path) => {
    expect(write(path)).toBeUndefined();
  });

  test.each<[path: string | undefined, says: string]>([
    ["/p/.git/overseer/overseer.db", "Overseer's own"],
    ["/p/.git/overseer/overseer.db-wal", "Overseer's own"],
    ["/p/.git/overseer/run/daemon.json", "Overseer's own"],
    ["/p/.git/overseer/run/config.json", "Overseer's own"],
    ["/p/.git/overseer/logs/daemon.ndjson", "Overseer's own"],
    ["/p/.overseer/../.git/overseer/run/intent.json", "Overseer's own"],
    ["/p/.git/config", "git's own"],
    ["/p/.git/hooks/pre-commit", "git's own"],
    ["/p/.git/index.lock", "git's own"],
    ["/p/g/config", "git's own"],
    ["/p/sub/.git/config", "git's own"],
    ["/p/.overseer/manifest.yaml", "only config.yaml"],
    ["/p/.overseer/prompts/plan-goal.md", "only config.yaml"],
    ["/p/.overseer/worktrees/ada/README.md", "only config.yaml"],
    ["/p/.overseer/manual_intervention_needed_/../config.json", "only config.yaml"],
    ["/p/.overseer/manual_intervention_needed_x/y.txt", "only config.yaml"],
    ["/p/.overseer/config.yaml.bak", "only config.yaml"],
    ["/p/.overseer/roles", "only config.yaml"],
    ["/p/.overseer/roles/", "only config.yaml"],
    ["/p/.overseer/agents/db.md", "Overseer's own"],
    ["/p/.overseer/roles/out/passwd", "outside this project"],
    ["/p/README.md", "guard.allowRepoEdits is off"],
    ["README.md", "guard.allowRepoEdits is off"],
    ["/p/.overseerconfig.yaml", "guard.allowRepoEdits is off"],
    ["/p2/.overseer/config.yaml", "outside this project"],
    ["/p/side/file.ts", "another worktree"],
    ["/elsewhere/bob/file.ts", "another worktree"],
    ["/etc/passwd", "outside this project"],
    ["../x", "outside this project"],
    ["/p", "outside this project"],
    ["", "names no file"],
    [undefined, "names no file"],
    ["/p/.overseer/config.yaml\0", "names no file"],
    ["/p/.overseer/agents/b/.git/config", "git's own"],
    ["/p/.overseer/roles/deep/er/builder.yaml", "only config.yaml"],
    ["/p/.overseer/manual_intervention_needed_;touch x;.txt", "only config.yaml"],
  ])("GUARD-7: %s may not be written", (path, says) => {
    expect(write(path)).toContain(says);
  });

  test.each(["/p/README.md", "src/a/b.ts", "/p/.github/workflows/ci.yml"])(
    "GUARD-7: with guard.allowRepoEdits %s may be written",
    (path) => {
      expect(write(path, EDITS)).toBeUndefined();
    },
  );

  test.each<[path: string, says: string]>([
    ["/p/.git/config", "git's own"],
    ["/p/sub/.git", "git's own"],
    ["/p/sub/.GIT/config", "git's own"],
    ["/p/.git/overseer/overseer.db", "Overseer's own"],
    ["/p/.overseer/manifest.yaml", "only config.yaml"],
    ["/p/side/file.ts", "another worktree"],
    ["/p/.claude/settings.json", "sets up the agents"],
    ["/p/.mcp.json", "sets up the agents"],
    ["/etc/passwd", "outside this project"],
  ])("GUARD-7: also with guard.allowRepoEdits %s may not be written", (path, says) => {
    expect(write(path, EDITS)).toContain(says);
  });

  test("GUARD-7: in a bare repository, where the settings lie in the state directory, the same holds", () => {
    const bare = {
      ...POLICY,
      project: "/b.git",
      userDir: "/b.git/overseer",
      state: "/b.git/overseer",
      gitCommonDir: "/b.git",
    };
    expect(write("/b.git/overseer/config.yaml", bare)).toBeUndefined();
    expect(write("/b.git/overseer/overseer.db", bare)).toContain("Overseer's own");
    expect(write("/b.git/overseer/run/daemon.json", bare)).toContain("Overseer's own");
    expect(write("/b.git/config", bare)).toContain("git's own");
  });
});

describe("commands", () => {
  test.each([
    "ls",
    "ls -la .overseer",
    "cat .overseer/config.yaml",
    "cat .overseer/*.yaml",
    "head -n 50 /p/.git/overseer/logs/daemon.ndjson",
    "tail -n 50 /p/.git/overseer/logs/daemon.ndjson",
    "tail -50 x",
    "grep -rn 'checks:' .overseer",
    'grep -n "a\\.b$" x',
    "grep '$(x)`y`' x",
    "rg 'foo|bar' src",
    "find . -name '*.lock' -type f",
    "find . -newer x | head -5",
    "ls && cat x; cat y || cat z",
    "ls\ncat x",
    "cat x 2>/dev/null | grep y",
    "cat x 2>&1 | head",
    "ls >/dev/null 2>&1",
    "sort x | head",
    "git status",
    "git status --short",
    "git --no-pager log --oneline -5",
    "git log --first-parent -- .overseer/config.yaml",
    "git diff HEAD~1 -- .overseer",
    "git show HEAD:.overseer/config.yaml",
    "git worktree list",
    "git show 'HEAD@{1}'",
    "overseer status",
    "overseer status --json",
    "overseer why T1",
    "overseer events --limit 50",
    "overseer report --since 12h",
    "overseer doctor",
    "overseer doctor --json | head -40",
    "overseer config show",
    "overseer config explain guard",
  ])("GUARD-7: %s only reads", (line) => {
    expect(shell(line)).toBeUndefined();
  });

  test.each([
    "rm .git/index.lock",
    "rm -f .git/index.lock",
    "rm -f -- '/p/.git/index.lock' /p/.git/HEAD.lock",
    "unlink /p/.git/refs/heads/main.lock",
    "rm .git/worktrees/ada/index.lock",
    "rm src/../.git/config.lock 2>/dev/null",
    "rm g/index.lock",
  ])("GUARD-7: %s removes a lock of git's", (line) => {
    expect(shell(line)).toBeUndefined();
  });

  test.each<[line: string, says: string]>([
    // What an attacker found: other repositories, options before the verb, arithmetic, braces, patterns, environments.
    ["git -C .overseer/agents/b status", "Run git here"],
    ["git -C .overseer/roles -C status -c core.fsmonitor=x status", "Run git here"],
    ["test -v 'a[x]'", "Only commands that read"],
    ["find /v -name v1 {-delete,-print}", "No braces"],
    ["git log -p --{output=/tmp/x,stat}", "No braces"],
    ["find . -delet?", "No patterns in options"],
    ["ps axeww", "Only commands that read"],
    ["cat /proc/1/environ", "Leave /proc alone"],
    // Removing anything else.
    ["rm -rf .git", "Only stale lock files"],
    ["rm -r .git/index.lock", "Only stale lock files"],
    ["rm .git/index", "Only stale lock files"],
    ["rm .git/*.lock", "Only stale lock files"],
    ["rm .git/{index,HEAD}.lock", "No braces"],
    ["rm .git/index.lock README.md", "Only stale lock files"],
    ["rm Cargo.lock", "Only stale lock files"],
    ["rm .git/../yarn.lock", "Only stale lock files"],
    ["rm .git/overseer/run/x.lock", "Only stale lock files"],
    ["rm .git/evil.lock", "Only stale lock files"],
    ["rm tmp.lock", "Only stale lock files"],
    ["rm ~/.git/index.lock", "Only stale lock files"],
    ["rm", "Only stale lock files"],
    ["rm -f", "Only stale lock files"],
    ["rm .git/index.lock && ls", "Only stale lock files"],
    ["ls; rm -rf .git", "Only stale lock files"],
    ["ls\nrm -rf .git", "Only stale lock files"],
    ["rm .git/index.lock > x", "Only stale lock files"],
    ["X=1 rm .git/index.lock", "Only stale lock files"],
    ["\\rm -rf .git", "Only stale lock files"],
    ["'rm' -rf .git", "Only stale lock files"],
    ["/bin/rm -rf .git", "Only commands that read"],
    // Writing by a shell.
    ["echo x > README.md", "Nothing may be written by redirects"],
    ["echo x >> .overseer/config.yaml", "Nothing may be written by redirects"],
    ["echo x >| README.md", "Nothing may be written by redirects"],
    ["echo x >& README.md", "Nothing may be written by redirects"],
    ["cat x 2> README.md", "Nothing may be written by redirects"],
    ["cat x >'/dev/null'", "Nothing may be written by redirects"],
    ["> README.md", "Nothing may be written by redirects"],
    ["cat x | tee README.md", "Only commands that read"],
    ["sed -i s/a/b/ README.md", "Only commands that read"],
    ["sed -n 'w README.md' x", "Only commands that read"],
    ["cp x y", "Only commands that read"],
    ["mv x y", "Only commands that read"],
    ["touch x", "Only commands that read"],
    ["mkdir x", "Only commands that read"],
    ["ln -s x y", "Only commands that read"],
    ["chmod 777 .overseer", "Only commands that read"],
    ["dd if=x of=y", "Only commands that read"],
    ["truncate -s 0 x", "Only commands that read"],
    ["sqlite3 .git/overseer/overseer.db 'delete from events'", "Only commands that read"],
    // Running something else.
    ["python -c 'open(1)'", "Only commands that read"],
    ["python3 -c 'print(1)'", "Only commands that read"],
    ["perl -e 1", "Only commands that read"],
    ["node -e 1", "Only commands that read"],
    ["sh -c 'rm -rf .git'", "Only commands that read"],
    ["cat x | sh", "Only commands that read"],
    ["cat x | bash -s", "Only commands that read"],
    ["eval ls", "Only commands that read"],
    ["source x", "Only commands that read"],
    [". x", "Only commands that read"],
    ["exec ls", "Only commands that read"],
    ["env ls", "Only commands that read"],
    ["env -i PATH=/tmp ls", "Only commands that read"],
    ["xargs rm", "Only commands that read"],
    ["awk 'BEGIN{system(\"x\")}'", "Only commands that read"],
    ["sudo ls", "Only commands that read"],
    ["kill 1", "Only commands that read"],
    ["npm test", "Only commands that read"],
    ["timeout 5 ls", "Only commands that read"],
    ["printf -v PATH /tmp", "Only commands that read"],
    ["./ls", "Only commands that read"],
    ["l?", "Only commands that read"],
    ["cd /tmp && ls", "Stay where you are"],
    ["alias ls=rm", "Only commands that read"],
    ["PATH=/tmp ls", "No variables in front"],
    ["LD_PRELOAD=/tmp/x.so cat y", "No variables in front"],
    ["X=1", "No variables in front"],
    ["GIT_EXTERNAL_DIFF=sh git diff", "No variables in front"],
    ["find . -delete", "does more than read"],
    ["find . -exec rm {} +", "No braces"],
    ["find . -execdir sh", "does more than read"],
    ["find . -ok rm", "does more than read"],
    ["find . -fprintf x y", "does more than read"],
    ["find . '-delete'", "does more than read"],
    ["rg --pre sh x", "does more than read"],
    ["rg --pre=sh x", "does more than read"],
    ["sort -o x y", "does more than read"],
    ["sort --out=x y", "does more than read"],
    ["tail -f x", "does more than read"],
    ["tail -n5 --follow x", "does more than read"],
    ["tail -5F x", "does more than read"],
    ["file -C -m x", "does more than read"],
    // What a shell does before a command runs.
    ["cat $(rm x)", "No variables and no commands inside"],
    ["cat `rm x`", "No variables and no commands inside"],
    ['cat "$(rm x)"', "No variables and no commands inside"],
    ['cat "`rm x`"', "No variables and no commands inside"],
    ["cat $HOME/x", "No variables and no commands inside"],
    ["$X", "No variables and no commands inside"],
    ["cat $\u007bx:=y}", "No variables and no commands inside"],
    ["cat $'\\x41'", "No variables and no commands inside"],
    ['cat $"x"', "No variables and no commands inside"],
    ["cat <(rm x)", "No input from elsewhere"],
    ["cat >(rm x)", "No subshells"],
    ["cat <<EOF\nx\nEOF", "No input from elsewhere"],
    ["cat <<< x", "No input from elsewhere"],
    ["sh < x", "No input from elsewhere"],
    ["(ls)", "No subshells"],
    ["ls() { rm x; }", "No subshells"],
    ["{ rm x; }", "No braces"],
    ["! ls", "No loops"],
    ["if true; then ls; fi", "No loops"],
    ["while true; do ls; done", "No loops"],
    ["for x in a; do ls; done", "No loops"],
    ["ls & rm x", "Nothing may run in the background"],
    ["ls &", "Nothing may run in the background"],
    ["ls &>/dev/null rm -rf x", "Nothing may run in the background"],
    ["ls |& sh", "Write 2>&1"],
    ["ls # rm x", "Leave comments out"],
    ["ls \\\nrm x", "on one line"],
    ["ls 'x", "not closed"],
    ['ls "x', "not closed"],
    ["ls\rrm x", "control characters"],
    ["ls \0", "control characters"],
    ["ls \u001b[2J", "control characters"],
    ["", "There is no command"],
    ["   \n", "There is no command"],
    [`ls ${"x".repeat(9_000)}`, "too long"],
    // git and overseer.
    ["git commit -m x", "may change the repository"],
    ["git stash", "may change the repository"],
    ["git checkout .", "may change the repository"],
    ["git reset --hard", "may change the repository"],
    ["git config core.pager x", "may change the repository"],
    ["git worktree remove x", "may change the repository"],
    ["git grep -Osh x", "may change the repository"],
    ["git", "Run git here"],
    ["git -c core.pager=sh log", "without options in front"],
    ["git -c alias.status=!sh status", "without options in front"],
    ["git --exec-path=/tmp status", "without options in front"],
    ["git -p log", "without options in front"],
    ["git --git-dir=/x status", "without options in front"],
    ["git diff --output=README.md", "does more than read"],
    ["git diff --outp README.md", "does more than read"],
    ["git log --ext-diff", "does more than read"],
    ["overseer up", "is not yours to run"],
    ["overseer", "is not yours to run"],
    ["overseer down", "is not yours to run"],
    ["overseer nuke --all", "is not yours to run"],
    ["overseer config set a b", "is not yours to run"],
    ["overseer config accept", "is not yours to run"],
    ["overseer config", "is not yours to run"],
    ["overseer remediate x", "is not yours to run"],
    ["overseer --root /x status", "is not yours to run"],
    ["overseer doctor --fix", "does more than look once"],
    ["overseer doctor --rebuild", "does more than look once"],
    ["overseer events -f", "does more than look once"],
    ["overseer events --follow", "does more than look once"],
    ["overseer status --watch", "does more than look once"],
    ["overseer status -w", "does more than look once"],
  ])("GUARD-7: %j is refused", (line, says) => {
    expect(shell(line)).toContain(says);
    // What may be edited does not change what may be run.
    expect(shell(line, EDITS)).toContain(says);
  });
});

test("GUARD-7: a policy that is not whole is none", () => {
  const value = JSON.parse(JSON.stringify(POLICY)) as Record<string, unknown>;
  expect(readRemedyPolicy(value)).toEqual(POLICY);
  expect(readRemedyPolicy(undefined)).toBeUndefined();
  for (const name of Object.keys(POLICY)) expect(readRemedyPolicy({ ...value, [name]: undefined })).toBeUndefined();
  expect(readRemedyPolicy({ ...value, worktrees: ["relative"] })).toBeUndefined();
  expect(readRemedyPolicy({ ...value, kind: "attempt" })).toBeUndefined();
});
