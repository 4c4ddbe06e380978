/** `overseer down`; see daemon.ts. */
export { down as command } from "./daemon.ts";
