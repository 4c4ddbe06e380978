/**
 * What an agent says through the command line: a report of its work, or a question to a person. The attempt in its
 * environment says who speaks; it is held to the same rules as an update in an answer (act/updates/take-update.ts).
 */
import type { TakenUpdate } from "#act/updates/take-update.ts";
import { takeFields, updateLimits } from "#act/updates/take-update.ts";
import type { Reported } from "#domain/reports/report.ts";
import { type AgentUpdate, parseUpdate } from "#domain/reports/update.ts";
import { OverseerError } from "#errors.ts";
import { REQUEST_VARIABLE } from "#sys/attempt-token.ts";
import type { World } from "./world.ts";

/** `fields` as they came from flags or JSON, under the names of the update block; checked here. */
export async function report(world: World, fields: unknown): Promise<Reported> {
  const attempt = Number(world.env.OVERSEER_ATTEMPT ?? 0);
  if (!Number.isInteger(attempt) || attempt <= 0) {
    throw new OverseerError(
      "usage",
      "NOT_AN_AGENT",
      "Only agents report, and this is not an agent.",
      "By hand: 'overseer work done', 'work block' or 'work unblock'.",
    );
  }
  const read = parseUpdate(fields, updateLimits(await world.config()));
  if (!read.ok) {
    throw new OverseerError("usage", "UPDATE_INVALID", read.reason, "'overseer work report --help' names every field.");
  }
  return unwrapReported(await takeFields(world, attempt, read.update, requestIn(world.env)));
}

/** As the agent's runner tells it to what it starts; an agent's own command has none, and counts as often as it is run. */
function requestIn(env: World["env"]): string | undefined {
  const request = env[REQUEST_VARIABLE];
  return request !== undefined && /^[\w-]{1,64}$/.test(request) ? request : undefined;
}

export interface SpokenQuestion {
  readonly text: string;
  readonly options: readonly string[];
  readonly goOn: boolean;
  readonly node?: string;
}

/** A question, and a block on the node until it is answered, unless the agent continues meanwhile. */
export async function reportQuestion(world: World, question: SpokenQuestion): Promise<Reported> {
  return report(world, questionFields(question));
}

export function questionFields({ text, options, goOn, node }: SpokenQuestion): Partial<AgentUpdate> {
  return {
    ...(goOn ? {} : { status: "blocked" }),
    ...(node === undefined ? {} : { workNodeId: node }),
    question: { text, options },
  };
}

function unwrapReported(taken: TakenUpdate): Reported {
  if (taken.kind === "taken") return taken.reported;
  if (taken.kind === "refused") {
    const { kind, code, message, hint } = taken.refusal;
    throw new OverseerError(kind, code, message, hint);
  }
  throw new OverseerError("internal", "NOTHING_REPORTED", "The report was not read.", "Please report this.");
}
