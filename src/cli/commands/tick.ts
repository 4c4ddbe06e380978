/** `overseer tick`; see daemon.ts. */
export { tick as command } from "./daemon.ts";
