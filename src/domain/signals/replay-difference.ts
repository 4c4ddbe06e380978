/** What two sets of rules say differently about the same recorded work: what is new, what is gone, what comes earlier or later. */
import type { Fired } from "./reflex-replay.ts";

export type SteeringDifference<T extends Fired = Fired> =
  | { readonly what: "gone"; readonly before: T }
  | { readonly what: "new"; readonly after: T }
  | { readonly what: "earlier" | "later"; readonly before: T; readonly after: T };

/** Within so many steps the same anomaly is the same finding, said at another time. */
const SAME_FINDING_STEPS = 12;

/** In the order of the steps they are about. What both say at the same step is no difference. */
export function compareSteerings<T extends Fired>(before: readonly T[], after: readonly T[]): SteeringDifference<T>[] {
  const isSame = (one: T) => (other: T) => one.anomaly === other.anomaly && one.step === other.step;
  const gone = before.filter((one) => !after.some(isSame(one)));
  const added = after.filter((one) => !before.some(isSame(one)));
  const differences: SteeringDifference<T>[] = [];
  for (const one of gone) {
    const near = added
      .filter((other) => other.anomaly === one.anomaly && Math.abs(other.step - one.step) <= SAME_FINDING_STEPS)
      .toSorted((a, b) => Math.abs(a.step - one.step) - Math.abs(b.step - one.step))[0];
    if (near === undefined) differences.push({ what: "gone", before: one });
    else {
      added.splice(added.indexOf(near), 1);
      differences.push({ what: near.step < one.step ? "earlier" : "later", before: one, after: near });
    }
  }
  for (const one of added) differences.push({ what: "new", after: one });
  return differences.toSorted((a, b) => stepOf(a) - stepOf(b));
}

function stepOf(one: SteeringDifference): number {
  return "before" in one ? one.before.step : one.after.step;
}
