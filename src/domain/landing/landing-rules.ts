/**
 * How work lands where nobody has said it: with a person in front of it every landing is theirs to accept and the
 * branch stays visible in the history; a fleet that runs on its own (`up --auto`) lands by itself, one commit for each
 * piece of work. What is configured always wins.
 */
import type { LandingStrategy } from "#domain/model/claim.ts";
import type { LandingMode } from "./may-land.ts";

export interface LandingRules {
  readonly mode: LandingMode;
  readonly strategy: LandingStrategy;
}

export function landingRules(
  asked: { readonly mode: LandingMode | null; readonly strategy: LandingStrategy | null },
  underAuto: boolean,
): LandingRules {
  return {
    mode: asked.mode ?? (underAuto ? "auto" : "review"),
    strategy: asked.strategy ?? (underAuto ? "squash" : "merge"),
  };
}
