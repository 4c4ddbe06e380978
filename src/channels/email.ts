/** A program that sends mail, such as `sendmail ada@example.com`: it reads headers, an empty line and the text. */
import type { Channel } from "./channel.ts";
import { renderNotice, SENT } from "./channel.ts";
import { runProgram } from "./program.ts";

export const email: Channel = {
  kind: "email",
  async send(notice, to, parts) {
    const { title, body } = renderNotice(notice);
    const mail = [`Subject: ${asHeader(title)}`, "Content-Type: text/plain; charset=utf-8", "", body, ""].join("\n");
    const ran = await runProgram(to, mail, parts);
    return ran.ok ? SENT : ran.outcome;
  },
};

/** One line, so that no text can bring headers of its own along; beyond ASCII as RFC 2047 has it. */
function asHeader(text: string): string {
  const line = [...text]
    .map((sign) => (sign < " " || sign === "\u007f" ? " " : sign))
    .join("")
    .trim();
  return /^[ -~]*$/.test(line) ? line : `=?UTF-8?B?${Buffer.from(line).toString("base64")}?=`;
}
