/** `overseer freeze`; see daemon.ts. */
export { freezeCommand as default } from "./daemon.ts";
