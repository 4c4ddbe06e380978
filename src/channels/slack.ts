/** An incoming webhook of Slack, or of anything that takes the same messages: one text. */
import type { Channel } from "./channel.ts";
import { renderNotice, SENT } from "./channel.ts";
import { postTo } from "./post.ts";

export const slack: Channel = {
  kind: "slack",
  async send(notice, to, { timeoutMs }) {
    const { title, body } = renderNotice(notice);
    const text = `*${escapeMarkup(title)}*\n${escapeMarkup(body)}`;
    const headers = { "content-type": "application/json", "x-overseer-delivery": notice.key };
    const posted = await postTo(to, { headers, body: JSON.stringify({ text }) }, timeoutMs);
    return posted.ok ? SENT : posted.outcome;
  },
};

/** The three signs that mean something there: no text of an agent's becomes a link or a call to everybody. */
function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
