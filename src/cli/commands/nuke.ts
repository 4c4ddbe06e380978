/** `overseer nuke`. */
export { nukeCommand as default } from "./fleet.ts";
