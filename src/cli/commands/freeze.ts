/** `overseer freeze`; see daemon.ts. */
export { freeze as command } from "./daemon.ts";
