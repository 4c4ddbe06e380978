/** `overseer up`; see daemon.ts. */
export { up as command } from "./daemon.ts";
