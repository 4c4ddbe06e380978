/** `overseer resume`. */
export { resumeCommand as default } from "./fleet.ts";
