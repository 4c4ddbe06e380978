/** `overseer resume`. */
export { resume as command } from "./fleet.ts";
