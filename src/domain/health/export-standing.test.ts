import { expect, test } from "bun:test";
import { type ExportStanding, judgeExport, parseExportStanding } from "./export-standing.ts";

const WELL: ExportStanding = {
  ...{ pid: 7, start: "1", endpoint: "http://c:4318", sent: 12, dropped: 0, failing: null, refused: null },
};
const BAD: ExportStanding = { ...WELL, dropped: 1, failing: { since: 0, times: 3, problem: "connect ECONNREFUSED" } };
const REFUSED: ExportStanding = { ...WELL, dropped: 2, refused: { since: 0, problem: "it answered 401" } };

test.each([
  ["no daemon", { daemonRuns: false, standing: undefined, lives: false }, true, "while the daemon runs"],
  ["dead", { daemonRuns: true, standing: WELL, lives: false }, false, "does not run"],
  ["never there", { daemonRuns: true, standing: undefined, lives: false }, false, "does not run"],
  [
    "dead with last words",
    { daemonRuns: true, standing: WELL, lives: false, said: "warning\nexporter: The disk is full.\n" },
    false,
    "does not run: The disk is full",
  ],
  ["well", { daemonRuns: true, standing: WELL, lives: true }, true, "12 spans sent to http://c:4318"],
  ["failing", { daemonRuns: true, standing: BAD, lives: true }, false, "ECONNREFUSED; 1 span was given up"],
  ["refused", { daemonRuns: true, standing: REFUSED, lives: true }, false, "answered 401; 2 spans were given up"],
])("OTEL-1: doctor on an exporter that is %s", (_what, facts, ok, words) => {
  const finding = judgeExport({ said: "", ...facts });
  expect(finding.ok).toBe(ok);
  expect(finding.detail).toContain(words);
  expect(finding.next === undefined).toBe(ok);
});

test("OTEL-1: a file that was cut off says nothing", () => {
  const whole = JSON.stringify({ ...WELL, cursor: {} });
  expect(parseExportStanding(whole)).toEqual(WELL);
  for (const text of [undefined, "", whole.slice(0, 20), "[]", "7", '{"pid": "7"}']) {
    expect(parseExportStanding(text)).toBeUndefined();
  }
});
