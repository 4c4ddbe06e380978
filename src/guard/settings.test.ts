import { expect, test } from "bun:test";
import { defaultConfig } from "#config/schema.ts";
import { toGuardSettings, USUAL_SETTINGS } from "./settings.ts";

test("GUARD-1: without any settings the guard goes by the defaults of the schema", () => {
  const { project, channels, ...numbers } = toGuardSettings(defaultConfig());
  const { project: none, channels: nobody, ...usual } = USUAL_SETTINGS;
  expect(numbers).toEqual(usual);
  expect([none, nobody]).toEqual([null, null]);
  expect(channels?.terminal).toBe(true);
  expect(project).toBeNull();
});

test("GUARD-1: a copy of another version that lacks a group has the usual numbers there", () => {
  expect(toGuardSettings({})).toEqual(USUAL_SETTINGS);
});
