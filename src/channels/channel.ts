/**
 * A way to put a question before people. A channel is one file here and one line in list.ts; when a question is meant
 * for it, and when it is tried again, is decided in domain/reports/question-notice.ts and done by act/notify.ts.
 */
import type { Config } from "#config/schema.ts";
import type { Origin } from "#domain/model/goal.ts";
import type { ChannelName } from "#domain/model/question.ts";
import type { Clock } from "#sys/clock.ts";
import type { Exec } from "#sys/exec.ts";
import type { Files } from "#sys/files.ts";
import type { Ids } from "#sys/ids.ts";
import type { Root } from "#sys/root.ts";

export interface Channel {
  /** Kept in the log with every notice, so it stays what it is. */
  readonly name: ChannelName;
  /** It runs and reaches nothing that the settings name, so it works also while they are not confirmed. */
  readonly evenOnHold?: boolean;
  /** Whether the settings ask for it; one that only an origin chooses is never configured. */
  isConfigured(settings: Config["channels"]): boolean;
  /**
   * Answers whether it got through. Never throws for a channel that does not work: that is an outcome like any other.
   * May be called again with the same notice, whose key is the same then, so that whoever gets it twice can tell.
   */
  send(notice: QuestionNotice, parts: ChannelParts): Promise<NoticeOutcome>;
}

/** A question on its way. A program or an address receives it as JSON, the fields named as everywhere else. */
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
}

export interface NoticeOutcome {
  readonly ok: boolean;
  /** One line: why not, or nothing. */
  readonly detail: string;
  /** The other side says that a person has it. */
  readonly acknowledged: boolean;
}

export interface ChannelParts {
  readonly root: Pick<Root, "project" | "state">;
  readonly env: Readonly<Record<string, string>>;
  /** What of it a program that the settings name may know. */
  readonly programEnv: Readonly<Record<string, string>>;
  readonly settings: Config["channels"];
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

/** It got through; `{"acknowledged": true}` in the answer means that a person has it. */
export function readAcknowledgement(text: string): NoticeOutcome {
  try {
    const said = JSON.parse(text) as unknown;
    const acknowledged =
      typeof said === "object" && said !== null && "acknowledged" in said && said.acknowledged === true;
    return { ...SENT, acknowledged };
  } catch (error) {
    if (error instanceof SyntaxError) return SENT; // it may say whatever it likes
    throw error;
  }
}
