/** What the bench says of a measurement; what it measures with is not looked at here. */
import { describe, expect, test } from "bun:test";
import { AIMS, type Aim, ROWS } from "./aims.ts";
import { type Run, runForThePage, runsIn } from "./history.ts";
import { oursBeside } from "./peer.ts";
import { type Measured, turnAbout } from "./row.ts";
import { benchmarksPage, explanations, terminalTable, UNEXPLAINED } from "./table.ts";
import { aimText, behindText, disturbance, type Result, resultOf, tally, valueText } from "./verdict.ts";

const TIMES: Aim = { unit: "×", most: 2.5 };
const turns = (workMs: number, floorMs: number): Measured => ({ workMs, floorMs, turns: 200 });
const figure = (value: number): Measured => ({ value, turns: 1 });

test.each<[Aim, Measured | Error, Result["verdict"], string, string]>([
  [TIMES, turns(20, 10), "holds", "≤ 2.5 ×", "2.00 ×"],
  [TIMES, turns(25.04, 10), "holds", "≤ 2.5 ×", "2.50 ×"],
  [TIMES, turns(25.1, 10), "short", "≤ 2.5 ×", "2.51 ×"],
  [TIMES, turns(25, 0), "failed", "≤ 2.5 ×", "∞ ×"],
  [{ unit: "ms", most: 2_000 }, figure(640.24), "holds", "≤ 2 s", "640.2 ms"],
  [{ unit: "ms", most: 2_000 }, figure(2_640), "short", "≤ 2 s", "2.64 s"],
  [{ unit: "ms", most: 50 }, figure(50.004), "holds", "≤ 50 ms", "50.0 ms"],
  [{ unit: "%", most: 0.1 }, figure(0.11), "short", "≤ 0.1 %", "0.11 %"],
  [{ unit: "/tick", most: 1 }, figure(1), "holds", "≤ 1 a tick", "1.0 a tick"],
  [{ unit: "/s", least: 1_000 }, figure(1_188.4), "holds", "≥ 1,000 /s", "1,188 /s"],
  [{ unit: "/s", least: 1_000 }, figure(999), "short", "≥ 1,000 /s", "999 /s"],
  [{ unit: "MB", most: 40 }, figure(37.24), "holds", "≤ 40 MB", "37.2 MB"],
  [{ unit: "ms" }, figure(402), "informs", "none", "402.0 ms"],
  [{ unit: "%", most: 0.2 }, { absent: "there is none" }, "absent", "≤ 0.2 %", "absent"],
  [TIMES, new Error("it did not come back"), "failed", "≤ 2.5 ×", "failed"],
])("aim %j, measured %j: %s", (aim, measured, verdict, aimSaid, valueSaid) => {
  const result = resultOf({ name: "row", aim }, measured);
  expect([result.verdict, aimText(aim), valueText(result)]).toEqual([verdict, aimSaid, valueSaid]);
});

test("what stands behind a figure is told: both costs, how often, and what else is known", () => {
  const measured = { workMs: 1_640.3, floorMs: 10, turns: 3, note: "time for 3 of 5 turns" };
  expect(behindText(resultOf({ name: "row", aim: TIMES }, measured))).toBe(
    "1.64 s to 10.0 ms, 3 turns, time for 3 of 5 turns",
  );
  expect(behindText(resultOf({ name: "row", aim: TIMES }, new Error("gone")))).toBe("gone");
});

test.each([
  [{ cores: 2, before: 0.4, after: 2.1 }, null],
  [{ cores: 2, before: 1.2, after: 1 }, "the machine was busy before it began (load 1.20 on 2 cores)"],
  [{ cores: 2, before: 0.4, after: 4 }, "something else ran beside it (load 4.00 at the end)"],
  [{ cores: 16, before: 4, after: 6 }, null],
])("load %j: disturbed is %j", (load, disturbed) => {
  expect(disturbance(load)).toBe(disturbed);
});

test("turns are taken about, and no more begin when the time is up", async () => {
  const order: string[] = [];
  const one = (name: string, cost: number) => () => {
    order.push(name);
    return cost;
  };
  const all = await turnAbout({ turns: 2, until: Number.POSITIVE_INFINITY }, one("work", 3), one("floor", 1));
  expect([all, order.join(" ")]).toEqual([{ workMs: 3, floorMs: 1, turns: 2 }, "floor work floor work work floor"]);
  expect(await turnAbout({ turns: 9, until: 0 }, one("work", 3), one("floor", 1))).toMatchObject({
    turns: 1,
    note: "time for 1 of 9 turns",
  });
});

describe("the rows", () => {
  test("every aim of the table has one, and no two have the same name", () => {
    expect(Object.keys(AIMS).filter((of) => !ROWS.some((row) => row.of === of))).toEqual([]);
    expect(new Set(ROWS.map(({ name }) => name)).size).toBe(ROWS.length);
  });

  test("a ratio names its floor, a plain figure has none", () => {
    expect(ROWS.filter(({ aim, floor }) => (aim.unit === "×") !== (floor !== "")).map(({ name }) => name)).toEqual([]);
  });
});

const rowOf = (name: string) => {
  const row = ROWS.find((one) => one.name === name);
  if (!row) throw new Error(name);
  return row;
};

test("a line of the table has work, aim, floor, figure and verdict below the words of its head", () => {
  const row = rowOf("status");
  const { head, line } = terminalTable([row, rowOf("restart")]);
  const said = line(row, resultOf(row, turns(36, 10)));
  for (const [title, cell] of [
    ["work", "status --json"],
    ["aim", "≤ 3 ×"],
    ["floor", "starting Bun"],
    ["measured", "3.60 ×"],
    ["verdict", "SHORT"],
  ] as const)
    expect([title, said.indexOf(cell)]).toEqual([title, head.indexOf(title)]);
  expect(said).toEndWith("36.0 ms to 10.0 ms, 200 turns");
});

test("what falls short is explained, once for each reason; what holds is not; what nobody explained says so", () => {
  const named = (name: string) => ({ name, of: "beside", work: `work ${name}`, floor: "that" }) as const;
  const result = (name: string, verdict: Result["verdict"]): Result => ({ name, aim: TIMES, verdict, value: 1 });
  const rows = [{ ...named("a"), short: "It has to." }, { ...named("b"), short: "It has to." }, named("c")];
  const results = [
    result("a", "short"),
    result("b", "short"),
    result("c", "short"),
    result("a", "holds"),
    { ...result("c", "failed"), note: "Broken pipe." },
  ];
  expect(explanations(rows, results)).toEqual([
    "work a; work b: It has to.",
    `work c: ${UNEXPLAINED}`,
    "work c: Broken pipe.",
  ]);
  expect(tally(results)).toBe("1 hold, 3 fall short, 1 failed");
});

test.each([
  ["other --version", null, ["--version"]],
  ["other status --json", null, ["status", "--json"]],
  ["other ls", "agents --json", ["agents", "--json"]],
])("beside %j (and %j) we run %j", (command, against, words) => {
  expect(oursBeside(command, against)).toEqual(words);
});

describe("the history", () => {
  const whole: Run = {
    run: 1,
    at: "2026-01-05T09:00:00.000Z",
    product: "0.1.0",
    bun: "1.4.4",
    cores: 2,
    memoryGb: 8,
    loadBefore: 0.1,
    loadAfter: 1.2,
    disturbed: null,
    quick: false,
    complete: true,
    rows: [resultOf(rowOf("status"), turns(36, 10)), resultOf(rowOf("restart"), figure(640))],
  };

  test("a run is read as it was written, and a line that is none is named", () => {
    expect(runsIn(`${JSON.stringify(whole)}\n`)).toEqual([whole]);
    expect(() => runsIn(`${JSON.stringify(whole)}\n{"run":2}\n`)).toThrow("Line 2 of the history");
  });

  test.each<[string, Partial<Run>[], number | null]>([
    ["the last whole run", [{}, {}, { complete: false }], 1],
    ["an undisturbed one before a later disturbed one", [{}, { disturbed: "busy" }], 0],
    ["a disturbed one where there is no other", [{ quick: true }, { disturbed: "busy" }], 1],
    ["none", [{ quick: true }, { complete: false }], null],
  ])("the page tells of %s", (_, changes, index) => {
    const runs = changes.map((change) => ({ ...whole, ...change }));
    expect(runForThePage(runs)).toBe(index === null ? null : (runs[index] ?? null));
  });

  test("the page has the machine, each row under its aim, why it falls short, and how to do it again", () => {
    const page = benchmarksPage({ ...whole, disturbed: "busy" });
    expect(page).toContain("on Bun 1.4.4: 2 cores, 8 GB of memory, load 0.10 before and 1.20 after.");
    expect(page).toContain("**Disturbed:** busy.");
    expect(page).toContain(
      `| *${AIMS.restart}* | | | | | |\n| a killed agent is at work again, wall time | ≤ 2 s | – | **640.0 ms** | holds | – |`,
    );
    expect(page).toContain("\n1 hold, 1 fall short.\n");
    expect(page).toContain("- status --json, 20 agents, 100 goals × 50 nodes: Not the size");
    expect(page).toContain("npm run bench -- --write");
    expect(benchmarksPage(null)).toContain("No whole run");
  });
});
