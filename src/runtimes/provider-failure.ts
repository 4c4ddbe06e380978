/** Why a provider gave up, read from the words a CLI has for it; for CLIs that say no more than words. */
import type { SignalData } from "#domain/signals/signal.ts";

const CAUSES: readonly (readonly [pattern: RegExp, cause: SignalData["api.failed"]["cause"]])[] = [
  [/billing|credit balance|payment|insufficient_quota|insufficient (?:funds|credit)/i, "billing"],
  [/context (?:length|window)|too long|too many tokens|maximum context|ran out of room/i, "too_long"],
  [/\b429\b|usage limit|rate.?limit|quota|too many requests|resource.?exhausted|hit your (?:\w+ )?limit/i, "quota"],
  [/\b40[13]\b|unauthori[sz]ed|not logged in|log ?in again|api key|token (?:has )?expired|authentication/i, "auth"],
  [/model\b.{0,80}\b(?:not found|does not exist|not available|not supported)/i, "model"],
  [/\b5\d\d\b|overload|server error|service unavailable|high demand|bad gateway/i, "overloaded"],
  [
    /network|connect|timed? ?out|stream (?:disconnected|closed|error)|socket|dns|reset by peer|fetch failed/i,
    "network",
  ],
];

export function readProviderFailure(text: string): SignalData["api.failed"] {
  const cause = CAUSES.find(([pattern]) => pattern.test(text))?.[1] ?? "unknown";
  return { cause, detail: text.slice(0, 500), resetsAt: null };
}
