/** `overseer thaw`; see daemon.ts. */
export { thawCommand as command } from "./daemon.ts";
