/** Is an attempt still the one that counts? */
import type { AttemptLife } from "#domain/permit/permit.ts";
import { attemptStatus } from "#store/attempts.ts";
import type { HookDesk } from "./desk.ts";

/** `unknown` when the store cannot be read within `busyMs`, or knows no such attempt. */
export async function lifeOf(desk: Pick<HookDesk, "attempt" | "ask">, busyMs: number): Promise<AttemptLife> {
  try {
    const status = await desk.ask(attemptStatus(desk.attempt), busyMs);
    if (status === undefined) return "unknown";
    return status === "ended" ? "over" : "living";
  } catch {
    return "unknown"; // the caller decides what not knowing means
  }
}
