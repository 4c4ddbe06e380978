import { expect, test } from "bun:test";
import { VirtualLocks } from "#sim/virtual-locks.ts";
import { sqliteLocks } from "#store/sqlite/locks.ts";
import { tempDir } from "../support/temp.ts";
import { locksSuite } from "./locks.suite.ts";

const HOLDER = `
  const { sqliteLocks } = await import(${JSON.stringify(`${import.meta.dir}/../../src/store/sqlite/locks.ts`)});
  console.log(sqliteLocks.take(process.argv.at(-1)) ? "held" : "busy");
  setTimeout(() => undefined, 20_000);`;

async function holdInProcess(path: string) {
  const child = Bun.spawn([process.execPath, "-e", HOLDER, path], { stdout: "pipe", stderr: "ignore" });
  const { value } = await child.stdout.getReader().read();
  const die = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  if (new TextDecoder().decode(value).trim() === "held") return { die };
  await die();
  return undefined;
}

locksSuite("SQLite", () => ({
  subject: { locks: sqliteLocks, holdElsewhere: holdInProcess },
  path: `${tempDir("lock-")}/lock.db`,
}));

locksSuite("virtual", () => {
  const machine = new VirtualLocks();
  return {
    path: "/run/lock.db",
    subject: {
      locks: machine.viewFrom(() => false),
      async holdElsewhere(path) {
        let dead = false;
        const lock = machine.viewFrom(() => dead).take(path);
        const die = async () => {
          dead = true;
        };
        return lock && { die };
      },
    },
  };
});

test("where there can be no lock, that is said", () => {
  expect(() => sqliteLocks.take(`${tempDir("lock-")}/missing/lock.db`)).toThrow("cannot be opened");
});
