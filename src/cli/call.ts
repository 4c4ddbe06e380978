/**
 * A call as its command sees it: the parsed values behind the questions of `Call`. Asking for something the command's
 * description does not have is a fault of the command's author, so it throws a plain error that any test of the
 * command meets at once. It does not read words; parse.ts did.
 */
import { OverseerError } from "#errors.ts";
import type { Call, Command } from "./command.ts";
import type { Output } from "./output.ts";
import type { CallValues } from "./parse.ts";

export function callOf(command: Command<never>, values: CallValues, out: Output): Call {
  const argument = (name: string) => {
    if (!command.args?.some((candidate) => candidate.name === name))
      throw toUndescribedError(command, `argument ${name}`);
    return values.args.get(name);
  };
  const option = (name: string) => {
    if (!command.options?.some((candidate) => candidate.name === name))
      throw toUndescribedError(command, `option ${name}`);
    return values.options.get(name);
  };
  return {
    arg(name) {
      const word = argument(name);
      if (word === undefined) throw toUndescribedError(command, `required argument ${name}`);
      return word;
    },
    optionalArg: argument,
    restArgs: () => values.rest,
    text: (name) => option(name)?.at(-1),
    list: (name) => option(name) ?? [],
    number: (name) => wholeNumber(name, option(name)?.at(-1)),
    has: (name) => option(name) !== undefined,
    json: values.options.has("json"),
    out,
  };
}

function wholeNumber(name: string, word: string | undefined): number | undefined {
  if (word === undefined) return undefined;
  if (/^\d{1,15}$/.test(word)) return Number(word);
  throw new OverseerError(
    "usage",
    "NOT_A_NUMBER",
    `--${name} takes a whole number${/^-\d/.test(word) ? " that is not negative" : ""}, not "${word.slice(0, 40)}".`,
    `For example: --${name} 20`,
  );
}

function toUndescribedError(command: Command<never>, what: string): Error {
  return new Error(`The description of the command "${command.name}" has no ${what}.`);
}
