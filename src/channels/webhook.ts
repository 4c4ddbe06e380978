/** An address that gets the notice by POST, signed. Redirects are not followed: it is meant for that address alone. */
import { messageOf } from "#errors.ts";
import type { Channel, ChannelParts } from "./channel.ts";
import { ANSWER_BYTES, notSent, readAcknowledgement } from "./channel.ts";

/** The header that proves where a notice comes from: HMAC-SHA256 over time and body, with the secret both sides know. */
export const SIGNATURE_HEADER = "x-overseer-signature";
export const SECRET_VARIABLE = "OVERSEER_WEBHOOK_SECRET";

export const webhook: Channel = {
  name: "webhook",
  isConfigured: (settings) => settings.webhook !== null,
  async send(notice, parts) {
    const { settings, clock } = parts;
    if (settings.webhook === null) return notSent("no address is configured");
    const text = JSON.stringify(notice);
    const timestamp = String(Math.floor(clock.now() / 1000));
    try {
      const answer = await fetch(settings.webhook, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-overseer-delivery": notice.key,
          "x-overseer-timestamp": timestamp,
          [SIGNATURE_HEADER]: `sha256=${signatureOf(await webhookSecret(parts), timestamp, text)}`,
        },
        body: text,
        redirect: "manual",
        signal: AbortSignal.timeout(settings.timeout),
      });
      const said = (await answer.text()).slice(0, ANSWER_BYTES);
      return answer.ok ? readAcknowledgement(said) : notSent(`the address answered ${answer.status}`);
    } catch (error) {
      return notSent(messageOf(error));
    }
  },
};

/** Over time and text together, so that an old notice cannot be sent again as a new one. */
export function signatureOf(secret: string, timestamp: string, text: string): string {
  return new Bun.CryptoHasher("sha256", secret).update(`${timestamp}.${text}`).digest("hex");
}

/** From the environment, else one of this repository's own, made when it is first needed, for this user only. */
export async function webhookSecret(parts: Pick<ChannelParts, "root" | "env" | "files" | "ids">): Promise<string> {
  const given = parts.env[SECRET_VARIABLE];
  if (given) return given;
  const path = `${parts.root.state}/run/webhook-secret`;
  const known = (await parts.files.read(path))?.trim();
  if (known) return known;
  const made = Array.from({ length: 4 }, () => parts.ids.next("")).join("");
  await parts.files.makeDir(`${parts.root.state}/run`, { mode: 0o700 });
  await parts.files.write(path, `${made}\n`, { mode: 0o600 });
  return made;
}
