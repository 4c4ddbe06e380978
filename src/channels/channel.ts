/**
 * A way to put something before people: a question, or news. A channel is one file here and one line in list.ts; who is
 * told by which is recipients.ts. When something is meant for somebody, and when it is tried again, is decided in
 * domain/reports and done by act/notify.ts and act/tell-people.ts.
 */
import type { Config } from "#config/schema.ts";
import type { Origin } from "#domain/model/goal.ts";
import type { KeptNews } from "#domain/model/news.ts";
import type { Clock } from "#sys/clock.ts";
import type { Exec } from "#sys/exec.ts";
import type { Files } from "#sys/files.ts";
import type { Ids } from "#sys/ids.ts";
import type { Root } from "#sys/root.ts";

/** As the configuration calls it (`via`). */
export type ChannelKind = "session" | "terminal" | Config["channels"]["people"][string]["via"];

export interface Channel {
  readonly kind: ChannelKind;
  /** It runs and reaches nothing that the settings name, so it works also while they are not confirmed. */
  readonly evenOnHold?: boolean;
  /**
   * Answers whether it got through; `to` is the address or program, where it needs one. Never throws for a channel that
   * does not work: that is an outcome like any other. May be called again with the same notice, whose key is the same
   * then, so that whoever gets it twice can tell.
   */
  send(notice: AnyNotice, to: string | null, parts: ChannelParts): Promise<NoticeOutcome>;
}

/** A program or an address receives it as JSON, the fields named as everywhere else. */
export type AnyNotice = QuestionNotice | NewsNotice;

/** A question on its way. */
export interface QuestionNotice {
  readonly type: "question";
  readonly key: string;
  readonly round: number;
  readonly project: string;
  readonly questionId: string;
  readonly goalId: string | null;
  readonly workNodeId: string | null;
  readonly text: string;
  readonly options: readonly string[];
  readonly askedBy: string;
  readonly askedAt: string;
  /** Where the goal came from, so that the answer can be asked for there. */
  readonly origin: Origin | null;
  /** The command that answers it. */
  readonly answer: string;
  /** Proves that whoever answers has read this notice; null where nobody may answer there. */
  readonly token: string | null;
}

/** What happened, in one message. */
export interface NewsNotice {
  readonly type: "news";
  readonly key: string;
  readonly project: string;
  readonly title: string;
  readonly text: string;
  readonly news: readonly KeptNews[];
}

/** A notice as a headline and the lines below it, for whoever reads no JSON. */
export function renderNotice(notice: AnyNotice): { readonly title: string; readonly body: string } {
  if (notice.type === "news") return { title: `${notice.project}: ${notice.title}`, body: notice.text };
  const again = notice.round > 0 ? "Still open: " : "";
  const options = notice.options.map((option, index) => `${index + 1}. ${option}`);
  return {
    title: `${notice.project}: ${again}${notice.askedBy} asks`,
    body: [notice.text, ...options, `Answer: ${notice.answer}`].join("\n"),
  };
}

export interface NoticeOutcome {
  readonly ok: boolean;
  /** One line: why not, or nothing. */
  readonly detail: string;
  /** The other side says that a person has it. */
  readonly acknowledged: boolean;
  /** The other side answers the question at once; nothing in it is trusted yet. */
  readonly answer?: { readonly token: string; readonly words: string };
}

export interface ChannelParts {
  readonly root: Pick<Root, "project" | "state">;
  readonly env: Readonly<Record<string, string>>;
  /** What of it a program that the settings name may know. */
  readonly programEnv: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly files: Files;
  readonly exec: Exec;
  /** Puts a text into the inbox of the agent with that session; false where none lives. */
  post(session: string, text: string): Promise<boolean>;
}

export const SENT: NoticeOutcome = { ok: true, detail: "", acknowledged: false };

export function notSent(detail: string): NoticeOutcome {
  return { ok: false, detail: detail.replace(/\s+/g, " ").trim().slice(0, 300), acknowledged: false };
}

/** What the other side may say in answer. */
export const ANSWER_BYTES = 64 * 1024;

/**
 * It got through; `{"acknowledged": true}` in the answer means that a person has it, and `{"answer": "2", "token": "…"}`
 * answers the question with the token that came with it.
 */
export function readReply(text: string): NoticeOutcome {
  try {
    const said = JSON.parse(text) as unknown;
    if (typeof said !== "object" || said === null) return SENT;
    const acknowledged = "acknowledged" in said && said.acknowledged === true;
    if (!("answer" in said)) return { ...SENT, acknowledged };
    const words = typeof said.answer === "number" ? String(said.answer) : said.answer;
    const token = "token" in said && typeof said.token === "string" ? said.token : "";
    return typeof words === "string" ? { ...SENT, acknowledged, answer: { token, words } } : { ...SENT, acknowledged };
  } catch (error) {
    if (error instanceof SyntaxError) return SENT; // it may say whatever it likes
    throw error;
  }
}
