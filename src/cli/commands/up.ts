/** `overseer up`; see daemon.ts. */
export { upCommand as command } from "./daemon.ts";
