/** An address that gets the notice by POST, signed; what it answers may answer the question. */
import type { Channel, ChannelParts } from "./channel.ts";
import { readReply } from "./channel.ts";
import { postTo } from "./post.ts";
import { readSecret } from "./secret.ts";

/** The header that proves where a notice comes from: HMAC-SHA256 over time and body, with the secret both sides know. */
export const SIGNATURE_HEADER = "x-overseer-signature";
export const SECRET_VARIABLE = "OVERSEER_WEBHOOK_SECRET";

export const webhook: Channel = {
  kind: "webhook",
  async send(notice, to, parts) {
    const body = JSON.stringify(notice);
    const timestamp = String(Math.floor(parts.clock.now() / 1000));
    const headers = {
      "content-type": "application/json",
      "x-overseer-delivery": notice.key,
      "x-overseer-timestamp": timestamp,
      [SIGNATURE_HEADER]: `sha256=${signatureOf(await webhookSecret(parts), timestamp, body)}`,
    };
    const posted = await postTo(to, { headers, body }, parts.timeoutMs);
    return posted.ok ? readReply(posted.said) : posted.outcome;
  },
};

/** Over time and text together, so that an old notice cannot be sent again as a new one. */
export function signatureOf(secret: string, timestamp: string, text: string): string {
  return new Bun.CryptoHasher("sha256", secret).update(`${timestamp}.${text}`).digest("hex");
}

/** From the environment, else one of this repository's own. */
export async function webhookSecret(parts: Pick<ChannelParts, "root" | "env" | "files" | "ids">): Promise<string> {
  return parts.env[SECRET_VARIABLE] || readSecret(parts, "webhook-secret");
}
