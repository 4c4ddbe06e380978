/** For doors: looking after what a killed command or runner left behind. */
export { settleLeftovers } from "#act/attempt-end/end-attempt.ts";
