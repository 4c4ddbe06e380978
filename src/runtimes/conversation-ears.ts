/**
 * Listens to a recorded session for a person who reads along: the same formats that `replay` reads tell it what happened
 * (session-format.ts), and it makes parts of a conversation of that. Everything is redacted before it is cut. Sub-agents are
 * not listened to, they have conversations of their own. It keeps nothing but its parts, and needs nothing of what stood
 * before: any stretch of whole lines can be listened to.
 */

import type { ToolVocabulary } from "#domain/core/tools.ts";
import { type ConversationPart, splitHeard, tellCall } from "#domain/explain/conversation.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { redact } from "#telemetry/redact.ts";
import { jsonObject } from "./json.ts";
import type { FileEars, SessionEars } from "./session-format.ts";
import type { ToldCall, ToldResult } from "./session-writer.ts";

export interface ConversationBounds {
  /** Characters kept of what somebody says, of a diff, and of a result. */
  readonly words: number;
  readonly result: number;
}

export class ConversationEars implements FileEars {
  private readonly heard: ConversationPart[] = [];
  /** A line without a time has that of the one before it. */
  private lastAt = 0;

  /** `place`: the worktree, from which paths are told. */
  constructor(
    private readonly tools: ToolVocabulary,
    private readonly place: string,
    private readonly bounds: ConversationBounds,
  ) {}

  /** What was heard since this was last asked. */
  takeParts(): ConversationPart[] {
    return this.heard.splice(0);
  }

  refuse(): void {}

  session(_key?: string, about: { readonly sub?: boolean } = {}): SessionEars {
    return about.sub === true ? DEAF : this.listen();
  }

  private listen(): SessionEars {
    return {
      ...DEAF,
      hearPerson: (at, text = "") => this.addHeard(at, text),
      hearProgram: (at, text = "") => this.addHeard(at, text),
      hearHook: (at, text) => this.addHeard(at, text),
      say: (text, at) => this.addWords(text, at),
      call: (call) => this.addCall(call),
      finishCall: (result) => this.addResult(result),
      compact: (_tokens, trigger, at) => this.addNote(at, tellCompaction(trigger)),
      retry: ({ cause }, at) => this.addNote(at, `the provider is asked again: ${cause}`, true),
      fail: (data, at) => this.addNote(at, tellFailure(data), true),
      interrupt: (at) => this.addNote(at, "its turn was interrupted"),
      pass: (signal) => this.addSignal(signal),
    };
  }

  private add(part: ConversationPart): void {
    this.lastAt = part.at || this.lastAt;
    this.heard.push({ ...part, at: this.lastAt });
  }

  private addHeard(at: number, text: string): void {
    for (const { from, text: words } of splitHeard(text)) {
      this.add({ kind: "prompt", at, from, ...cut(words, this.bounds.words) });
    }
  }

  private addWords(text: string, at: number): void {
    if (text.trim() !== "") this.add({ kind: "words", at, ...cut(text.trim(), this.bounds.words) });
  }

  private addCall({ id, tool, input, at }: Pick<ToldCall, "id" | "tool" | "input" | "at">): void {
    const { does, diff } = tellCall(this.tools, tool, input, this.place);
    this.add({ kind: "command", at, call: id, tool, does: cut(does, this.bounds.words).text });
    if (diff) this.add({ kind: "diff", at, path: redact(diff.path), ...cut(diff.text, this.bounds.words) });
  }

  private addResult({ id, ok, text, at }: Pick<ToldResult, "id" | "ok" | "text" | "at">): void {
    this.add({ kind: "result", at, call: id, ok, ...cutMiddle(text.trimEnd(), this.bounds.result) });
  }

  private addNote(at: number, text: string, bad = false): void {
    this.add({ kind: "note", at, text: cut(text, this.bounds.words).text, bad });
  }

  /** Of our own logs, which hold what was said and done, but not what was asked. */
  private addSignal({ kind, source, at, data }: Signal): void {
    switch (kind) {
      case "said":
        this.addWords(data.text, at);
        break;
      case "tool.started": {
        const input = jsonObject(data.args) ?? { [this.tools.commandArgument]: data.args };
        this.addCall({ id: source, tool: data.tool, input, at });
        break;
      }
      case "tool.ended":
        this.addResult({ id: source, ok: data.ok, text: data.result, at });
        break;
      case "turn.ended":
        if (data.ok) this.addLastWords(data.text, at);
        else this.addNote(at, `its turn ended: ${data.reason}`, true);
        break;
      case "compacted":
        this.addNote(at, tellCompaction(data.trigger));
        break;
      case "api.failed":
        this.addNote(at, tellFailure(data), true);
    }
  }

  /** An agent on its own screen is not heard speaking before its turn ends. */
  private addLastWords(text: string, at: number): void {
    const last = this.heard.findLast(({ kind }) => kind === "words");
    const { text: words } = cut(text.trim(), this.bounds.words);
    if (last?.kind !== "words" || !words.endsWith(last.text)) this.addWords(text, at);
  }
}

function tellCompaction(trigger: string): string {
  return `its context was replaced by a summary (${trigger})`;
}

function tellFailure({ cause, detail }: { readonly cause: string; readonly detail: string }): string {
  return `the provider gave up (${cause}): ${detail}`;
}

function cut(text: string, most: number): { readonly text: string; readonly left: number } {
  const clean = redact(text);
  if (clean.length <= most) return { text: clean, left: 0 };
  const kept = clean.slice(0, most).toWellFormed();
  return { text: kept, left: clean.length - kept.length };
}

/** Of a long result the end says as much as the beginning. */
function cutMiddle(text: string, most: number): { readonly text: string; readonly left: number } {
  const clean = redact(text);
  if (clean.length <= most) return { text: clean, left: 0 };
  const half = Math.floor(most / 2);
  const kept = [clean.slice(0, half).toWellFormed(), clean.slice(-half).toWellFormed()];
  return { text: kept.join("\n…\n"), left: clean.length - half * 2 };
}

const nothing = () => undefined;
const DEAF: SessionEars = {
  ...{ begin: nothing, hearPerson: nothing, hearProgram: nothing, say: nothing, call: nothing, finishCall: nothing },
  ...{ use: nothing, compact: nothing, retry: nothing, fail: nothing, interrupt: nothing, pass: nothing },
};
