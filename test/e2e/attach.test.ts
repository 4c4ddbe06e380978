/** `attach` in a real terminal: one reads along, writes, is told what becomes of it, leaves, and learns why it closes. */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { bundled, OVERSEER } from "../support/cli.ts";
import { eventually } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { say, wait } from "../support/steps.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);
const fleetOf = endedFleets();

let socket = "";
const tmux = (...words: string[]) =>
  Bun.spawnSync(["tmux", "-S", socket, "-f", "/dev/null", ...words]).stdout.toString();
// Before its socket goes with the test's directory.
afterEach(() => {
  if (socket) tmux("kill-server");
});
const shows = (text: string) =>
  eventually(
    () => (tmux("capture-pane", "-p", "-J", "-S", "-200", "-t", "w").includes(text) ? true : undefined),
    () => `${text}\n${tmux("capture-pane", "-p", "-S", "-200", "-t", "w")}`,
  );

test("CTL-1: attach shows an agent's conversation over a line to type in, and says why it closes", async () => {
  const fleet = await fleetOf();
  const { attempt } = await fleet.sling("a", [say("I am here."), wait, say("I heard you."), wait]);
  await fleet.turns(attempt, 1);
  socket = join(tempDir("t-"), "s");
  const path = `PATH=${process.env.PATH}`;
  tmux("new-session", "-d", "-s", "w", "-x", "100", "-y", "40", "-c", fleet.repo.path, "-e", path, "sh");
  const type = (text: string) => tmux("send-keys", "-t", "w", text, "Enter");
  type(`${OVERSEER} attach a`);
  await shows("● I am here.");
  await shows("Ctrl-C or Ctrl-D leaves");
  type("?");
  await shows("/quit");
  type("please hurry");
  await shows(": queued, told at its next step");
  await shows(": seen");
  await shows("● I heard you.");
  // What is pasted is one message, and none of its lines a command.
  tmux("set-buffer", "First do this.\n/quit\nThen do that.");
  tmux("paste-buffer", "-t", "w");
  await shows("2 lines were pasted; Enter sends them with this one");
  tmux("send-keys", "-t", "w", "Enter");
  await eventually(
    () => fleet.messages(attempt).some(({ body }) => body.includes("First do this.\n/quit\nThen do that.")),
    () => JSON.stringify(fleet.messages(attempt).map(({ body }) => body)),
  );
  tmux("send-keys", "-t", "w", "C-c");
  await shows("you have left; a#1 continues");
  expect(fleet.attempt(attempt).status).toBe("running");

  type(`clear; ${OVERSEER} attach a`);
  await shows("a#1 ❯");
  await fleet.ok("stop", "a", "--reason", "enough");
  await shows("a#1 has ended: ");
});
