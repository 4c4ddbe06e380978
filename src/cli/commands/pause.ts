/** `overseer pause`. */
export { pauseCommand as default } from "./fleet.ts";
