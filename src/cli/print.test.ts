import { expect, test } from "bun:test";
import { type Environment, wantsColour, widthOf } from "./print.ts";

const colours: [why: string, env: Environment, onTerminal: boolean, colour: boolean][] = [
  ["a terminal gets colour", {}, true, true],
  ["a pipe gets none", {}, false, false],
  ["NO_COLOR wins over a terminal", { NO_COLOR: "1" }, true, false],
  ["NO_COLOR wins over FORCE_COLOR", { NO_COLOR: "1", FORCE_COLOR: "1" }, true, false],
  ["an empty NO_COLOR says nothing", { NO_COLOR: "" }, true, true],
  ["FORCE_COLOR colours a pipe", { FORCE_COLOR: "1" }, false, true],
  ["FORCE_COLOR=0 means no", { FORCE_COLOR: "0" }, true, false],
  ["a dumb terminal gets none", { TERM: "dumb" }, true, false],
];
test.each(colours)("%s", (_why, env, onTerminal, colour) => {
  expect(wantsColour(env, () => onTerminal)).toBe(colour);
});

const widths: [why: string, env: Environment, columns: number | undefined, width: number][] = [
  ["the terminal says how wide it is", {}, 132, 132],
  ["COLUMNS wins over the terminal", { COLUMNS: "60" }, 132, 60],
  ["nonsense in COLUMNS is ignored", { COLUMNS: "wide" }, 132, 132],
  ["without a terminal it is 80", {}, undefined, 80],
  ["a terminal of unknown size counts as 80", {}, 0, 80],
];
test.each(widths)("%s", (_why, env, columns, width) => {
  expect(widthOf(env, () => columns)).toBe(width);
});
