/** `overseer reset`. */
export { resetCommand as default } from "./fleet.ts";
