/** `overseer stop`. */
export { stop as command } from "./fleet.ts";
