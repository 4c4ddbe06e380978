/** `overseer stop`. */
export { stopCommand as default } from "./fleet.ts";
