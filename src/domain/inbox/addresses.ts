/**
 * Who can be written to: an agent by its name, a group of those at work, the person, and the person's own agent that
 * leads (`orchestrator`). An address is checked when something is sent; a name that means nobody is refused with the
 * names that do, because a message to nobody is a message lost.
 */

import { nearest } from "#domain/core/nearest.ts";
import { refuse } from "#domain/core/refusal.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { AGENT_NAME } from "#domain/model/attempt.ts";
import type { Decision } from "#domain/model/decision.ts";
import { ORCHESTRATOR_ADDRESS, PERSON_ADDRESS } from "#domain/model/protocol.ts";

/** Whom Overseer itself speaks as. Nobody can answer it. */
export const OVERSEER_ADDRESS = "overseer";

export type Address =
  | { readonly kind: "agent"; readonly name: string }
  | { readonly kind: "group"; readonly group: string }
  | { readonly kind: "person"; readonly name: typeof PERSON_ADDRESS | typeof ORCHESTRATOR_ADDRESS };

/** What was typed, told apart by its form; undefined when it is the form of nothing. */
export function addressOf(typed: string): Address | undefined {
  if (typed === PERSON_ADDRESS || typed === ORCHESTRATOR_ADDRESS) return { kind: "person", name: typed };
  if (/^@[a-z][a-z0-9-]{0,40}$/.test(typed)) return { kind: "group", group: typed.slice(1) };
  // `scout-1#4` is how people see an agent; the number is looked at by nobody, since the living one is meant.
  const name = typed.replace(/#\d+$/, "");
  return AGENT_NAME.test(name) ? { kind: "agent", name } : undefined;
}

export function badAddress(typed: string): Decision<never> {
  const shown = JSON.stringify(typed.slice(0, 60)).slice(1, -1);
  return refuse(
    "usage",
    "ADDRESS_INVALID",
    `"${shown}" is no address.`,
    "Write to an agent's name, to a group (@all, @builders, @leads …), to human or to orchestrator.",
  );
}

/** Those of the living whom a group means: `all`, or a capability in the plural or as it is. Never the sender. */
export function membersOf(group: string, living: readonly Attempt[], sender: string): Attempt[] {
  return living.filter(
    (one) =>
      one.agent !== sender && (group === "all" || group === one.capability || group === pluralOf(one.capability)),
  );
}

function pluralOf(capability: string): string {
  return /(s|x|z|ch|sh)$/.test(capability) ? `${capability}es` : `${capability}s`;
}

export function nobodyIn(group: string, living: readonly Attempt[]): Decision<never> {
  const groups = [...new Set(living.map((one) => `@${pluralOf(one.capability)}`))].sort();
  return refuse(
    "not-found",
    "GROUP_EMPTY",
    `No agent is in @${group} now.`,
    groups.length > 0
      ? `At work are: ${["@all", ...groups].join(", ")}.`
      : "No agent is at work; see 'overseer agents'.",
  );
}

export function nobodyCalled(name: string, living: readonly string[]): Decision<never> {
  const like = nearest(name, living);
  return refuse(
    "not-found",
    "RECIPIENT_UNKNOWN",
    `There is no agent called ${name}.`,
    like
      ? `Did you mean ${like}?`
      : living.length > 0
        ? `At work are: ${living.slice(0, 12).join(", ")}.`
        : "No agent is at work; see 'overseer agents --all'.",
  );
}
