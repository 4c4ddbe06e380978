import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import type { PermitPolicy } from "./permit.ts";
import { judgeAttempt, judgeFileTool } from "./permit.ts";
import { judgeShell } from "./permit-shell.ts";

const W = "/repo/.overseer/worktrees/b-7";
const policy: PermitPolicy = {
  v: 1,
  attempt: 7,
  agent: "b",
  worktree: W,
  scope: null,
  readOnly: false,
  mainCheckout: "/repo",
  gitCommonDir: "/repo/.git",
  state: "/repo/.overseer",
  scratch: ["/tmp"],
  interactive: false,
  signalCaps: { textBytes: 16_384, saidBytes: 2_048 },
};
const scoped: PermitPolicy = { ...policy, scope: ["src/parser", "docs/*.md"] };
const reader: PermitPolicy = { ...policy, readOnly: true };

/** As the door does it, without a disk: one link, `W/link` → /etc. */
function resolve(base: string, path: string): string {
  const kept: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (part === "..") kept.pop();
    else if (part !== "" && part !== ".") kept.push(part);
  }
  return `/${kept.join("/")}`.replace(`${W}/link`, "/etc");
}

describe("who may act", () => {
  test.each([
    ["the living attempt", { policy, attempt: 7, life: "living" }, undefined],
    ["an environment without marks", { policy, attempt: undefined, life: "living" }, undefined],
    ["FENCE-1: an attempt that has ended", { policy, attempt: 7, life: "over" }, "has ended"],
    ["FENCE-1: another attempt's rules", { policy, attempt: 8, life: "living" }, "not of #8"],
    ["no rules at all", { policy: undefined, attempt: 7, life: "living" }, "missing"],
    ["a store that cannot be read", { policy, attempt: 7, life: "unknown" }, "cannot be read"],
  ] as const)("%s", (_why, facts, says) => {
    const reason = judgeAttempt(facts);
    if (says === undefined) expect(reason).toBeUndefined();
    else expect(reason).toContain(says);
  });
});

describe("SCOPE-1: files", () => {
  const write = (rules: PermitPolicy, path: string | undefined, cwd = W) =>
    judgeFileTool(rules, { tool: "Write", path, cwd }, resolve);

  test.each([
    ["a file in the worktree", policy, `${W}/src/a.ts`],
    ["a relative one", policy, "src/a.ts"],
    ["with dots that stay inside", policy, "src/../b.ts"],
    ["inside the scope", scoped, `${W}/src/parser/deep/a.ts`],
    ["a pattern of the scope", scoped, "docs/intro.md"],
    ["a name that only begins with .git", policy, ".gitignore"],
    ["plain instructions for agents", policy, "CLAUDE.md"],
    ["a name that only looks like a CLI's", policy, "docs/.claudette/a.md"],
  ])("allowed: %s", (_why, rules, path) => {
    expect(write(rules, path)).toBeUndefined();
  });

  test.each([
    ["outside everything", policy, "/etc/passwd", "outside your worktree"],
    ["the main checkout", policy, "/repo/README.md", "outside your worktree"],
    ["dots that leave", policy, "../../../README.md", "outside your worktree"],
    ["another's worktree", policy, "/repo/.overseer/worktrees/c-8/a.ts", "Overseer"],
    ["a name that begins like the worktree", policy, `${W}0/a.ts`, "Overseer"],
    ["through a link", policy, "link/passwd", "outside your worktree"],
    ["the repository's git directory", policy, "/repo/.git/hooks/pre-commit", "belongs to git"],
    ["Overseer's database", policy, "/repo/.overseer/overseer.db", "belongs to Overseer"],
    ["the worktree's git file", policy, `${W}/.git`, "git's own"],
    ["the worktree itself", policy, W, "git's own"],
    ["the settings of its CLI", policy, ".claude/settings.json", "only people change it"],
    ["further down, in another case", policy, "packages/a/.Claude/settings.local.json", "only people change it"],
    ["servers of tools", policy, ".mcp.json", "only people change it"],
    ["another CLI's", policy, ".codex/hooks.json", "only people change it"],
    ["its scope does not change that", { ...policy, scope: [".claude"] }, ".claude/a.md", "only people change it"],
    ["outside the scope", scoped, "src/lexer/a.ts", "outside your files"],
    ["beside a pattern of the scope", scoped, "docs/deep/intro.md", "outside your files"],
    ["a role that reads", reader, `${W}/src/a.ts`, "only reads"],
    ["no path", policy, undefined, "names no file"],
    ["a NUL", policy, "a\0b", "names no file"],
  ])("denied: %s", (_why, rules, path, says) => {
    expect(write(rules, path)).toContain(says);
  });
});

const allowed: [why: string, command: string, rules?: PermitPolicy][] = [
  ["output into the worktree", "npm test > out.log"],
  ["output into the temp directory", "npm test > /tmp/out.log 2>&1"],
  ["output to nowhere", "npm test >/dev/null 2>&1"],
  ["a variable is not guessed at", 'npm test > "$OUT/log"'],
  ["a redirect inside the scope", "echo x > src/parser/a.ts", scoped],
  ["reading from anywhere", "sort < /etc/passwd"],
  ["a mail that quotes a stash", `overseer mail send lead --body "I ran git stash && git push, sorry"`],
  ["a mail that quotes a redirect", `overseer mail send lead --body 'echo x > /etc/passwd'`],
  [
    "a mail in a here-document",
    "overseer mail send lead --body - <<'EOF'\ngit stash; git push\nwhile true; do sleep 1; done\nEOF",
  ],
  ["a commit message that names a push", `git commit -m "Explain why git push and git worktree add fail"`],
  ["text about a polling loop", `echo "while true; do sleep 1; done"`],
  ["a search for git stash", `grep -rn "git stash" src`],
  ["git in its own worktree", "git add -A && git commit -m done && git status"],
  ["resetting its own worktree", "git reset --hard HEAD~1"],
  ["cleaning its own worktree", "git clean -fd"],
  ["looking at the stash", "git stash list"],
  ["looking at worktrees", "git worktree list --porcelain"],
  ["reading the settings", "git config --get user.name; git config user.email; git config --list"],
  ["settings for one command", "git -c user.name=x commit -m y"],
  ["listing branches", "git branch --list 'overseer/*'; git branch -a"],
  ["listing tags", "git tag; git tag -l 'v*'; git tag --contains HEAD; git tag -n3"],
  ["looking at replacements and notes", "git replace -l; git notes show HEAD; git notes"],
  ["fetching", "git fetch; git fetch origin main; git fetch git@host:a/b.git; git fetch https://host/a main"],
  ["fetching what is only remembered", "git fetch origin +main:refs/remotes/origin/main"],
  ["reading another repository", "GIT_DIR=/repo/.git git log -1; git --git-dir=/repo/.git show HEAD"],
  ["a variable of git's that points nowhere", "GIT_AUTHOR_NAME=x GIT_EDITOR=true git commit --amend"],
  ["its own branch, newly made", "git switch -c try && git checkout -b other"],
  ["reading the main checkout", "git -C /repo log --oneline -5; cat /repo/README.md"],
  ["a bounded wait", "timeout 60 sh -c 'until curl -s localhost:3000; do sleep 1; done'"],
  ["a loop without waiting", "while read line; do echo $line; done < list.txt"],
  ["a counted loop", "for i in 1 2 3; do npm test; sleep 1; done"],
  ["a document as long as the kernel takes", `cat > a.txt <<'EOF'\n${"x\n".repeat(60_000)}EOF`],
  ["going into a directory of its own", "cd src && rm -rf old && mkdir new"],
  ["a subshell's cd is forgotten", "(cd /repo && ls) && touch a.txt"],
  ["copying something in", "cp /repo/README.md docs/"],
  ["a comment", "ls # git stash; rm -rf /repo"],
  ["sed without -i", "sed -n 1,5p /repo/README.md"],
  ["a reading role reads", "git log -3 && rg TODO && cat src/a.ts > /tmp/notes", reader],
  ["an arrow in quoted code", `node -e "const f = (a) => a > 1; console.log(f(2))"`],
  ["no command at all", "   "],
];

const denied: [why: string, command: string, says: string, rules?: PermitPolicy][] = [
  ["output into the main checkout", "echo x > /repo/README.md", "outside your worktree"],
  ["by dots", "echo x >> ../../../README.md", "outside your worktree"],
  ["into a home directory", "echo x >> ~/.bashrc", "outside your worktree"],
  ["into Overseer's files", "echo x > /repo/.overseer/config.yaml", "Overseer"],
  ["outside the scope", "echo x > src/lexer/a.ts", "outside your files", scoped],
  ["after a cd", "cd /repo && echo x > README.md", "outside your worktree"],
  ["through a link", "echo x > link/passwd", "outside your worktree"],
  ["both outputs at once", "npm test &> /repo/log", "outside your worktree"],
  ["in the second command", "ls; true && echo x > /etc/motd", "outside your worktree"],
  ["in a pipe's tee", "npm test | tee /repo/log", "outside your worktree"],
  ["removing in the main checkout", "rm -rf /repo/src", "outside your worktree"],
  ["moving something out", "mv a.ts /repo/a.ts", "outside your worktree"],
  ["copying something out", "cp a.ts /repo/", "outside your worktree"],
  ["editing in place elsewhere", "sed -i s/a/b/ /repo/README.md", "outside your worktree"],
  ["dd", "dd if=/dev/zero of=/repo/big bs=1", "outside your worktree"],
  ["a stash", "git stash", "commit unfinished work"],
  ["a stash behind other words", "cd src && git -c x=y stash pop", "commit unfinished work"],
  ["a stash in a substitution", "echo $(git stash)", "commit unfinished work"],
  ["a stash in sh -c", `bash -lc "git stash && ls"`, "commit unfinished work"],
  ["a stash behind env and timeout", "env A=1 timeout -k 5 60 git stash", "commit unfinished work"],
  ["a stash by its full path", "/usr/bin/git stash", "commit unfinished work"],
  ["a worktree", "git worktree add ../x", "Overseer's to make"],
  ["gc", "git gc --prune=now", "whole repository"],
  ["a setting", "git config user.name x", "for one command"],
  ["a global setting", "git config --global --add safe.directory /", "for one command"],
  ["deleting a branch", "git branch -D main", "landed and removed by Overseer"],
  ["moving a ref", "git update-ref refs/heads/main HEAD", "Refs are moved"],
  ["a push", "git push origin HEAD", "report your commit"],
  ["a push behind a check", "npm test && git push", "report your commit"],
  ["a new remote", "git remote add x y", "user's settings"],
  ["a commit by GIT_DIR", "GIT_DIR=/repo/.git git commit -m x", "points git commit"],
  ["by GIT_WORK_TREE behind env", "env GIT_WORK_TREE=/repo git add -A", "points git add"],
  ["by an exported variable", 'export GIT_DIR="$X"; git commit -m x', "points git commit"],
  ["by --git-dir", "git --git-dir=/repo/.git --work-tree . commit -am x", "not your worktree"],
  ["by --git-dir from a substitution", 'git --git-dir="$(git rev-parse --git-common-dir)" commit', "points git commit"],
  ["an alias for one command", "git -c alias.z=stash z", "something else"],
  ["another work tree by setting", "git -c core.worktree=/repo checkout .", "something else"],
  ["a replacement", "git replace HEAD~1 HEAD", "whole repository sees"],
  ["moving a tag", "git tag -f v1", "Tags are shared"],
  ["deleting a tag", "git tag -d v1", "Tags are shared"],
  ["making a tag", "git tag v2 HEAD", "Tags are shared"],
  ["a fetch that moves a branch", "git fetch . HEAD:main", "not yours"],
  ["a forced one", "git fetch . +HEAD:refs/heads/main", "not yours"],
  ["a pull that does", "git pull . HEAD:main", "not yours"],
  ["a push to here", "git push . HEAD:main", "report your commit"],
  ["notes", "git notes add -m x", "Notes are shared"],
  ["where HEAD points", "git symbolic-ref HEAD refs/heads/main", "Refs are moved"],
  ["a branch taken over", "git checkout -B main", "your own branch"],
  ["by switch", "git switch -C main HEAD", "your own branch"],
  ["a rebase that moves others", "git rebase --update-refs main", "other branches"],
  ["an import", "git fast-import < x", "Refs are moved"],
  ["settings of its CLI, by the shell", "mkdir -p .claude && cp x .claude/settings.json", "only people change it"],
  ["a reset in the main checkout", "git -C /repo reset --hard", "not your worktree"],
  ["a checkout after a cd", "cd /repo; git checkout -b x", "not your worktree"],
  ["another work tree by option", "git --work-tree=/repo checkout -- .", "not your worktree"],
  ["waiting for ever", "while ! test -f done; do sleep 5; done", "end your turn"],
  ["waiting for ever over lines", "until curl -s x\ndo\n  sleep 2\ndone", "end your turn"],
  ["longer than anything that can be started", `echo ${"x ".repeat(70_000)}`, "write it into a script"],
  ["a reading role writes", "echo x > notes.md", "only reads", reader],
  ["a reading role commits", "git commit -am x", "only reads", reader],
];

describe("SCOPE-1: shell commands, as advice", () => {
  test.each(allowed)("allowed: %s", (_why, command, rules = policy) => {
    expect(judgeShell(rules, command, W, resolve)).toBeUndefined();
  });

  test.each(denied)("denied: %s", (_why, command, says, rules = policy) => {
    const reason = judgeShell(rules, command, W, resolve);
    expect(reason).toContain(says);
    expect(reason).not.toContain("\n");
  });

  test("any text in a quoted mail is only text", () => {
    const quoted = fc.string().map((text) => `'${text.replaceAll("'", `'\\''`)}'`);
    fc.assert(
      fc.property(quoted, (body) => {
        expect(judgeShell(policy, `overseer mail send lead --body ${body}`, W, resolve)).toBeUndefined();
      }),
    );
  });

  test("never throws, whatever is typed and wherever one stands", () => {
    const pieces = fc.constantFrom(
      "git ",
      "stash ",
      "cd ",
      "-C ",
      "> ",
      "'",
      '"',
      "$(",
      ")",
      ";",
      "\n",
      "sh -c ",
      "~",
      "/repo ",
      "--",
      "sed -i ",
      "timeout ",
      "eval ",
      "\\",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (words) => void judgeShell(scoped, words.join(""), W, resolve)),
      { numRuns: scaled(500) },
    );
  });
});
