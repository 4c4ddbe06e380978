/**
 * What arrives on stdin, sorted: messages of the user wait here until the conversation takes one, requests of control
 * are handed on at once, because an interrupt that waits its turn is none.
 */
import { OverseerError } from "#errors.ts";

export interface UserMessage {
  readonly id: string;
  readonly text: string;
  /** As it came, to be echoed. */
  readonly message: Readonly<Record<string, unknown>>;
}

export interface ControlRequest {
  readonly id: string;
  readonly subtype: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export class Inbox {
  private readonly waiting: UserMessage[] = [];
  private closed = false;
  private wake: () => void = () => {};

  /** What waits at this moment, oldest first; it is taken with this. */
  takeAll(): UserMessage[] {
    return this.waiting.splice(0);
  }

  /** The next message, as soon as there is one; undefined when no more can come. */
  async next(): Promise<UserMessage | undefined> {
    for (;;) {
      const message = this.waiting.shift();
      if (message !== undefined || this.closed) return message;
      await this.change();
    }
  }

  /** Resolves when no more can come, whatever still waits. */
  async end(): Promise<void> {
    while (!this.closed) await this.change();
  }

  add(message: UserMessage): void {
    this.waiting.push(message);
    this.wake();
  }

  close(): void {
    this.closed = true;
    this.wake();
  }

  private change(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}

export type Incoming =
  | { readonly kind: "user"; readonly message: UserMessage }
  | { readonly kind: "control"; readonly request: ControlRequest }
  | { readonly kind: "other" };

/** Reads one line. Throws `usage` for what is no message at all: a driver that sends that is broken. */
export function readIncoming(line: string, newId: () => string): Incoming {
  const value = parseLine(line);
  if (value.type === "user") return { kind: "user", message: userMessage(value, newId) };
  if (value.type !== "control_request") return { kind: "other" };
  const request = value.request;
  const fields = isRecord(request) ? request : {};
  return {
    kind: "control",
    request: { id: String(value.request_id ?? ""), subtype: String(fields.subtype ?? ""), fields },
  };
}

export function textMessage(text: string, id: string): UserMessage {
  return { id, text, message: { role: "user", content: [{ type: "text", text }] } };
}

function userMessage(value: Record<string, unknown>, newId: () => string): UserMessage {
  const message = value.message;
  if (!isRecord(message) || message.role !== "user") throw inputError('a user line needs message.role "user"');
  const id = typeof value.uuid === "string" ? value.uuid : newId();
  return { id, text: textOf(message.content), message };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw inputError("message.content is neither text nor a list of blocks");
  return content
    .map((block: unknown) => (isRecord(block) && typeof block.text === "string" ? block.text : ""))
    .join("\n");
}

function parseLine(line: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw inputError(`not JSON: ${line.slice(0, 80)}`, cause);
  }
  if (!isRecord(value)) throw inputError("a line must be an object");
  return value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function inputError(what: string, cause?: unknown): OverseerError {
  return new OverseerError(
    "usage",
    "SCRIPTED_AGENT_INPUT",
    `Error parsing streaming input line: ${what}.`,
    "Send one JSON object per line.",
    { cause },
  );
}
