/** `overseer pause`. */
export { pause as command } from "./fleet.ts";
