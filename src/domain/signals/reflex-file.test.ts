/** ROLE-2, CONF-3: who has a reflex, and what it knows before it was told. */
import { expect, test } from "bun:test";
import { BUILT_IN_ROLES, readRole } from "#config/roles.ts";
import { schema } from "#config/schema.ts";
import { newPulse } from "./pulse.ts";
import { reflexFile, withKnownWindow } from "./reflex-file.ts";

const role = readRole("builder", BUILT_IN_ROLES.get("builder") ?? "", "builder");
const settings = schema.parse({}).reflex;
const unit = {
  agent: "ada",
  attempt: 1,
  role: "builder",
  capability: "builder",
  goalId: "g",
  workNodeId: "T1",
  task: "Do",
  runtime: "r",
  worktree: "/w",
  branch: "b",
};
const given = { unit, windows: { big: 1_000_000 }, salute: { keep: 50, directory: "/s", shared: null } };

test("REFLEX-1: without a role, or exempt from supervision, there is no reflex at all", () => {
  expect(reflexFile(undefined, settings, given)).toBeUndefined();
  expect(reflexFile(role, settings, given, { supervision: "role" })).toBeUndefined();
});

test("HEALTH-4: exempt from nudges, its reflex says nothing, and its reports continue", () => {
  expect(reflexFile(role, settings, given, { nudges: "sling" })).toMatchObject({ steers: false });
});

test("CONF-3: switched off in the settings, it does not steer, and its reports continue", () => {
  expect(reflexFile(role, settings, given)).toMatchObject({ steers: true, rules: { role: "builder", loopRepeats: 3 } });
  expect(reflexFile(role, { ...settings, enabled: false }, given)).toMatchObject({ steers: false });
});

test("ANOM-3: how much a context holds is known from earlier agents of the same model, until it is told", () => {
  const pulse = newPulse(1, "ada");
  expect(withKnownWindow({ ...pulse, model: "big" }, given).contextWindow).toBe(1_000_000);
  expect(withKnownWindow({ ...pulse, model: "other" }, given).contextWindow).toBeNull();
  expect(withKnownWindow({ ...pulse, model: "big", contextWindow: 200 }, given).contextWindow).toBe(200);
});

test("what hooks read of it is small", () => {
  expect(JSON.stringify(reflexFile(role, settings, given)).length).toBeLessThan(4_000);
});
