/** What came of a plan that was accepted, for whoever gave it. */
import type { AcceptedPlan } from "#domain/plans/plan.ts";
import type { Call } from "./command.ts";
import { inert, plural } from "./text.ts";

const MOST_NAMED = 5;

export function tellAccepted(call: Call, accepted: AcceptedPlan & { readonly goalId: string }): void {
  const changes = [
    `${plural(accepted.added, "node")} added`,
    accepted.changed > 0 ? `${accepted.changed} changed` : "",
    accepted.cancelled > 0 ? `${accepted.cancelled} cancelled` : "",
  ].filter(Boolean);
  call.out.line(`${accepted.goalId} has plan revision ${accepted.revision}: ${changes.join(", ")}.`);
  tellStayCancelled(call, accepted);
  tellShared(call, accepted);
}

/** A plan that was given again for the sake of these would change nothing, and look as if it had been taken. */
function tellStayCancelled(call: Call, { stayCancelled }: AcceptedPlan): void {
  const [one, ...more] = stayCancelled;
  if (one === undefined) return;
  const left = stayCancelled.length - MOST_NAMED;
  const named = `${stayCancelled.slice(0, MOST_NAMED).join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
  call.out.remark(
    more.length === 0
      ? `${named} was cancelled before and stays so: to have it done, give it a new id in the plan.`
      : `${named} were cancelled before and stay so: to have them done, give them new ids in the plan.`,
  );
}

/** What would be done side by side and is not, so that nobody wonders why. */
export function tellShared(call: Call, { shared }: AcceptedPlan): void {
  for (const { one, other, files } of shared) {
    const where = files[0] === files[1] ? files[0] : `${files[0]} and ${files[1]}`;
    call.out.remark(inert(`${one} and ${other} share files (${where}): they are done one after the other.`));
  }
}
