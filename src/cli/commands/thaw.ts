/** `overseer thaw`; see daemon.ts. */
export { thawCommand as default } from "./daemon.ts";
