/**
 * The exit code as the attempt's runner says it: whoever sits at another's socket can print what it likes, but only a holder
 * of the attempt's secret can say that this very request was carried out.
 */
import { isSignedWith, signWith } from "#sys/attempt-token.ts";

export function renderExit(code: number, salt: string, token: string): Uint8Array {
  return new TextEncoder().encode(`${code} ${signWith(token, proofOf(code, salt))}`);
}

/** Undefined when nobody proved it. */
export function readExit(text: string, salt: string, token: string): number | undefined {
  const [, code, proof = ""] = /^(\d{1,3}) ([0-9a-f]{64})$/.exec(text) ?? [];
  return code !== undefined && isSignedWith(token, proofOf(Number(code), salt), proof) ? Number(code) : undefined;
}

function proofOf(code: number, salt: string): string {
  return `exit ${code} of ${salt}`;
}
