/** What the reflex can find wrong with an agent, and the limits it goes by: a role's doctrine under the fleet's settings. */
import type { Doctrine, PaceLevel, Role } from "#domain/model/role.ts";

/** In the order of urgency: of several, the first is what the agent hears. */
export const ANOMALIES = [
  "emergency",
  "context-urgent",
  "blocked",
  "cascade",
  "oscillation",
  "loop",
  "hunt",
  "churn",
  "polling",
  "contingent",
  "stall",
  "context",
] as const;

export type Anomaly = (typeof ANOMALIES)[number];

export interface ReflexRules {
  readonly role: string;
  readonly doctrine: Doctrine;
  readonly readOnly: boolean;
  /** What the agent hears at each level. */
  readonly pace: Readonly<Record<PaceLevel, string>>;
  readonly cooldownSteps: number;
  readonly contextWarn: number;
  readonly contextUrgent: number;
  readonly loopRepeats: number;
  readonly cascadeTools: number;
  readonly cascadeWindow: number;
}

export interface ReflexSettings extends Omit<ReflexRules, "role" | "doctrine" | "readOnly" | "pace"> {
  readonly radioCheckSteps: number;
}

/** The rules for a role under the fleet's settings: of two radio checks the oftener one counts. */
export function rulesFor(
  role: Pick<Role, "capability" | "doctrine" | "readOnly" | "pace">,
  { radioCheckSteps, ...settings }: ReflexSettings,
): ReflexRules {
  const { cooldownSteps, contextWarn, contextUrgent, loopRepeats, cascadeTools, cascadeWindow } = settings;
  const oftener = Math.min(role.doctrine.radioCheckSteps, radioCheckSteps);
  return {
    role: role.capability,
    doctrine: { ...role.doctrine, radioCheckSteps: oftener },
    readOnly: role.readOnly,
    pace: role.pace,
    cooldownSteps,
    contextWarn,
    contextUrgent,
    loopRepeats,
    cascadeTools,
    cascadeWindow,
  };
}

export interface AnomalyFinding {
  readonly anomaly: Anomaly;
  /** The evidence as a clause, with the call it is about: "Bash “npm test” failed 3 times with the same result". */
  readonly fact: string;
  /** The failures it stems from, by short names: whatever else stems from them is the same trouble. */
  readonly about?: readonly string[];
}
