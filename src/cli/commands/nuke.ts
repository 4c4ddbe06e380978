/** `overseer nuke`. */
export { nuke as command } from "./fleet.ts";
