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
    const said = await readStart(answer);
    if (answer.ok) return { ok: true, said };
    return { ok: false, outcome: notSent(`the address answered ${answer.status}`) };
  } catch (error) {
    return { ok: false, outcome: notSent(messageOf(error)) };
  }
}

/** So much of what it says as an answer may have; whoever says more, or never ends, is not read to the end. */
async function readStart(answer: Response): Promise<string> {
  if (answer.body === null) return "";
  const decoder = new TextDecoder();
  let said = "";
  for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) {
    said += decoder.decode(piece.subarray(0, ANSWER_BYTES), { stream: true });
    if (said.length >= ANSWER_BYTES) break;
  }
  return said.slice(0, ANSWER_BYTES);
}
