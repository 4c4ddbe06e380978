/**
 * An agent that bends what judges it: by editing, deleting, renaming, changing the mode or the kind of a protected file,
 * by Overseer's own configuration, or by leaving its scope. In `auto`, alone and in a batch, merged and squashed, none of
 * it lands without a person, and honest work beside it does.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runChecks } from "#act/checks/check.ts";
import { workOffQueue } from "#act/landing/queue.ts";
import { acceptWork, rejectLanding, review } from "#control/review.ts";
import { openQuestions } from "#store/assignments.ts";
import { asPerson } from "../support/landing-observations.ts";
import { foundLanding, GOAL, landingWorld, tasks } from "../support/landing-world.ts";
import { gitIn, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

interface Trick {
  readonly what: string;
  /** Done in the agent's worktree; everything there is then committed. */
  play(worktree: string): void;
  readonly touches: string;
  readonly scope?: readonly string[];
}

const TRICKS: readonly Trick[] = [
  {
    what: "edits the test that judges it",
    play: (at) => writeFileSync(join(at, "tests/unit.sh"), "exit 0\n"),
    touches: "tests/unit.sh",
  },
  { what: "deletes its test", play: (at) => rmSync(join(at, "tests/unit.sh")), touches: "tests/unit.sh" },
  {
    what: "renames its test away",
    play: (at) => gitIn(at, "mv", "tests/unit.sh", "src/unit.sh"),
    touches: "tests/unit.sh",
  },
  {
    what: "makes its test unrunnable",
    play: (at) => chmodSync(join(at, "tests/unit.sh"), 0o644),
    touches: "tests/unit.sh",
  },
  {
    what: "puts a link in the place of its tests",
    play(at) {
      rmSync(join(at, "tests"), { recursive: true });
      symlinkSync("src", join(at, "tests"));
    },
    touches: "tests",
  },
  {
    what: "adds a test helper",
    play: (at) => writeFileSync(join(at, "tests/setup.sh"), "exit 0\n"),
    touches: "tests/setup.sh",
  },
  {
    what: "edits Overseer's configuration",
    play(at) {
      mkdirSync(join(at, ".overseer"), { recursive: true });
      writeFileSync(join(at, ".overseer/config.yaml"), "checks: {}\n");
      gitIn(at, "add", "--force", ".overseer/config.yaml");
    },
    touches: ".overseer/config.yaml",
  },
  {
    what: "makes a link of Overseer's directory",
    play: (at) => symlinkSync("src", join(at, ".overseer")),
    touches: ".overseer",
  },
  {
    what: "edits the program that a check's command names",
    play: (at) => writeFileSync(join(at, "check.sh"), "exit 0\n"),
    touches: "check.sh",
  },
  {
    what: "removes what a check's command names",
    play: (at) => rmSync(join(at, "check.sh")),
    touches: "check.sh",
  },
  {
    what: "switches hooks off for whoever comes after it",
    play(at) {
      mkdirSync(join(at, ".claude"), { recursive: true });
      writeFileSync(join(at, ".claude/settings.json"), '{"disableAllHooks":true}\n');
    },
    touches: ".claude/settings.json",
  },
  {
    what: "brings a server of tools along",
    play: (at) => writeFileSync(join(at, ".mcp.json"), "{}\n"),
    touches: ".mcp.json",
  },
  {
    what: "edits what a check's command names by a link",
    play: (at) => writeFileSync(join(at, "scripts/c.sh"), "exit 0\n"),
    touches: "scripts/c.sh",
  },
  {
    what: "turns the link that a check's command names",
    play(at) {
      rmSync(join(at, "linked.sh"));
      symlinkSync("src/a.txt", join(at, "linked.sh"));
    },
    touches: "linked.sh",
  },
  {
    what: "writes where the directory of an agent's CLI is a link to",
    play: (at) => writeFileSync(join(at, "shared/settings.json"), '{"disableAllHooks":true}\n'),
    touches: "shared/settings.json",
  },
  {
    what: "leaves its scope",
    play: (at) => writeFileSync(join(at, "README.md"), "mine\n"),
    touches: "README.md",
    scope: ["src"],
  },
];

const WAYS: [way: string, landing: object][] = [
  ["in a batch, merged", { batch: 20 }],
  ["alone, squashed", { batch: 1, strategy: "squash" }],
];
test.each(WAYS)(
  "SCOPE-1, MERGE-4: an agent that weakens what judges it does not land without a person: %s",
  async (_way, landing) => {
    const repo = tempRepo({
      files: {
        "README.md": "x\n",
        "check.sh": "test -f README.md\n",
        "scripts/c.sh": "exit 0 # really\n",
        "shared/settings.json": "{}\n",
        "src/a.txt": "a\n",
        "tests/unit.sh": "test -f src/a.txt\n",
      },
    });
    repo.git("update-index", "--chmod=+x", "tests/unit.sh");
    chmodSync(join(repo.path, "tests/unit.sh"), 0o755);
    symlinkSync("scripts/c.sh", join(repo.path, "linked.sh"));
    symlinkSync("shared", join(repo.path, ".gemini"));
    symlinkSync("..", join(repo.path, ".codex"));
    repo.git("add", "--all");
    repo.git("commit", "--quiet", "--message", "Runnable");
    await foundLanding(repo.path, tasks(TRICKS.length + 1));
    const checks = {
      unit: { command: "test ! -x tests/unit.sh || tests/unit.sh", protected: ["tests/"] },
      linked: { command: "sh linked.sh || true" },
      named: { command: "test ! -e check.sh || sh ./check.sh" },
    };
    const world = await landingWorld(repo.path, { config: { landing: { mode: "auto", ...landing }, checks } });
    const honest = await world.attempt("T1");
    world.commit(honest, { "src/b.txt": "b\n" });
    await world.report(honest);
    for (const [index, { play, scope }] of TRICKS.entries()) {
      const attempt = await world.attempt(`T${index + 2}`, scope ? { scope } : {});
      play(attempt.worktree);
      world.commit(attempt, { [`src/work-${index}.txt`]: "done\n" });
      await world.report(attempt);
    }
    for (let id = 1; id <= TRICKS.length + 1; id += 1) {
      expect((await runChecks(world.parts, { goalId: GOAL, nodeId: `T${id}` })).kind).toBe("checked");
    }
    await workOffQueue(world.parts);

    expect((await world.node("T1")).status).toBe("done");
    const landed = repo.git("ls-tree", "-r", "main").split("\n");
    expect(landed.map((line) => line.split("\t")[1])).toEqual([
      ".codex",
      ".gemini",
      "README.md",
      "check.sh",
      "linked.sh",
      "scripts/c.sh",
      "shared/settings.json",
      "src/a.txt",
      "src/b.txt",
      "tests/unit.sh",
    ]);
    expect(landed.at(-1)).toStartWith("100755");
    expect(repo.git("show", "main:tests/unit.sh")).toBe("test -f src/a.txt");
    const ada = asPerson(world);
    const { open } = await world.store.read({ open: openQuestions() });
    for (const [index, { what, touches }] of TRICKS.entries()) {
      const node = await world.node(`T${index + 2}`);
      expect([what, node.status, node.blockedReason?.kind]).toEqual([what, "blocked", "human"]);
      expect(open.filter((one) => one.workNodeId === node.workNodeId).map(({ text }) => text)).toEqual([
        expect.stringContaining(touches),
      ]);
      expect((await review(ada, { what: node.workNodeId })).overreach?.files).toContain(touches);
    }
    // Once more by itself, it is still a person's word that is needed; theirs decides.
    await workOffQueue(world.parts);
    expect(repo.git("show", "main:tests/unit.sh")).toBe("test -f src/a.txt");
    expect(await rejectLanding(ada, { what: "T2" }, "Leave the test alone.")).toMatchObject({ outcome: "returned" });
    expect(await acceptWork(ada, { what: "T7" }, "I asked for it")).toMatchObject({ outcome: "done" });
    expect(repo.git("show", "main:tests/setup.sh")).toBe("exit 0");
    await world.close();
  },
);
