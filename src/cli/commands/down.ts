/** `overseer down`; see daemon.ts. */
export { downCommand as command } from "./daemon.ts";
