/** The pool's command with a real shell: whoever finds its end finds everything that it printed. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "#sys/clock.ts";
import { systemExec } from "#sys/exec.ts";
import { systemFiles } from "#sys/files.ts";
import { systemProcesses } from "#sys/processes.ts";
import { makeSeededIds } from "#sys/virtual-ids.ts";
import { tempDir } from "../../../test/support/temp.ts";
import { askPool, finishAsking, forgetAsking } from "./task-command.ts";

function makeParts() {
  const state = tempDir("pool-");
  const root = { project: state, userDir: state, state, gitCommonDir: state };
  const ports = { files: systemFiles(), exec: systemExec(), processes: systemProcesses(), clock: systemClock() };
  return { ...ports, root, ids: makeSeededIds(1), env: { PATH: process.env.PATH ?? "" } };
}

const command = (line: string, cwd: string) => ({ line, cwd, timeoutMs: 5_000 });

describe("AUTO-12: no crash of ours loses what the pool's command said", () => {
  test("its end comes last, so that a daemon that comes back just then takes no task for none", async () => {
    const parts = makeParts();
    const pool = join(parts.root.state, "run", "pool");
    for (let round = 0; round < 5; round += 1) {
      const asked = askPool(parts, command("echo the task; echo why >&2", parts.root.state), 1_000);
      let dir: string | undefined;
      while (dir === undefined || !existsSync(join(dir, "end"))) {
        const [pull] = existsSync(pool) ? readdirSync(pool) : [];
        dir = pull === undefined ? undefined : join(pool, pull);
        await Bun.sleep(0);
      }
      expect([readFileSync(join(dir, "stdout"), "utf8"), readFileSync(join(dir, "stderr"), "utf8")]).toEqual([
        ...["the task\n", "why\n"],
      ]);
      await forgetAsking(parts, (await asked).pull);
    }
  });

  test("what was asked by a daemon that is no more is found by the next one, until it is forgotten", async () => {
    const parts = makeParts();
    const { pull } = await askPool(parts, command("printf 'Fix it.'; exit 4", parts.root.state), 1_000);
    const found = await finishAsking(parts, 1_000, 1_000);
    expect(found).toMatchObject({ pull, adopted: true, run: { code: 4, stdout: "Fix it.", bytes: 7, hung: false } });
    await forgetAsking(parts, pull);
    expect(await finishAsking(parts, 1_000, 1_000)).toBeUndefined();
  });

  test("what it leaves behind on its output is ended, and what it said is taken", async () => {
    const parts = makeParts();
    const { run } = await askPool(parts, command("echo the task; sleep 30 &", parts.root.state), 1_000);
    expect(run).toMatchObject({ code: 0, hung: false, stdout: "the task\n" });
  });

  test("FAIL-2: one that hangs is ended, and what it may have said is never taken for nothing", async () => {
    const parts = makeParts();
    const line = "echo the task; sleep 30";
    const { run } = await askPool(parts, { ...command(line, parts.root.state), timeoutMs: 300 }, 1_000);
    expect(run).toMatchObject({ code: null, hung: true });
  });

  test("one whose end nobody saw is said to be lost, not empty", async () => {
    const parts = makeParts();
    const { pull } = await askPool(parts, command("echo the task", parts.root.state), 1_000);
    rmSync(join(parts.root.state, "run", "pool", pull, "end"));
    expect(await finishAsking(parts, 1_000, 1_000)).toMatchObject({ pull, run: null });
  });
});
