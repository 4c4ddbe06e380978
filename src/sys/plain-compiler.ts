/**
 * How Bun compiles a process of ours that lives for days and does little at a time: once, plainly. Its last compilers make code
 * that is run all day faster, and keep growing while they do: 86 MB after fifty tasks and 100 MB after three hundred in a
 * daemon with them, 68 and 67 MB without. What our own rules take is 1.4 times as much CPU then, milliseconds for a tick.
 */
const SWITCH = "BUN_JSC_useDFGJIT";

/** For the environment of such a process. */
export const PLAINLY_COMPILED = { [SWITCH]: "0" };

/** The switch was for this process; what it starts, the user's commands among them, is to have it as the user has it. */
export function forgetCompiler(env: Record<string, string | undefined>): void {
  if (env[SWITCH] === "0") delete env[SWITCH];
}
