/** `overseer freeze`; see daemon.ts. */
export { freezeCommand as command } from "./daemon.ts";
