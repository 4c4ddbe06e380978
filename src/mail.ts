/**
 * The entry for `overseer mail`, which agents' hooks and agents themselves run again and again: the same door and the
 * same parts as the whole program in a bundle of its own. Unlike fast.ts it writes, so what looks for secrets before
 * anything is written is on board.
 */
import { MAIL_MENU } from "#cli/fast-menu.ts";
import { version } from "../package.json" with { type: "json" };
import { runWithRealParts } from "./wiring.ts";

void runWithRealParts(Bun.argv.slice(2), MAIL_MENU, version).then((code) => process.exit(code));
