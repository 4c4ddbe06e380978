/** Every reader of recorded sessions, by one contract. */
import { SCRIBES } from "../support/session-scribes.ts";
import { sessionFormatSuite } from "./session-format.suite.ts";

for (const [name, scribe] of Object.entries(SCRIBES)) sessionFormatSuite(name, scribe);
