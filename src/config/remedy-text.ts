/** What a remediating agent is told about its work where the project says nothing itself (guard.remediationPrompt). */
import text from "#prompts/remediate.md" with { type: "text" };

export const REMEDY_TEXT: string = text;
