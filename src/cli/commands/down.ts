/** `overseer down`; see daemon.ts. */
export { downCommand as default } from "./daemon.ts";
