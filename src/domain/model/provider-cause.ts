/**
 * In which way the provider of a model fails an account: its login, its credit, the model that is asked for, its host, the
 * way there. None of them is any agent's own failure.
 */
export const PROVIDER_CAUSES = ["auth", "billing", "model", "overloaded", "network"] as const;
export type ProviderCause = (typeof PROVIDER_CAUSES)[number];

/** What fails, as a clause. */
const FAILING: Readonly<Record<ProviderCause, string>> = {
  auth: "its login does not work",
  billing: "its credit is used up",
  model: "its model is not there",
  overloaded: "it is overloaded",
  network: "it cannot be reached",
};

/** Nothing was said of it at all: the way there and its host may be meant. */
const SILENT = "it does not answer";

/** `detail`: what the provider, or a CLI in its name, said of it. */
export function describeProviderFailure(account: string, cause: ProviderCause, detail: string): string {
  const how = cause === "network" && detail === "" ? SILENT : FAILING[cause];
  return `the provider of ${account} fails: ${how}`;
}
