/** `overseer tick`; see daemon.ts. */
export { tickCommand as default } from "./daemon.ts";
