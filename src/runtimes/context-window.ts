/**
 * How much the context of a model holds, by its name; transcripts rarely say. The numbers are what providers publish;
 * a name that is not known has none, a later version of a known one neither, and more tokens than the number prove a wider one.
 */

const WINDOWS: readonly (readonly [pattern: RegExp, tokens: number])[] = [
  [/\[1m\]|-1m\b/, 1_000_000],
  [/claude|sonnet|opus|haiku/, 200_000],
  [/gemini/, 1_048_576],
  [/gpt-4\.1/, 1_047_576],
  [/gpt-5|codex/, 272_000],
  [/gpt-4o|gpt-4-turbo|gpt-oss/, 128_000],
  [/\bo[134](?:-|$)/, 200_000],
  [/qwen3?-?coder|qwen3-max/, 262_144],
  [/kimi-k2/, 262_144],
  [/grok-code|grok-4/, 256_000],
  [/glm-4\.[67]|glm-5/, 200_000],
  [/deepseek-(?:v[23]|r1|chat|reasoner|coder)|glm-4|minimax-m2/, 128_000],
];

/** Wider windows that models are sold with, for a session in which more was seen than the usual one holds. */
const WIDER = [272_000, 400_000, 1_000_000, 1_048_576, 2_097_152];

/** Null: nobody knows. `seen`: the most tokens that were in it. */
export function windowOf(model: string, seen: number): number | null {
  const name = model.toLowerCase();
  const usual = WINDOWS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
  if (usual === null || seen <= usual) return usual;
  const claudes = /claude|sonnet|opus|haiku/.test(name);
  return WIDER.find((tokens) => tokens >= seen && (!claudes || tokens === 1_000_000)) ?? null;
}
