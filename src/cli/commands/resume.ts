/** `overseer resume`. */
export { resumeCommand as command } from "./fleet.ts";
