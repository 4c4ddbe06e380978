/**
 * Git in memory, for the simulator: commits, trees, refs, worktrees and merges, as far as Overseer asks for them, with
 * the answers and the words of the real one. Refs and the entries of worktrees also lie in the files, because Overseer
 * reads them there. Files of a tree are names with a text; there are no modes, no ignored files and no submodules. A
 * command that it does not know is a fault of the simulator and says so.
 */
import type { Git, GitRunOptions } from "#git/git.ts";
import { gitFailure } from "#git/git.ts";
import type { ExecResult } from "#sys/exec.ts";
import type { Files } from "#sys/files.ts";

type Tree = ReadonlyMap<string, string>;

interface VirtualCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
}

interface VirtualWorktree {
  readonly path: string;
  readonly gitDir: string;
  /** A ref, or a commit when it is detached. */
  head: string;
  dirty: Map<string, string>;
}

export const REPOSITORY = "/overseer-simulation/repo/.git";
export const CHECKOUT = "/overseer-simulation/repo";
const MAIN = "refs/heads/main";
const FACTS = {
  version: { major: 2, minor: 45, patch: 0 },
  mergeTreeWriteTree: true,
  mergeTreeMergeBase: true,
  worktreeListZ: true,
} as const;

export class VirtualGit implements Git {
  private readonly commits = new Map<string, VirtualCommit>();
  /** How far each lies from the first. */
  private readonly depths = new Map<string, number>();
  private readonly trees = new Map<string, Tree>();
  private readonly refs = new Map<string, string>();
  private readonly worktrees = new Map<string, VirtualWorktree>();
  /** Those whose own git files are spoiled; what lies in their files is there. */
  private readonly broken = new Set<string>();
  private made = 0;

  constructor(private readonly files: Files) {
    void files.makeDir(`${REPOSITORY}/worktrees`);
    const first = this.addCommit({ tree: this.addTree(new Map()), parents: [], message: "first" });
    this.setRef(MAIN, first);
    this.worktrees.set(CHECKOUT, { path: CHECKOUT, gitDir: REPOSITORY, head: MAIN, dirty: new Map() });
    void files.write(`${REPOSITORY}/HEAD`, `ref: ${MAIN}\n`);
  }

  // What agents and invariants see

  /** An agent changes a file. False where there is no worktree any more. */
  edit(path: string, file: string, text: string): boolean {
    const worktree = this.worktrees.get(path);
    worktree?.dirty.set(file, text);
    return worktree !== undefined;
  }

  /** An agent commits everything; undefined when there is nothing to commit. */
  commitAll(path: string, message: string): string | undefined {
    const worktree = this.worktrees.get(path);
    if (!worktree || worktree.dirty.size === 0 || this.broken.has(path)) return undefined;
    const head = this.headOf(worktree);
    const tree = this.addTree(new Map([...this.treeOf(head), ...worktree.dirty]));
    const commit = this.addCommit({ tree, parents: [head], message });
    worktree.dirty = new Map();
    if (worktree.head.startsWith("refs/")) this.setRef(worktree.head, commit);
    else worktree.head = commit;
    return commit;
  }

  /** An agent merges the main branch into its own and settles conflicts in its own favour. */
  mergeMain(path: string): string | undefined {
    const worktree = this.worktrees.get(path);
    const main = this.refs.get(MAIN);
    if (!worktree || main === undefined || !worktree.head.startsWith("refs/") || this.broken.has(path))
      return undefined;
    const head = this.headOf(worktree);
    if (this.isAncestor(main, head)) return undefined;
    const base = this.baseOf(head, main);
    const [old, ours] = [base === undefined ? new Map<string, string>() : this.treeOf(base), this.treeOf(head)];
    const merged = new Map(ours);
    for (const [name, text] of this.treeOf(main)) if (ours.get(name) === old.get(name)) merged.set(name, text);
    const commit = this.addCommit({ tree: this.addTree(merged), parents: [head, main], message: "merge" });
    this.setRef(worktree.head, commit);
    return commit;
  }

  /** Somebody scribbles over its HEAD. */
  breakWorktree(path: string): void {
    if (path !== CHECKOUT && this.worktrees.has(path)) this.broken.add(path);
  }

  isBroken(path: string): boolean {
    return this.broken.has(path);
  }

  tip(ref: string): string | undefined {
    return this.refs.get(ref);
  }

  /** Everything that some ref still reaches. */
  reachable(): Set<string> {
    const seen = new Set<string>();
    for (const tip of this.refs.values()) this.collect(tip, seen);
    return seen;
  }

  contains(ref: string, commit: string): boolean {
    const tip = this.refs.get(ref);
    return tip !== undefined && this.isAncestor(commit, tip);
  }

  contentAt(path: string): Tree {
    const worktree = this.worktrees.get(path);
    return worktree ? this.treeOf(this.headOf(worktree)) : new Map();
  }

  listLinkedWorktrees(): string[] {
    return [...this.worktrees.keys()].filter((path) => path !== CHECKOUT);
  }

  // What Overseer asks

  async probe() {
    return FACTS;
  }

  async run(args: readonly string[], options: GitRunOptions): Promise<string> {
    const result = this.answer(args, options);
    if (result.code !== 0) throw gitFailure(args, options.cwd, result);
    return result.stdout;
  }

  async attempt(args: readonly string[], options: GitRunOptions): Promise<ExecResult> {
    return this.answer(args, options);
  }

  private answer(given: readonly string[], options: GitRunOptions): ExecResult {
    const args = [...given];
    while (args[0] === "-c") args.splice(0, 2);
    if (args[0] === "--literal-pathspecs") args.shift();
    const [verb = "", ...rest] = args;
    // A git directory that stands in for the lost one leads to the files all the same.
    if (this.broken.has(options.cwd) && options.env?.GIT_DIR === undefined)
      return failWith(128, `fatal: not a git repository: ${options.cwd}`);
    switch (verb) {
      case "rev-parse":
        return this.revParse(rest, options.cwd);
      case "symbolic-ref":
        return rest.at(-1) === "HEAD" ? succeedWith(`${this.worktrees.get(options.cwd)?.head ?? MAIN}\n`) : failWith(1);
      case "merge-base":
        return this.mergeBase(rest, options.cwd);
      case "status":
        return succeedWith(
          [...(this.worktrees.get(options.cwd)?.dirty.keys() ?? [])].map((name) => `? ${name}\0`).join(""),
        );
      case "config":
        return failWith(1);
      case "update-ref":
        return this.updateRefs(String(options.stdin ?? ""));
      case "for-each-ref":
        return this.listRefs(rest.at(-1) ?? "");
      case "worktree":
        return this.worktree(rest);
      // A checkout moves as a whole here, so that nothing in it is ever unlike an index.
      case "read-tree":
      case "update-index":
      case "diff-index":
      case "ls-files":
      case "diff-files":
        return succeedWith("");
      case "write-tree":
        return this.writeTree(options);
      case "commit-tree":
        return this.commitTree(rest, String(options.stdin ?? ""));
      case "cat-file":
        return this.showCommit(rest.at(-1) ?? "");
      case "ls-tree":
        return rest.includes("--")
          ? this.listTree(rest[rest.indexOf("--") - 1] ?? "", rest.slice(rest.indexOf("--") + 1))
          : this.listTree(rest.at(-1) ?? "");
      // Nothing here goes by dates: each commit is younger than those it stands on, and that is all.
      case "log":
        return rest.includes("--format=%ct")
          ? succeedWith(
              rest
                .slice(rest.indexOf("--end-of-options") + 1)
                .map((one) => `${this.depths.get(one) ?? 0}\n`)
                .join(""),
            )
          : this.refuseUnknown(given);
      // No agent here merges the target into its branch by itself.
      case "rev-list":
        return succeedWith("");
      case "diff-tree":
        return this.diffTree(rest.at(-2) ?? "", rest.at(-1) ?? "", rest.includes("--raw"));
      case "merge-tree":
        return this.mergeTree(rest.at(-2) ?? "", rest.at(-1) ?? "");
      case "checkout":
        return this.checkout(options.cwd, rest.at(-1) ?? "");
      case "clean":
        this.worktrees.get(options.cwd)?.dirty.clear();
        return succeedWith("");
      case "merge":
        return this.fastForward(options.cwd, rest.at(-1) ?? "");
      case "check-attr":
        return succeedWith("");
      default:
        return this.refuseUnknown(given);
    }
  }

  private refuseUnknown(given: readonly string[]): never {
    throw new Error(`The virtual git does not know: ${given.join(" ")}`);
  }

  private revParse(args: readonly string[], cwd: string): ExecResult {
    const last = args.at(-1) ?? "";
    if (last.endsWith("^{commit}")) {
      const commit = this.resolve(last.slice(0, -"^{commit}".length), cwd);
      return commit === undefined ? failWith(1) : succeedWith(`${commit}\n`);
    }
    if (last.endsWith("^{tree}")) {
      const name = last.slice(0, -"^{tree}".length);
      const commit = this.resolve(name, cwd);
      const tree = commit === undefined ? (this.trees.has(name) ? name : undefined) : this.commits.get(commit)?.tree;
      return tree === undefined ? failWith(1) : succeedWith(`${tree}\n`);
    }
    if (args.includes("--is-bare-repository")) return succeedWith(`false\n${REPOSITORY}\n${REPOSITORY}\nsha1\n`);
    const worktree = this.worktrees.get(cwd);
    if (!worktree) return failWith(128, "fatal: not a git repository (or any of the parent directories): .git");
    const branch = worktree.head.startsWith("refs/") ? worktree.head : "HEAD";
    const facts = [worktree.path, REPOSITORY, worktree.gitDir, "sha1", this.headOf(worktree), branch];
    return succeedWith(`${facts.join("\n")}\n`);
  }

  private mergeBase(args: readonly string[], cwd: string): ExecResult {
    const [one, other] = args.slice(-2).map((name) => this.resolve(name, cwd));
    if (one === undefined || other === undefined) return failWith(128, "fatal: Not a valid object name");
    if (args[0] === "--is-ancestor") return this.isAncestor(one, other) ? succeedWith("") : failWith(1);
    const base = this.baseOf(one, other);
    return base === undefined ? failWith(1) : succeedWith(`${base}\n`);
  }

  private updateRefs(stdin: string): ExecResult {
    const words = stdin.split("\0");
    const changes: { ref: string; to: string | undefined; from: string | undefined }[] = [];
    for (let at = 0; at < words.length - 1; ) {
      const [verb = "", ref = ""] = (words[at] ?? "").split(" ");
      if (verb === "create") changes.push({ ref, to: words[at + 1], from: undefined });
      else if (verb === "update") changes.push({ ref, to: words[at + 1], from: words[at + 2] });
      else changes.push({ ref, to: undefined, from: words[at + 1] });
      at += verb === "update" ? 3 : 2;
    }
    for (const { ref, to, from } of changes) {
      // An empty value is none: then nothing is compared.
      if (from !== "" && this.refs.get(ref) !== from)
        return failWith(128, `fatal: cannot lock ref '${ref}': is at another, but expected`);
      if (to !== undefined && !this.commits.has(to)) return failWith(128, "fatal: nonexistent object");
    }
    for (const { ref, to } of changes) this.setRef(ref, to);
    return succeedWith("");
  }

  private listRefs(prefix: string): ExecResult {
    const below = prefix.endsWith("/") ? prefix : `${prefix}/`;
    const names = [...this.refs.keys()].filter((ref) => ref === prefix || ref.startsWith(below)).sort();
    return succeedWith(names.map((ref) => `${ref} ${this.refs.get(ref)} 0\n`).join(""));
  }

  private worktree([verb, ...rest]: readonly string[]): ExecResult {
    const [path = "", what = ""] = rest.slice(rest.indexOf("--") + 1);
    if (verb === "list")
      return succeedWith([...this.worktrees.values()].map((one) => this.renderWorktree(one)).join(""));
    if (verb === "remove") {
      if (!this.worktrees.has(path)) return failWith(128, `fatal: '${path}' is not a working tree`);
      void this.files.remove(this.worktrees.get(path)?.gitDir ?? "");
      this.worktrees.delete(path);
      this.broken.delete(path);
      void this.files.remove(path);
      return succeedWith("");
    }
    const detached = rest.includes("--detach");
    if (this.worktrees.has(path) && !detached) {
      return failWith(128, `fatal: '${path}' is a missing but already registered worktree`);
    }
    const head = detached ? this.resolve(what, CHECKOUT) : `refs/heads/${what}`;
    if (head === undefined || (!detached && !this.refs.has(head)))
      return failWith(128, `fatal: invalid reference: ${what}`);
    this.made += 1;
    const gitDir = `${REPOSITORY}/worktrees/w${this.made}`;
    this.worktrees.set(path, { path, gitDir, head, dirty: new Map() });
    void this.files.makeDir(gitDir);
    void this.files.write(`${gitDir}/gitdir`, `${path}/.git\n`);
    void this.files.write(`${gitDir}/HEAD`, detached ? `${head}\n` : `ref: ${head}\n`);
    void this.files.makeDir(path);
    void this.files.write(`${path}/.git`, `gitdir: ${gitDir}\n`);
    return succeedWith("");
  }

  private renderWorktree(worktree: VirtualWorktree): string {
    const on = worktree.head.startsWith("refs/") ? `branch ${worktree.head}` : "detached";
    return `worktree ${worktree.path}\0HEAD ${this.headOf(worktree)}\0${on}\0\0`;
  }

  private writeTree({ cwd, env }: GitRunOptions): ExecResult {
    const worktree = this.worktrees.get(cwd);
    if (!worktree) return failWith(128, "fatal: not a git repository");
    const committed = this.treeOf(this.headOf(worktree));
    const whole = env?.GIT_INDEX_FILE?.endsWith("/worktree.index") ?? false;
    return succeedWith(`${this.addTree(whole ? new Map([...committed, ...worktree.dirty]) : committed)}\n`);
  }

  private commitTree(args: readonly string[], message: string): ExecResult {
    const parents = args.flatMap((word, at) => (args[at - 1] === "-p" ? [word] : []));
    return succeedWith(`${this.addCommit({ tree: args.at(-1) ?? "", parents, message })}\n`);
  }

  private showCommit(id: string): ExecResult {
    const commit = this.commits.get(id);
    if (!commit) return failWith(128, "fatal: Not a valid object name");
    const parents = commit.parents.map((parent) => `parent ${parent}\n`).join("");
    return succeedWith(`tree ${commit.tree}\n${parents}\n${commit.message}`);
  }

  private listTree(name: string, only?: readonly string[]): ExecResult {
    const tree = this.treeNamed(name);
    if (!tree) return failWith(128, "fatal: Not a valid object name");
    const paths = [...tree.keys()].filter((path) => only === undefined || only.includes(path));
    return succeedWith(paths.map((path) => `100644 blob ${makeObjectId(path)}\t${path}\0`).join(""));
  }

  private diffTree(from: string, to: string, raw: boolean): ExecResult {
    const [before, after] = [this.treeNamed(from), this.treeNamed(to)];
    if (!before || !after) return failWith(128, "fatal: bad object");
    const names = [...new Set([...before.keys(), ...after.keys()])].sort();
    const changes = names.filter((name) => before.get(name) !== after.get(name));
    const kind = (name: string) => (before.has(name) ? (after.has(name) ? "M" : "D") : "A");
    if (!raw) return succeedWith(changes.map((name) => `${kind(name)}\0${name}\0`).join(""));
    const version = (content: string | undefined) =>
      content === undefined ? ["000000", "0".repeat(40)] : ["100644", makeObjectId(content)];
    return succeedWith(
      changes
        .map((name) => {
          const [[wasMode, was], [nowMode, now]] = [version(before.get(name)), version(after.get(name))];
          return `:${wasMode} ${nowMode} ${was} ${now} ${kind(name)}\0${name}\0`;
        })
        .join(""),
    );
  }

  private mergeTree(target: string, commit: string): ExecResult {
    if (!this.commits.has(target) || !this.commits.has(commit))
      return failWith(128, "fatal: not something we can merge");
    const base = this.baseOf(target, commit);
    const [old, ours, theirs] = [
      base === undefined ? new Map() : this.treeOf(base),
      this.treeOf(target),
      this.treeOf(commit),
    ];
    const merged = new Map(ours);
    const conflicts: string[] = [];
    for (const name of new Set([...ours.keys(), ...theirs.keys()])) {
      const [before, mine, other] = [old.get(name), ours.get(name), theirs.get(name)];
      if (mine === other || other === before) continue;
      if (mine !== before) conflicts.push(name);
      else if (other === undefined) merged.delete(name);
      else merged.set(name, other);
    }
    const tree = this.addTree(merged);
    if (conflicts.length > 0) return { ...failWith(1), stdout: `${tree}\0${conflicts.sort().join("\0")}\0` };
    return succeedWith(`${tree}\0`);
  }

  private checkout(cwd: string, commit: string): ExecResult {
    const worktree = this.worktrees.get(cwd);
    if (!worktree || !this.commits.has(commit)) return failWith(128, "fatal: reference is not a tree");
    worktree.head = commit;
    worktree.dirty.clear();
    void this.files.write(`${worktree.gitDir}/HEAD`, `${commit}\n`);
    return succeedWith("");
  }

  private fastForward(cwd: string, to: string): ExecResult {
    const worktree = this.worktrees.get(cwd);
    if (!worktree || !this.isAncestor(this.headOf(worktree), to))
      return failWith(128, "fatal: Not possible to fast-forward");
    this.setRef(worktree.head, to);
    return succeedWith("");
  }

  // Objects

  private resolve(name: string, cwd: string): string | undefined {
    if (name === "HEAD") {
      const worktree = this.worktrees.get(cwd) ?? this.worktrees.get(CHECKOUT);
      return worktree && this.headOf(worktree);
    }
    if (name.startsWith("refs/")) return this.refs.get(name);
    return this.commits.has(name) ? name : this.refs.get(`refs/heads/${name}`);
  }

  private headOf({ head }: VirtualWorktree): string {
    return head.startsWith("refs/") ? (this.refs.get(head) ?? "") : head;
  }

  private setRef(ref: string, to: string | undefined): void {
    const path = `${REPOSITORY}/${ref}`;
    if (to === undefined) {
      this.refs.delete(ref);
      void this.files.remove(path);
      return;
    }
    this.refs.set(ref, to);
    void this.files.makeDir(path.slice(0, path.lastIndexOf("/")));
    void this.files.write(path, `${to}\n`);
  }

  private addTree(tree: Tree): string {
    const text = [...tree].sort(([a], [b]) => (a < b ? -1 : 1)).flat();
    const id = makeObjectId(`tree ${text.join("\0")}`);
    this.trees.set(id, tree);
    return id;
  }

  private addCommit(commit: VirtualCommit): string {
    const id = makeObjectId(`commit ${commit.tree} ${commit.parents.join(" ")} ${commit.message}`);
    this.commits.set(id, commit);
    this.depths.set(id, 1 + Math.max(0, ...commit.parents.map((parent) => this.depthOf(parent))));
    return id;
  }

  private treeNamed(name: string): Tree | undefined {
    return this.trees.get(this.commits.get(this.resolve(name, CHECKOUT) ?? "")?.tree ?? name);
  }

  private treeOf(commit: string): Tree {
    return this.trees.get(this.commits.get(commit)?.tree ?? "") ?? new Map();
  }

  private collect(from: string, seen: Set<string>): void {
    const waiting = [from];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push(...(this.commits.get(next)?.parents ?? []));
    }
  }

  /** Nothing above a commit is deeper than it is, so the way back ends there. */
  private isAncestor(ancestor: string, of: string): boolean {
    const depth = this.depthOf(ancestor);
    const seen = new Set<string>();
    const waiting = [of];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (next === ancestor) return true;
      if (seen.has(next) || this.depthOf(next) <= depth) continue;
      seen.add(next);
      waiting.push(...(this.commits.get(next)?.parents ?? []));
    }
    return false;
  }

  private depthOf(commit: string): number {
    return this.depths.get(commit) ?? 0;
  }

  /** The deepest commit that both hold: walking back from both, always from where it is deepest. */
  private baseOf(one: string, other: string): string | undefined {
    const reachedFrom = new Map<string, number>();
    const byDepth: string[][] = [];
    const reach = (commit: string, from: number) => {
      const before = reachedFrom.get(commit) ?? 0;
      if (before === 0) {
        const depth = this.depthOf(commit);
        byDepth[depth] = [...(byDepth[depth] ?? []), commit];
      }
      reachedFrom.set(commit, before | from);
    };
    reach(one, 1);
    reach(other, 2);
    for (let depth = byDepth.length - 1; depth >= 0; depth -= 1) {
      for (const commit of byDepth[depth] ?? []) {
        const from = reachedFrom.get(commit) ?? 0;
        if (from === 3) return commit;
        for (const parent of this.commits.get(commit)?.parents ?? []) reach(parent, from);
      }
    }
    return undefined;
  }
}

function makeObjectId(text: string): string {
  return (Bun.hash(text).toString(16).padStart(16, "0") + Bun.hash(`${text}.`).toString(16).padStart(16, "0")).padEnd(
    40,
    "0",
  );
}

const QUIET: ExecResult = { code: 0, signal: null, stdout: "", stderr: "", timedOut: false, truncated: false };

function succeedWith(stdout: string): ExecResult {
  return { ...QUIET, stdout };
}

function failWith(code: number, stderr = ""): ExecResult {
  return { ...QUIET, code, stderr };
}
