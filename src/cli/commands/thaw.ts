/** `overseer thaw`; see daemon.ts. */
export { thaw as command } from "./daemon.ts";
