/** `config edit` and `config set` on a real repository: nothing that a person wrote is lost by an editor, a link or an old draft. */
import { expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { editSettings, setSetting } from "#control/edit-settings.ts";
import { asPerson } from "../support/landing-observations.ts";
import { foundLanding, landingWorld } from "../support/landing-world.ts";
import { tempRepo } from "../support/temp.ts";

const BEFORE = "agents: {maxConcurrent: 4}\n";
const AFTER = "agents: {maxConcurrent: 5}\n";

async function settings() {
  const repo = tempRepo();
  await foundLanding(repo.path);
  const world = asPerson(await landingWorld(repo.path));
  mkdirSync(join(world.root.state, "run"), { recursive: true });
  const path = join(world.root.userDir, "config.yaml");
  writeFileSync(path, BEFORE);
  const now = () => readFileSync(path, "utf8");
  return { world, path, now };
}

/** An editor that writes this and ends so. */
const typing =
  (text: string, code = 0) =>
  async (file: string) => {
    writeFileSync(file, text);
    return code;
  };

test("CONF-1: an editor that deletes its file changes nothing", async () => {
  const { world, now } = await settings();
  const outcome = await editSettings(world, async (file) => {
    rmSync(file);
    return 0;
  });
  expect([outcome.changed, now()]).toEqual([false, BEFORE]);
});

test("CONF-1: an editor that dies after it saved leaves the draft, which the next edit opens; one that saved nothing leaves none", async () => {
  const { world, now } = await settings();
  const died = await editSettings(world, typing(AFTER, 137)).catch((error: unknown) => error);
  expect(died).toMatchObject({ code: "EDITOR_FAILED", hint: expect.stringContaining("opens it again") });
  expect(now()).toBe(BEFORE);
  let opened = "";
  const outcome = await editSettings(world, async (file) => {
    opened = readFileSync(file, "utf8");
    return 0;
  });
  expect([opened, outcome.changed, now()]).toEqual([AFTER, true, AFTER]);
  await expect(editSettings(world, async () => 1)).rejects.toMatchObject({
    message: expect.stringContaining("nothing was changed"),
  });
  expect(existsSync(join(world.root.state, "run/config-draft.yaml"))).toBe(false);
});

test("CONF-1: a draft of an earlier text does not undo newer settings: it is laid aside and named", async () => {
  const { world, now } = await settings();
  const draft = "agents: {maxConcurrent: many}\n";
  await expect(editSettings(world, typing(draft))).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  await setSetting(world, "agents.maxConcurrent", "9");
  let opened = "";
  const outcome = await editSettings(world, async (file) => {
    opened = readFileSync(file, "utf8");
    return 0;
  });
  expect([opened, now(), outcome.changed]).toEqual([now(), "agents: {maxConcurrent: 9}\n", false]);
  expect(readFileSync(outcome.oldDraft ?? "", "utf8")).toBe(draft);
});

test("CONF-1: config.yaml that is a link is refused by set and edit, and the link and its file stay as they were", async () => {
  const { world, path } = await settings();
  const target = join(world.root.project, "shared.yaml");
  renameSync(path, target);
  chmodSync(target, 0o640);
  symlinkSync(target, path);
  await expect(setSetting(world, "agents.maxConcurrent", "9")).rejects.toMatchObject({ code: "SETTINGS_LINKED" });
  await expect(editSettings(world, typing(AFTER))).rejects.toMatchObject({ code: "SETTINGS_LINKED" });
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect([readFileSync(target, "utf8"), lstatSync(target).mode & 0o777]).toEqual([BEFORE, 0o640]);
});
