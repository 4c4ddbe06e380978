/**
 * What hooks at a prompt have put before the model, as the transcript of a person's own Claude Code session has it. Of all that
 * stands there only this is proof that the session took what it was handed: the same words in a tool's result, in a
 * file it read or in what it said itself are none.
 */
import { readHookText } from "./claude-code/wire.ts";
import { jsonObject, objectOf } from "./json.ts";

/** `mark`: lines without it are passed over unread. */
export function promptContextsIn(transcript: string, mark: string): string[] {
  return transcript
    .split("\n")
    .filter((line) => line.includes(mark))
    .flatMap((line) => {
      const { type, attachment } = jsonObject(line) ?? {};
      const attached = objectOf(attachment);
      const isOfPrompt = attached.hookEvent === undefined || attached.hookEvent === "UserPromptSubmit";
      return type === "attachment" && isOfPrompt ? [readHookText(attached)] : [];
    });
}
