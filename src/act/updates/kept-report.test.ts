import { expect, test } from "bun:test";
import { isKeptName, nameOfKept, readKeptReport, renderKept } from "./kept-report.ts";

const report = { v: 1, attempt: 7, id: "a-1", at: 1_700_000_000_000, fields: { status: "blocked" } } as const;
const name = nameOfKept(report);
const text = renderKept(report, "ovtk_own");

test("FENCE-1: what an attempt kept is read under its name, with its secret, for itself", () => {
  expect(isKeptName(name)).toBe(true);
  expect(isKeptName(`${name}.new`)).toBe(false);
  expect(readKeptReport(name, text, 7, "ovtk_own")).toEqual(report);
});

test.each<[string, string, string, number, string]>([
  ["signed with another's secret", name, renderKept(report, "ovtk_other"), 7, "ovtk_own"],
  ["altered after it was signed", name, text.replace("blocked", "done"), 7, "ovtk_own"],
  ["of another attempt", name, text, 8, "ovtk_own"],
  ["under another name, to count again", nameOfKept({ ...report, id: "a-2" }), text, 7, "ovtk_own"],
  ["without a signature", name, JSON.stringify({ said: JSON.stringify(report) }), 7, "ovtk_own"],
  ["that is no JSON", name, "{", 7, "ovtk_own"],
  ["that is null", name, "null", 7, "ovtk_own"],
])("FENCE-1: a file %s is nobody's", (_, under, content, attempt, token) => {
  expect(readKeptReport(under, content, attempt, token)).toBeUndefined();
});
