/**
 * The token with which a question can be answered from elsewhere: it names the question and a time, and nobody without
 * this repository's secret can make one. The receiver of a webhook does not know that secret: what it may answer is what
 * it was asked. That it counts once follows from the question, which is answered once.
 */
import { isoTime } from "#domain/core/iso-time.ts";
import { isSameSecret } from "#sys/same-secret.ts";

/** The file of the secret, in run/. */
export const ANSWER_SECRET = "answer-secret";

/** How long an answer may take. */
export const ANSWER_WITHIN_MS = 7 * 86_400_000;

export function signAnswerToken(secret: string, questionId: string, expiresAt: number): string {
  const said = `${questionId}.${Math.floor(expiresAt).toString(36)}`;
  return `${said}.${macOf(secret, said)}`;
}

export type TokenVerdict =
  | { readonly ok: true; readonly questionId: string }
  | { readonly ok: false; readonly code: string; readonly questionId: string | null; readonly reason: string };

export function judgeAnswerToken(token: string, secret: string, now: number): TokenVerdict {
  const found = /^(q_[0-9A-Za-z_-]{1,60})\.([0-9a-z]{1,12})\.([0-9a-f]{64})$/.exec(token.trim());
  const [, questionId = "", expires = "", mac = ""] = found ?? [];
  const expected = macOf(secret, `${questionId}.${expires}`);
  if (!found || !isSameSecret(mac, expected)) {
    const reason = "its token was not made here";
    return { ok: false, code: "TOKEN_FORGED", questionId: found ? questionId : null, reason };
  }
  const until = Number.parseInt(expires, 36);
  if (now < until) return { ok: true, questionId };
  return { ok: false, code: "TOKEN_EXPIRED", questionId, reason: `its token was good until ${isoTime(until)}` };
}

function macOf(secret: string, said: string): string {
  return new Bun.CryptoHasher("sha256", secret).update(`answer ${said}`).digest("hex");
}
