/** `overseer nuke`. */
export { nukeCommand as command } from "./fleet.ts";
