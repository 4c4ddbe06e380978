/** A topic of ntfy (ntfy.sh or one's own server): the address is that of the topic, the text is the body. */
import type { Channel } from "./channel.ts";
import { renderNotice, SENT } from "./channel.ts";
import { postTo } from "./post.ts";

/** More than this, and ntfy makes a file of it. */
const MOST_BYTES = 4_000;

export const ntfy: Channel = {
  kind: "ntfy",
  async send(notice, to, { timeoutMs }) {
    const { title, body } = renderNotice(notice);
    const urgent = notice.type === "question" || notice.news.some((one) => one.urgent);
    // A header is ASCII; the title goes there as RFC 2047 has it.
    const line = title.replace(/\s+/g, " ").slice(0, 200);
    const encoded = /^[ -~]*$/.test(line) ? line : `=?UTF-8?B?${Buffer.from(line).toString("base64")}?=`;
    const headers = { title: encoded, priority: urgent ? "high" : "default", tags: "robot" };
    const posted = await postTo(to, { headers, body: body.slice(0, MOST_BYTES) }, timeoutMs);
    return posted.ok ? SENT : posted.outcome;
  },
};
