/**
 * What an agent may keep doing while something of ours is gone, with the real Claude Code: the product moved away, the
 * database locked, missing, or no database at all. Tools that change nothing continue, and what their hooks had to say is
 * recorded later, once. Writing tools and the shell are refused while nobody can know whether the attempt still counts;
 * a database that is only locked can be read, so there the permit knows, and allows.
 */
import { Database } from "bun:sqlite";
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { type ClaudeVersion, failsClosed, HOOK_WAYS, type HookWay } from "../support/claude.ts";
import { ClaudeWorld, type Slung } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import { modelPrompt, textOf } from "../support/model-server.ts";
import { run } from "../support/steps.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const worlds: ClaudeWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.end();
});

/** The program as it would lie elsewhere on the disk, so that it can be moved without harming anybody. */
function copiedProduct(): string {
  const project = join(import.meta.dir, "../..");
  const copy = join(tempDir("product-"), "overseer");
  mkdirSync(copy);
  for (const part of ["bin", "dist", "src", "package.json"])
    cpSync(join(project, part), join(copy, part), { recursive: true });
  symlinkSync(join(project, "node_modules"), join(copy, "node_modules"));
  return copy;
}

interface Fault {
  readonly name: string;
  /** Makes it so; what it returns makes it good again. */
  readonly strike: () => () => void;
  readonly writes: "denied" | "allowed";
  readonly reason?: string;
  /** What became of what the sub-agent's hooks had to say. */
  readonly told: "recorded" | "spooled" | "lost";
}

function faultsIn(world: ClaudeWorld, product: string, version: ClaudeVersion, way: HookWay): Fault[] {
  const db = join(world.repo.path, ".git/overseer/overseer.db");
  const parts = ["", "-wal", "-shm"];
  const aside = () => {
    const there = parts.filter((part) => existsSync(`${db}${part}`));
    for (const part of there) renameSync(`${db}${part}`, `${db}.aside${part}`);
    return () => {
      for (const part of parts) rmSync(`${db}${part}`, { force: true });
      // The file itself last: whoever opened it without its log would begin another one, which then is overwritten.
      for (const part of there.toReversed()) renameSync(`${db}.aside${part}`, `${db}${part}`);
    };
  };
  return [
    {
      name: "moved",
      strike: () => {
        renameSync(product, `${product}.away`);
        return () => renameSync(`${product}.away`, product);
      },
      // A runner that is up needs none of the files it was started from.
      ...(way === "http" && failsClosed(version)
        ? { writes: "allowed" as const }
        : { writes: "denied" as const, reason: "permit hook could not run" }),
      told: way === "http" ? "recorded" : "lost",
    },
    {
      name: "locked",
      strike: () => {
        const other = new Database(db, { readwrite: true });
        other.run("pragma busy_timeout = 5000");
        other.run("begin exclusive");
        return () => {
          other.run("rollback");
          other.close();
        };
      },
      writes: "allowed",
      told: "spooled",
    },
    { name: "missing", strike: aside, writes: "denied", reason: "cannot be read", told: "spooled" },
    {
      name: "corrupt",
      strike: () => {
        const fix = aside();
        writeFileSync(db, "this is no database".repeat(500));
        return fix;
      },
      writes: "denied",
      reason: "cannot be read",
      told: "spooled",
    },
  ];
}

/** Waits for the fault; then, in one breath, what changes nothing; then a shell command and a file. */
function phase(name: string): string {
  const inner = `Look. ${renderScript([{ kind: "say", text: `Seen ${name}.` }])}`;
  const calls = [
    { tool: "Read", input: { file_path: "README.md" } },
    { tool: "Agent", input: { description: "look", prompt: inner, subagent_type: "general-purpose" } },
  ];
  const steps: Step[] = [
    run(`touch began-${name}; for i in $(seq 600); do [ -e go-${name} ] && exit 0; sleep 0.05; done`),
    run(`echo said ${name}`),
    { kind: "edit", file: `${name}.txt`, content: "written\n" },
    { kind: "say", text: `End of ${name}.` },
  ];
  return modelPrompt(`Phase ${name}`, steps, { 1: { calls } });
}

test.each(HOOK_WAYS)(
  "HOOK-3, SCOPE-1: with Claude Code %s, hooks by %s, what changes nothing continues and what writes is refused, whatever of ours is gone",
  async (version, hooks) => {
    const product = copiedProduct();
    const overseer = join(product, "bin/overseer");
    const world = await ClaudeWorld.start({ version, hooks, subagents: true, overseer });
    worlds.push(world);
    const spool = (slung: Slung) => {
      const directory = join(world.repo.path, `.git/overseer/run/spool/${slung.attempt}`);
      return existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith(".json")) : [];
    };
    let slung: Slung | undefined;
    for (const fault of faultsIn(world, product, version, hooks)) {
      if (slung === undefined) slung = await world.sling(phase(fault.name), "--name", "ada");
      else await world.send(slung, phase(fault.name));
      const who = slung;
      const { worktree } = who;
      await world.until(() => existsSync(join(worktree, `began-${fault.name}`)), "the tool");
      const counted = (["sub.started", "tool.ended", "turn.ended"] as const).map(
        (kind) => world.signals(who, kind).length,
      );
      const [subs = 0, ended = 0, turns = 0] = counted;
      const fix = fault.strike();
      try {
        writeFileSync(join(worktree, `go-${fault.name}`), "");
        await world.until(
          () => world.model.requests.some((request) => textOf(request).includes(`Seen ${fault.name}.`)),
          `the sub-agent of ${fault.name}`,
        );
        const written = `"file_path":"${fault.name}.txt"`;
        await world.until(
          () => world.model.requests.some(({ body }) => JSON.stringify(body.messages).includes(written)),
          `what became of the write of ${fault.name}`,
        );
        if (fault.told === "spooled") expect(spool(slung).length).toBeGreaterThan(0);
      } finally {
        fix();
      }
      // Counted from when the tool began: a turn that only tells of an ended sub-agent may lie before it.
      await world.until(() => world.signals(who, "tool.ended").length >= ended + 5, `the calls of ${fault.name}`);
      await world.turns(slung, turns + 1);
      const calls = world.signals(slung, "tool.ended").slice(ended);
      const outcomes = Object.fromEntries(calls.map(({ data }) => [data.tool, data.ok ? "ok" : data.errorClass]));
      const permitted = fault.writes === "allowed" ? "ok" : "denied";
      expect([fault.name, outcomes]).toEqual([
        fault.name,
        { Bash: permitted, Read: "ok", Agent: "ok", Write: permitted },
      ]);
      if (fault.reason) expect(calls.find(({ data }) => data.tool === "Write")?.data.result).toContain(fault.reason);
      expect(existsSync(join(worktree, `${fault.name}.txt`))).toBe(fault.writes === "allowed");
      await world.until(() => slung && spool(slung).length === 0, "the spool to be folded");
      expect([fault.name, world.signals(slung, "sub.started").length - subs]).toEqual([
        fault.name,
        fault.told === "lost" ? 0 : 1,
      ]);
    }
    if (!slung) throw new Error("nobody was slung");
    // Four turns of five answers and one of a sub-agent each: everything was counted, and once. The CLI runs sub-agents in
    // the background, and begins a turn of its own to tell of one that ended after the turn that launched it.
    const turns = world.signals(slung, "turn.ended");
    const ofItsOwn = world.signals(slung, "turn.started").filter(({ data }) => data.by === "agent").length;
    expect(turns.every(({ data }) => data.ok)).toBe(true);
    expect(turns.length - ofItsOwn).toBe(4);
    expect(ofItsOwn).toBeLessThanOrEqual(world.signals(slung, "sub.ended").length + 1); // one sub-agent's hooks were away
    expect(world.pulse(slung)?.usage).toMatchObject({
      turns: turns.length,
      inputTokens: 1000 * world.model.requests.filter(({ kind }) => kind === "conversation").length,
    });
    expect(world.signals(slung, "session.started")).toHaveLength(1);
  },
);
