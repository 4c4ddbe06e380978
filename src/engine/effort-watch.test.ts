/** LIVE-1: what real processes do, seen from outside; the time between two looks is the test's own. */
import { afterEach, expect, test } from "bun:test";
import { type ProcessIdentity, systemProcesses } from "#sys/processes.ts";
import { EffortWatch } from "./effort-watch.ts";

const MINUTE = 60_000;
const processes = systemProcesses();
const children: Bun.Subprocess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) {
    process.kill(child.pid, "SIGCONT");
    process.kill(-child.pid, "SIGKILL");
  }
});

/** A shell that stands for the CLI, and what it runs. */
function start(command: string): ProcessIdentity {
  const child = Bun.spawn(["setsid", "sh", "-c", `${command} & wait`], { stdout: "ignore" });
  children.push(child);
  const identity = processes.identify(child.pid);
  if (!identity) throw new Error("It is gone already.");
  return identity;
}

async function until(look: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!look()) {
    if (performance.now() > deadline) throw new Error("Waited in vain.");
    await Bun.sleep(10);
  }
}

const onLinux = test.skipIf(process.platform !== "linux");

onLinux("LIVE-1: a command that only sleeps stands still for as long as nobody sees it move", async () => {
  const root = start("exec sleep infinity");
  const watch = new EffortWatch(processes);
  // Until what it starts is up.
  await until(() =>
    processes.list().some(({ parent, command }) => parent === root.pid && command.includes("infinity")),
  );
  watch.look();
  expect(watch.measureStill("a", root, false, 0)).toBeNull();
  watch.look();
  expect(watch.measureStill("a", root, false, 20 * MINUTE)).toBe(20 * MINUTE);
});

onLinux("LIVE-1: one that prints now and then does not, however little it computes", async () => {
  const root = start("while :; do echo built; sleep 0.02; done");
  const watch = new EffortWatch(processes);
  watch.look();
  watch.measureStill("a", root, false, 0);
  let now = 0;
  await until(() => {
    now += 20 * MINUTE;
    watch.look();
    return watch.measureStill("a", root, false, now) === 0;
  });
});

onLinux("LIVE-1: a process that is held by a signal is seen as such, until it is let go", async () => {
  const root = start("sleep infinity");
  const watch = new EffortWatch(processes);
  const isStopped = () => {
    watch.look();
    return watch.isStopped(root);
  };
  expect(isStopped()).toBe(false);
  processes.signal(root, "SIGSTOP");
  await until(isStopped);
  processes.signal(root, "SIGCONT");
  await until(() => !isStopped());
});
