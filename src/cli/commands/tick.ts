/** `overseer tick`; see daemon.ts. */
export { tickCommand as command } from "./daemon.ts";
