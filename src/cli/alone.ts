/**
 * `overseer` without a command, at a terminal: the live view of the repository, and where nothing is set up yet the three
 * commands that a newcomer needs. `status` names the same there.
 */
import { OverseerError } from "#errors.ts";
import type { Output } from "./output.ts";
import type { Parts } from "./parts.ts";
import { breakSentences } from "./text.ts";

const COMMANDS = [
  ["overseer init", "set it up here"],
  ['overseer do "<what you want>"', "plan it, look at the plan, watch it land"],
  ['overseer sling --prompt "<task>" --follow', "or put one agent to work, without a plan"],
] as const;
const WIDEST = Math.max(...COMMANDS.map(([command]) => command.length));

const AFTER =
  "Then 'overseer' alone shows the fleet. 'overseer demo' shows one at work without any of this; 'overseer help' lists every command.";

export async function openAlone(parts: Pick<Parts, "worldNow">, out: Output): Promise<void> {
  try {
    await (await parts.worldNow()).reader();
  } catch (error) {
    const first = findFirstWords(error);
    if (!first) throw error;
    const lines = [
      `${first.where} ${first.what}`,
      "",
      ...COMMANDS.map(([command, why]) => `  ${command.padEnd(WIDEST)}  ${why}`),
      "",
      AFTER,
    ];
    for (const line of lines.flatMap((text) => breakSentences(out, text))) out.line(line);
    return;
  }
  const { watchStatus } = await import("#cli/live/watch.ts");
  await watchStatus(parts.worldNow, out);
}

const FIRST = COMMANDS.map(([command]) => command).join(", ");

/** The same problem with the first commands in its hint, where it is that nothing is set up; any other as it is. */
export function addFirstCommands(error: unknown): unknown {
  const first = findFirstWords(error);
  if (!first) return error;
  const { kind, code, message, hint } = first.error;
  const isMissing = code === "STORE_MISSING";
  const words = isMissing
    ? `${first.what} ${FIRST}. 'overseer doctor' offers a backup if there was one.`
    : `${hint} Then: ${FIRST}.`;
  return new OverseerError(kind, code, isMissing ? first.where : message, words, { cause: error });
}

function findFirstWords(error: unknown) {
  if (!(error instanceof OverseerError)) return undefined;
  switch (error.code) {
    case "STORE_MISSING":
      return {
        error,
        where: "Overseer is not set up in this repository yet.",
        what: "Three commands put a first agent to work:",
      };
    case "NOT_A_REPOSITORY":
      return {
        error,
        where: "This is no git repository.",
        what: "Three commands, in one, put a first agent to work:",
      };
    default:
      return undefined;
  }
}
