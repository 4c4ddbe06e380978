/** `overseer pause`. */
export { pauseCommand as command } from "./fleet.ts";
