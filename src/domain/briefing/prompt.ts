/**
 * From a definition with holes to the text an agent reads: the values for every placeholder, made from the role and
 * the protocol table. Because they are made and not written, a scout's text cannot offer what only a lead may do.
 * The texts themselves are data (src/prompts); this file never holds a sentence of advice.
 */

import { type Rendered, renderTemplate } from "#domain/core/template.ts";
import {
  MAIL_PRIORITIES,
  MAIL_TYPES,
  PERSON_ADDRESS,
  REPORT_STATUSES,
  updateBlock,
  usage,
  verbsFor,
} from "#domain/model/protocol.ts";
import { CONSTRAINTS, constraintsOf, type Role } from "#domain/model/role.ts";

/** Parts that several definitions have in common; `done` has one wording for those who write and one for those who read. */
export interface SharedParts {
  readonly talking: string;
  readonly reporting: string;
  readonly messages: string;
  readonly doneWriting: string;
  readonly doneReading: string;
}

export function promptValues(role: Role, shared: SharedParts): Readonly<Record<string, string>> {
  const verbs = verbsFor(role);
  return {
    ...Object.fromEntries(verbs.map((verb) => [`verbs.${verb.id}`, usage(verb)])),
    ...Object.fromEntries(verbs.map((verb) => [`verbs.${verb.id}.all`, usage(verb, "all")])),
    "report.statuses": choice(REPORT_STATUSES),
    "report.block": updateBlock(),
    "mail.types": list(MAIL_TYPES),
    "mail.priorities": list(MAIL_PRIORITIES),
    "address.person": PERSON_ADDRESS,
    "role.capability": role.capability,
    "role.summary": role.summary,
    "role.constraints": constraintsOf(role)
      .map((constraint) => `- ${CONSTRAINTS[constraint]}`)
      .join("\n"),
    "shared.talking": shared.talking.trim(),
    "shared.reporting": shared.reporting.trim(),
    "shared.messages": shared.messages.trim(),
    "shared.done": (role.readOnly ? shared.doneReading : shared.doneWriting).trim(),
  };
}

/** A definition as the agent reads it; a leading comment, which is for the file's owner, is left out. */
export function renderDefinition(source: string, role: Role, shared: SharedParts): Rendered {
  const { text, unknown } = renderTemplate(source, promptValues(role, shared));
  return { text: `${withoutLeadingComment(text).trim()}\n`, unknown };
}

function withoutLeadingComment(text: string): string {
  return text.replace(/^\s*<!--[\s\S]*?-->/, "");
}

function list(words: readonly string[]): string {
  return join(words, "and");
}

function choice(words: readonly string[]): string {
  return join(words, "or");
}

function join(words: readonly string[], last: string): string {
  const coded = words.map((word) => `\`${word}\``);
  return coded.length < 2 ? coded.join("") : `${coded.slice(0, -1).join(", ")} ${last} ${coded.at(-1)}`;
}
