/** What main needs of this room, in one piece: a bundle of it is one file to load, where three would be three. */
export { MENU } from "./menu.ts";
export { printer } from "./print.ts";
export { runCli } from "./run.ts";
