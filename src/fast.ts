/**
 * The entry for commands that are run again and again, by agents' hooks and by people who watch: the same door and
 * the same parts as the whole program, in a bundle small enough to start in a few milliseconds. A command belongs here
 * when DESIGN's speed table names it; bin/overseer chooses the bundle by its name, and a test holds the two together.
 */

import { FAST_MENU } from "#cli/fast-menu.ts";
import { version } from "../package.json" with { type: "json" };
import { runWithRealParts } from "./wiring.ts";

const words = Bun.argv.slice(2);
if (words.length === 1 && (words[0] === "--version" || words[0] === "-v")) console.log(version);
else void runWithRealParts(words, FAST_MENU, version).then((code) => process.exit(code));
