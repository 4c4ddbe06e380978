/**
 * The text that tells an agent how to work: built in for the five base roles, replaced by a file of the same name
 * where the repository has its own (`.overseer/agents/` unless configured). Each comes with an id and a hash of exactly what the agent read, so that every
 * use can be traced to its wording, also after the text has changed.
 * What to work on is not here; that is the overlay.
 */

import { promptValues, renderDefinition, type SharedParts } from "#domain/briefing/prompt.ts";
import { nearest } from "#domain/core/nearest.ts";
import type { Role } from "#domain/model/role.ts";
import { OverseerError } from "#errors.ts";
import builder from "#prompts/builder.md" with { type: "text" };
import lead from "#prompts/lead.md" with { type: "text" };
import merger from "#prompts/merger.md" with { type: "text" };
import reviewer from "#prompts/reviewer.md" with { type: "text" };
import scout from "#prompts/scout.md" with { type: "text" };
import doneReading from "#prompts/shared/done-reading.md" with { type: "text" };
import doneWriting from "#prompts/shared/done-writing.md" with { type: "text" };
import messages from "#prompts/shared/messages.md" with { type: "text" };
import reporting from "#prompts/shared/reporting.md" with { type: "text" };
import talking from "#prompts/shared/talking.md" with { type: "text" };
import type { ConfiguredPath } from "./places.ts";
import type { ReadDir } from "./read-dir.ts";

/** By file name, as a role's `definition` names them. */
export const BUILT_IN_DEFINITIONS: ReadonlyMap<string, string> = new Map([
  ["builder.md", builder],
  ["lead.md", lead],
  ["merger.md", merger],
  ["reviewer.md", reviewer],
  ["scout.md", scout],
]);

export const SHARED_PARTS: SharedParts = { talking, reporting, messages, doneReading, doneWriting };

export interface Definition {
  /** Where the text comes from: `builtin:builder.md` or `.overseer/agents/builder.md`. */
  readonly id: string;
  readonly text: string;
  /** SHA-256 of the text, in hex. */
  readonly hash: string;
}

/** The role's definition, ready to be read by an agent. Throws config errors that name the file and the line. */
export async function loadDefinition(role: Role, files: ReadDir, directory: ConfiguredPath): Promise<Definition> {
  const own = await files.read(`${directory.path}/${role.definition}`);
  if (own !== undefined) return finish(`${directory.shown}/${role.definition}`, own, role);
  const builtIn = BUILT_IN_DEFINITIONS.get(role.definition);
  if (builtIn !== undefined) return finish(`builtin:${role.definition}`, builtIn, role);
  throw new OverseerError(
    "config",
    "DEFINITION_MISSING",
    `The role "${role.capability}" is defined by ${directory.shown}/${role.definition}, and there is no such file.`,
    `Write ${directory.shown}/${role.definition}, or name another file under \`definition\` in .overseer/roles/${role.capability}.yaml (built in: ${[...BUILT_IN_DEFINITIONS.keys()].join(", ")}).`,
  );
}

function finish(id: string, source: string, role: Role): Definition {
  const { text, unknown } = renderDefinition(source, role, SHARED_PARTS);
  const hole = unknown[0];
  if (hole !== undefined) {
    const meant = nearest(hole.name, Object.keys(promptValues(role, SHARED_PARTS)));
    throw new OverseerError(
      "config",
      "DEFINITION_INVALID",
      `${id}:${hole.line}: there is no placeholder {{${hole.name}}} for the role "${role.capability}".`,
      meant === undefined ? "Remove it, or write the text itself." : `Did you mean {{${meant}}}?`,
    );
  }
  return { id, text, hash: sha256(text) };
}

export function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
