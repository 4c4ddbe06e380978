/** Who serves the models of a runtime, by the names that the conventions give them; an unknown one stands for itself. */
const PROVIDERS: Readonly<Record<string, string>> = {
  "claude-code": "anthropic",
  codex: "openai",
  gemini: "gcp.gemini",
};

export function providerOf(runtime: string): string {
  return PROVIDERS[runtime] ?? runtime;
}
