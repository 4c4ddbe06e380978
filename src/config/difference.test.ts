import { expect, test } from "bun:test";
import { differencesOf } from "./difference.ts";
import { parseConfig } from "./load.ts";

const of = (yaml: string) => parseConfig(yaml, "test.yaml");

test("CONF-2: equal configurations differ in nothing", () => {
  expect(differencesOf(of(""), of("agents: {maxConcurrent: 5}"))).toEqual([]);
});

test("CONF-2: each changed key is named once, in the user's spelling", () => {
  expect(differencesOf(of(""), of("reconcile: {tickEvery: 30s}\nlogs: {maxSize: 1MB}"))).toEqual([
    { key: "reconcile.tickEvery", from: "2m", to: "30s" },
    { key: "logs.maxSize", from: "10MB", to: "1MB" },
  ]);
});

test("CONF-2: what comes and goes is told as a whole", () => {
  const [added] = differencesOf(of(""), of("checks: {tests: {command: npm test}}"));
  expect(added).toMatchObject({ key: "checks.tests", from: null, to: { command: "npm test" } });
  const [removed] = differencesOf(of("checks: {tests: {command: npm test}}"), of(""));
  expect(removed).toMatchObject({ key: "checks.tests", to: null });
});
