/** `overseer up`; see daemon.ts. */
export { upCommand as default } from "./daemon.ts";
