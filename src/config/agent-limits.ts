/** The limits and exemptions that a role file or a node of a plan may set for its agents, as people write them. */
import { z } from "zod";
import type { OwnLimits } from "#domain/model/limits.ts";
import { parseDuration } from "./units.ts";

const duration = z.string("must be a duration with its unit, like 7m").transform((text, context) => {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 1_000) return ms;
  context.addIssue({ code: "custom", message: "must be a duration of at least 1s, like 7m" });
  return z.NEVER;
});
const amount = z.number().min(0).nullable();

/** The keys themselves: a node of a plan may have them beside its others. */
export const limitKeys = {
  idleAfter: duration.optional(),
  startingLimit: duration.optional(),
  patience: duration.optional(),
  toolLimit: duration.optional(),
  dueEvery: duration.optional(),
  budget: z
    .strictObject({
      tokens: amount.optional(),
      cost: amount.optional(),
      time: duration.nullable().optional(),
    })
    .optional(),
};

const limits = z.strictObject(limitKeys);

/** What of its supervision is switched off; what is left out is as above it. */
export const ownSupervision = z
  .strictObject({ enabled: z.boolean().optional(), nudge: z.boolean().optional() })
  .transform(({ enabled, nudge }) => ({
    ...(enabled === undefined ? {} : { enabled }),
    ...(nudge === undefined ? {} : { nudge }),
  }));

export const ownLimits = limits.transform(toOwnLimits);

export function toOwnLimits({
  idleAfter,
  startingLimit,
  patience,
  toolLimit,
  dueEvery,
  budget,
}: z.infer<typeof limits>): OwnLimits {
  return {
    ...(idleAfter !== undefined && { idleAfterMs: idleAfter }),
    ...(startingLimit !== undefined && { startingLimitMs: startingLimit }),
    ...(patience !== undefined && { patienceMs: patience }),
    ...(toolLimit !== undefined && { toolLimitMs: toolLimit }),
    ...(dueEvery !== undefined && { dueEveryMs: dueEvery }),
    ...(budget !== undefined && {
      budget: {
        ...(budget.tokens !== undefined && { tokens: budget.tokens }),
        ...(budget.cost !== undefined && { cost: budget.cost }),
        ...(budget.time !== undefined && { timeMs: budget.time }),
      },
    }),
  };
}
