/** One POST to an address that the settings name. Redirects are not followed: it is meant for that address alone. */
import { messageOf } from "#errors.ts";
import type { NoticeOutcome } from "./channel.ts";
import { ANSWER_BYTES, notSent } from "./channel.ts";

export async function postTo(
  address: string | null,
  request: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  timeoutMs: number,
): Promise<{ readonly ok: true; readonly said: string } | { readonly ok: false; readonly outcome: NoticeOutcome }> {
  if (address === null) return { ok: false, outcome: notSent("no address is configured") };
  try {
    const answer = await fetch(address, {
      ...request,
      method: "POST",
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const said = (await answer.text()).slice(0, ANSWER_BYTES);
    if (answer.ok) return { ok: true, said };
    return { ok: false, outcome: notSent(`the address answered ${answer.status}`) };
  } catch (error) {
    return { ok: false, outcome: notSent(messageOf(error)) };
  }
}
