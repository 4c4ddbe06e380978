/**
 * What one agent is exempt from (HEALTH-4), resolved in one place like its limits: its role (`roles/<capability>.yaml`), over
 * that its node (the plan), over both the words it was slung with. Settled when the attempt is created and kept with it, with
 * whose word it was. Exempt from nudges, nothing is said to it; exempt from supervision, its silence is not judged either.
 * That it has died is noticed in any case.
 */

export interface Supervision {
  /** It is judged, and what follows from that is done. */
  readonly enabled: boolean;
  /** It may be spoken to, by the ladder and by its own reflex. */
  readonly nudge: boolean;
}

/** What a role, a node or a command says for itself; whatever it leaves out is as above it. */
export type OwnSupervision = Partial<Supervision>;

export const EXEMPTION_ORIGINS = ["role", "node", "sling"] as const;
export type ExemptionOrigin = (typeof EXEMPTION_ORIGINS)[number];

/** From what, and by whose word. */
export interface Exemptions {
  readonly supervision?: ExemptionOrigin;
  readonly nudges?: ExemptionOrigin;
}

/** Undefined where it is supervised like everybody. */
export function resolveExemptions(
  said: Partial<Record<ExemptionOrigin, OwnSupervision | undefined>>,
): Exemptions | undefined {
  const supervision = findOrigin(said, "enabled");
  const nudges = findOrigin(said, "nudge");
  if (supervision === undefined && nudges === undefined) return undefined;
  return { ...(supervision ? { supervision } : {}), ...(nudges ? { nudges } : {}) };
}

/** Who has switched it off; undefined where the last word about it leaves it on. */
function findOrigin(
  said: Partial<Record<ExemptionOrigin, OwnSupervision | undefined>>,
  key: keyof Supervision,
): ExemptionOrigin | undefined {
  const last = EXEMPTION_ORIGINS.findLast((origin) => said[origin]?.[key] !== undefined);
  return last !== undefined && said[last]?.[key] === false ? last : undefined;
}

interface Exemptible {
  readonly exempt?: Exemptions;
}

/** Its silence is judged, and the ladder takes it up. */
export function isSupervised({ exempt }: Exemptible): boolean {
  return exempt?.supervision === undefined;
}

/** Nobody but people and other agents says anything to it. */
export function isSpared({ exempt }: Exemptible): boolean {
  return exempt?.supervision !== undefined || exempt?.nudges !== undefined;
}

/** What it was slung with itself, for whoever takes its place. */
export function listSlungExemptions({ exempt }: Exemptible): OwnSupervision {
  return {
    ...(exempt?.supervision === "sling" ? { enabled: false } : {}),
    ...(exempt?.nudges === "sling" ? { nudge: false } : {}),
  };
}

const BY: Readonly<Record<ExemptionOrigin, string>> = {
  role: "its role says so",
  node: "its plan says so",
  sling: "it was slung so",
};

/** In a few words, for people; undefined where it is supervised like everybody. */
export function describeExemption({ exempt }: Exemptible): string | undefined {
  if (exempt?.supervision !== undefined) return `not supervised: ${BY[exempt.supervision]}`;
  return exempt?.nudges === undefined ? undefined : `not nudged: ${BY[exempt.nudges]}`;
}
