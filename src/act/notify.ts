/**
 * Puts a question before people by one channel. Each is a plain function that answers whether it got through, and never
 * throws for a channel that does not work: that is an outcome like any other. A notice carries a key that is the same
 * however often it is tried, so whoever receives it twice can tell. Nothing here decides when or where; see
 * domain/reports/question-notice.ts.
 */
import type { Config } from "#config/schema.ts";
import { splitCommandLine } from "#domain/core/argv.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import type { Origin } from "#domain/model/goal.ts";
import type { Question } from "#domain/model/question.ts";
import type { DueNotice } from "#domain/reports/question-notice.ts";
import { messageOf } from "#errors.ts";
import { nameOf } from "#sys/paths.ts";
import { filterEnvironment } from "./attempt-files.ts";
import type { ActParts } from "./parts.ts";

export interface NoticeOutcome {
  readonly ok: boolean;
  /** One line: why not, or nothing. */
  readonly detail: string;
  /** The other side says that a person has it. */
  readonly acknowledged: boolean;
}

/** What a program or an address receives. The fields are named as everywhere else. */
export interface NoticeBody {
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

export type NotifyParts = Pick<ActParts, "root" | "env" | "clock" | "ids" | "files" | "exec" | "config" | "settings">;

export async function noticeBody(
  parts: Pick<NotifyParts, "root" | "config">,
  question: Question,
  due: DueNotice,
  origin: Origin | undefined,
): Promise<NoticeBody> {
  const { questionId, goalId, workNodeId, text, options, askedBy } = question;
  return {
    type: "question",
    key: due.key,
    round: due.round,
    project: projectName(parts, await parts.config()),
    questionId,
    goalId,
    workNodeId,
    text,
    options,
    askedBy,
    askedAt: isoTime(question.askedAt),
    origin: origin ?? null,
    answer: `overseer answer ${questionId} <choice or text>`,
  };
}

function projectName(parts: Pick<NotifyParts, "root">, config: Pick<Config, "project">): string {
  return config.project.name ?? nameOf(parts.root.project);
}

const PRINTED = 64 * 1024;

/** The configured program, started with the notice as JSON on its standard input; its words are arguments, not shell. */
export async function notifyByCommand(parts: NotifyParts, body: NoticeBody): Promise<NoticeOutcome> {
  const { hold } = await parts.settings();
  if (hold) return toFailure(hold.message);
  const { channels, agents } = await parts.config();
  const argv = splitCommandLine(channels.command ?? "");
  if (argv.length === 0) return toFailure("no program is configured");
  try {
    const done = await parts.exec.run(argv, {
      cwd: parts.root.project,
      env: filterEnvironment(parts.env, agents.passEnv),
      stdin: `${JSON.stringify(body)}\n`,
      timeoutMs: channels.timeout,
      maxBytes: PRINTED,
    });
    if (done.timedOut) return toFailure(`it took longer than ${channels.timeout} ms`);
    if (done.code !== 0) return toFailure(`it ended with ${done.signal ?? done.code}: ${firstLine(done.stderr)}`);
    return { ok: true, detail: "", acknowledged: saysAcknowledged(done.stdout) };
  } catch (error) {
    return toFailure(messageOf(error));
  }
}

/** The header that proves where a notice comes from: HMAC-SHA256 over time and body, with the secret both sides know. */
export const SIGNATURE_HEADER = "x-overseer-signature";
export const SECRET_VARIABLE = "OVERSEER_WEBHOOK_SECRET";

/** The configured address, by POST. Redirects are not followed: the body is meant for that address alone. */
export async function notifyByWebhook(parts: NotifyParts, body: NoticeBody): Promise<NoticeOutcome> {
  const { hold } = await parts.settings();
  if (hold) return toFailure(hold.message);
  const { channels } = await parts.config();
  if (channels.webhook === null) return toFailure("no address is configured");
  const text = JSON.stringify(body);
  const timestamp = String(Math.floor(parts.clock.now() / 1000));
  try {
    const answer = await fetch(channels.webhook, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-overseer-delivery": body.key,
        "x-overseer-timestamp": timestamp,
        [SIGNATURE_HEADER]: `sha256=${signatureOf(await webhookSecret(parts), timestamp, text)}`,
      },
      body: text,
      redirect: "manual",
      signal: AbortSignal.timeout(channels.timeout),
    });
    const said = (await answer.text()).slice(0, PRINTED);
    if (!answer.ok) return toFailure(`the address answered ${answer.status}`);
    return { ok: true, detail: "", acknowledged: saysAcknowledged(said) };
  } catch (error) {
    return toFailure(messageOf(error));
  }
}

/** Over time and text together, so that an old notice cannot be sent again as a new one. */
export function signatureOf(secret: string, timestamp: string, text: string): string {
  return new Bun.CryptoHasher("sha256", secret).update(`${timestamp}.${text}`).digest("hex");
}

/** From the environment, else one of this repository's own, made when it is first needed, for this user only. */
export async function webhookSecret(parts: Pick<NotifyParts, "root" | "env" | "files" | "ids">): Promise<string> {
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

function toFailure(detail: string): NoticeOutcome {
  return { ok: false, detail: detail.replace(/\s+/g, " ").trim().slice(0, 300), acknowledged: false };
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}

/** `{"acknowledged": true}` in what the other side says. */
function saysAcknowledged(text: string): boolean {
  try {
    const said = JSON.parse(text) as unknown;
    return typeof said === "object" && said !== null && "acknowledged" in said && said.acknowledged === true;
  } catch (error) {
    if (error instanceof SyntaxError) return false; // it may say whatever it likes
    throw error;
  }
}
