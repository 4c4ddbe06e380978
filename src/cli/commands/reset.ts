/** `overseer reset`. */
export { reset as command } from "./fleet.ts";
