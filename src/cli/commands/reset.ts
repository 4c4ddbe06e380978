/** `overseer reset`. */
export { resetCommand as command } from "./fleet.ts";
