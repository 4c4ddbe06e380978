/**
 * Whether anybody of this user has a pid now. It does not know who: telling a process from a later one with the same
 * pid takes its start time (processes.ts), and reading that costs a fast command half as much again. For showing only;
 * nothing is ever signalled or decided on it.
 */
import { systemCode } from "#errors.ts";

export function isPidTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === "ESRCH" || code === "EPERM") return false;
    throw error;
  }
}
