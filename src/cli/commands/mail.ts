/** `overseer mail …`: messages between people and agents, each with a receipt. */

import type { Call, Command, Option } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, inertLines, table } from "#cli/text.ts";
import * as inbox from "#control/mail/inbox.ts";
import * as outbox from "#control/mail/send.ts";
import { speaker } from "#control/mail/speaker.ts";
import { presentLetter, presentMessages, presentSent, presentWaiting } from "#control/present.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import type { MailPriority, MailType, Message } from "#domain/model/message.ts";
import { MAIL_PRIORITIES, MAIL_TYPES } from "#domain/model/protocol.ts";
import { OverseerError } from "#errors.ts";

const BODY: readonly Option[] = [
  { name: "body", value: "text", summary: "The message." },
  { name: "file", value: "file", summary: "Read the message from a file; - reads standard input." },
  { name: "type", value: "type", summary: "What kind of message it is (default status).", choices: MAIL_TYPES },
  { name: "priority", value: "priority", summary: "How soon it matters (default normal).", choices: MAIL_PRIORITIES },
];
const WAIT: readonly Option[] = [
  { name: "wait", summary: "Wait until it was seen; exit with 7 if that is not confirmed in time." },
  { name: "timeout", value: "seconds", summary: "How long to wait (default 60)." },
];
const AGENT: Option = { name: "agent", value: "name", summary: "Whose inbox (default: your own)." };

const send: Command<Parts> = {
  name: "send",
  summary: "Send a message.",
  details:
    "To an agent's name, a group of those at work (@all, @builders, @leads …), human or orchestrator. Recipients are checked; mail for an ended agent goes to whoever continues its work, or to whoever asked for it, and you are told.",
  options: [
    { name: "to", value: "name", summary: "An agent's name, a group, human or orchestrator." },
    { name: "subject", value: "text", summary: "One line." },
    ...BODY,
    { name: "thread", value: "id", summary: "The conversation it belongs to." },
    ...WAIT,
  ],
  examples: [
    { line: 'overseer mail send --to builder-1 --subject "API" --body "Use v2."', why: "arrives at its next boundary" },
    { line: 'overseer mail send --to @builders --subject "Freeze" --body "…" --priority high', why: "to all builders" },
  ],
  async run(call, parts) {
    const world = await parts.world();
    const sent = await outbox.send(world, {
      to: requireOption(call, "to"),
      subject: requireOption(call, "subject"),
      body: await bodyOf(call, parts),
      ...typeAndPriority(call),
      ...(call.text("thread") === undefined ? {} : { thread: call.text("thread") ?? "" }),
    });
    await reportSent(call, parts, sent);
  },
};

const check: Command<Parts> = {
  name: "check",
  summary: "Show an inbox without taking anything out.",
  details:
    "With --inject waiting messages are printed as an agent reads them; run by the inbox's own agent, they are taken out, once. With --wait an agent says that it waits, ends its turn, and gets a new one when something arrives; for a person the command itself waits.",
  options: [
    AGENT,
    { name: "inject", summary: "Print the form an agent reads (for hooks)." },
    { name: "wait", summary: "Say that you wait for a message; it starts your next turn." },
    { name: "on", value: "name", summary: "Whom you wait for.", repeat: true },
    { name: "timeout", value: "seconds", summary: "How long a person's command waits (default 60)." },
  ],
  async run(call, parts) {
    const world = await parts.world();
    const waitMs = patience(call); // refused for what is no number, whether it is waited or not
    const agent = await inbox.resolveBox(world, call.text("agent"));
    if (call.has("inject")) {
      if (!(await inbox.anyWaits(world, agent))) return;
      const { inject } = await import("#control/mail/inject.ts");
      const shown = await inject(world, agent);
      if (shown.text !== "") call.out.line(shown.text);
      return shown.confirm();
    }
    if (!call.has("wait")) return showInbox(call, await inbox.check(world, agent));
    const on = call.list("on").flatMap((value) => value.split(","));
    if (speaker(world).attempt === 0) {
      return showInbox(call, await inbox.awaitMail(world, agent, waitMs));
    }
    const waited = await inbox.waitFor(world, on);
    if (!waited.waits) return showInbox(call, waited.inbox);
    if (call.json) return call.out.json(presentWaiting(waited.on));
    const whom = waited.on.length > 0 ? waited.on.join(", ") : "a message";
    call.out.line(`You wait for ${whom}. End your turn now, without polling: what arrives starts your next turn.`);
  },
};

const list: Command<Parts> = {
  name: "list",
  summary: "List messages, newest first.",
  options: [
    { name: "from", value: "name", summary: "Only from this sender." },
    { name: "to", value: "name", summary: "Only to this recipient." },
    { name: "unread", summary: "Only unseen messages." },
    { name: "thread", value: "id", summary: "Only this conversation." },
    { name: "all", summary: "Include instructions, nudges and the like." },
    { name: "limit", value: "n", summary: "At most this many (default 50)." },
  ],
  async run(call, parts) {
    const messages = await inbox.list(await parts.world(), {
      from: call.text("from"),
      to: call.text("to"),
      thread: call.text("thread"),
      unread: call.has("unread"),
      kind: call.has("all") ? undefined : "mail",
      limit: call.number("limit") ?? 50,
    });
    if (call.json) return call.out.json(presentMessages(messages));
    if (messages.length === 0) return call.out.line("No such messages.");
    printTable(call, messages);
  },
};

const read: Command<Parts> = {
  name: "read",
  summary: "Read one message; for its recipient it counts as seen.",
  args: [{ name: "id", summary: "The message's id, or a unique prefix of it." }],
  async run(call, parts) {
    const letter = await inbox.read(await parts.world(), call.arg("id"));
    if (call.json) return call.out.json(presentLetter(letter));
    const { message, thread } = letter;
    const { out } = call;
    out.line(`${message.messageId}  ${message.kind}${message.type ? `, ${message.type}` : ""}, ${message.priority}`);
    out.line(`from ${inert(message.from)} to ${inert(message.agent)}, ${isoTime(message.createdAt)}`);
    out.line(`${message.status}${message.endReason ? `: ${inert(message.endReason)}` : ""}`);
    if (message.subject !== "") out.line(`subject: ${inert(message.subject)}`);
    out.line("");
    out.line(inertLines(message.body));
    if (thread.length > 1)
      out.remark(`${thread.length} messages in this thread: overseer mail list --thread ${message.messageId}`);
  },
};

const reply: Command<Parts> = {
  name: "reply",
  summary: "Answer in the same thread.",
  args: [{ name: "id", summary: "The message to answer." }],
  options: [{ name: "subject", value: "text", summary: "A subject of its own instead of 'Re: …'." }, ...BODY, ...WAIT],
  async run(call, parts) {
    const world = await parts.world();
    const subject = call.text("subject");
    const sent = await outbox.reply(world, call.arg("id"), {
      body: await bodyOf(call, parts),
      ...(subject === undefined ? {} : { subject }),
      ...typeAndPriority(call),
    });
    await reportSent(call, parts, sent);
  },
};

const command: Command<Parts> = {
  name: "mail",
  summary: "Send mail to agents, and read theirs.",
  subcommands: [send, check, list, read, reply],
};

async function reportSent(call: Call, parts: Parts, sent: readonly outbox.Sent[]): Promise<void> {
  const known = call.has("wait") ? await outbox.awaitSeen(await parts.world(), sent, patience(call)) : sent;
  if (call.json) return call.out.json(presentSent(known));
  for (const one of known) {
    call.out.line(`${one.messageId} ${one.status} for ${one.to}${one.attempt === null ? "" : `#${one.attempt}`}.`);
    if (one.note) call.out.remark(one.note);
  }
}

function showInbox(call: Call, box: inbox.InboxView): void {
  if (call.json) {
    call.out.json(presentMessages(box.messages));
    return;
  }
  if (box.unread === 0) {
    call.out.line(`Nothing waits for ${inert(box.agent)}.`);
    return;
  }
  printTable(call, box.messages);
  const more = box.unread - box.messages.length;
  if (more > 0) call.out.line(`… and ${more} more.`);
  call.out.remark("One whole: overseer mail read <id>");
}

function printTable(call: Call, messages: readonly Message[]): void {
  table(
    call.out,
    messages.map((message) => [
      message.messageId,
      message.status,
      `${message.from} → ${message.agent}`,
      message.kind === "mail" ? (message.type ?? "mail") : message.kind,
      message.priority === "normal" ? "" : message.priority,
      message.subject || message.body,
    ]),
  );
}

function typeAndPriority(call: Call): { readonly type?: MailType; readonly priority?: MailPriority } {
  const type = call.text("type") as MailType | undefined;
  const priority = call.text("priority") as MailPriority | undefined;
  return { ...(type === undefined ? {} : { type }), ...(priority === undefined ? {} : { priority }) };
}

function requireOption(call: Call, name: "to" | "subject"): string {
  const value = call.text(name);
  if (value !== undefined) return value;
  throw new OverseerError(
    "usage",
    "FLAG_MISSING",
    `--${name} is missing.`,
    'For example: overseer mail send --to builder-1 --subject "API" --body "Use v2."',
  );
}

async function bodyOf(call: Call, parts: Parts): Promise<string> {
  const [body, file] = [call.text("body"), call.text("file")];
  if ((body === undefined) === (file === undefined)) {
    const what = body === undefined ? "The message is missing." : "Both --body and --file were given.";
    throw new OverseerError("usage", "BODY_MISSING", what, 'Say it (--body "…") or name a file that does (--file).');
  }
  return body ?? parts.readText(file ?? "");
}

function patience(call: Call): number {
  return (call.number("timeout") ?? 60) * 1_000;
}

export default command;
