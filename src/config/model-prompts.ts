/** The texts with which models are asked, by the id under which a use of them is recorded. */
import reimagineChange from "#prompts/models/reimagine-change.md" with { type: "text" };
import resolveConflict from "#prompts/models/resolve-conflict.md" with { type: "text" };

export interface ModelPrompt {
  readonly id: string;
  readonly text: string;
}

export const RESOLVE_CONFLICT: ModelPrompt = { id: "resolve-conflict", text: resolveConflict };
export const REIMAGINE_CHANGE: ModelPrompt = { id: "reimagine-change", text: reimagineChange };
