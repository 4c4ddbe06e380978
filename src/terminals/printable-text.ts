/**
 * What may be put in front of an agent as text. An escape sequence inside a message could end the bracketed paste
 * early and turn the rest into key presses, so everything that is not print, tab or newline is refused, in every kind of
 * terminal alike. Cleaning a message is for the one who composes it.
 */
import { OverseerError } from "#errors.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the purpose.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

export function checkPrintable(text: string): void {
  if (text === "") {
    throw new OverseerError("usage", "TEXT_EMPTY", "There is no text to send.", "Give at least one character.");
  }
  const found = CONTROL.exec(text)?.[0];
  if (found === undefined) return;
  const code = found.charCodeAt(0).toString(16).padStart(4, "0");
  throw new OverseerError(
    "usage",
    "TEXT_CONTROL_CHARACTERS",
    `The text has the control character U+${code} in it, which a terminal would act upon.`,
    "Remove control characters and escape sequences from the message; tab and newline are fine.",
  );
}
