/** The wall clock is set back while agents work: starts continue at once, and the daemon says that time was skipped. */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { openForWriting } from "#store/open.ts";
import type { Store } from "#store/store.ts";
import { addRunning } from "../support/attempts.ts";
import { bundled } from "../support/cli.ts";
import { eventually } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { say } from "../support/steps.ts";

setDefaultTimeout(60_000);
beforeAll(bundled);

const fleetOf = endedFleets();
const DAY_MS = 86_400_000;

test("EDGE-10: agents started under a clock that was a day ahead hold up nobody once it is right again", async () => {
  const fleet = await fleetOf({ terminal: "detached" });
  const config = readFileSync(`${fleet.userDir}/config.yaml`, "utf8");
  writeFileSync(
    `${fleet.userDir}/config.yaml`,
    config.replace("stagger: 0s", "stagger: 2s").replace("startsPerMinute: 1000", "startsPerMinute: 3"),
  );
  const store = await openForWriting({ address: `${fleet.state}/overseer.db` });
  const ahead: Store = { ...store, commit: (request) => store.commit({ ...request, at: Date.now() + DAY_MS }) };
  const owner = Bun.spawn(["sleep", "300"]);
  const runner = fleet.processes.identify(owner.pid);
  if (!runner) throw new Error("It is gone already.");
  await addRunning(ahead, 3, runner);
  await store.close();
  const { attempt } = await fleet.sling("b", [say("here")]);
  await fleet.said(attempt, "here");

  await fleet.ok("up");
  await eventually(
    () => fleet.all("time.skipped").length > 0,
    () => "the daemon to say so",
  );
  expect(fleet.all("time.skipped")[0]?.data.ms).toBeGreaterThan(DAY_MS / 2);
  await fleet.ok("down");
  owner.kill();
  await owner.exited;
});
