/** `overseer stop`. */
export { stopCommand as command } from "./fleet.ts";
