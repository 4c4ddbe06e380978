/** Every source of expertise, in the order in which what they know is told. */
import type { Config } from "#config/schema.ts";
import type { Expertise } from "./expertise.ts";
import { type MulchParts, makeMulchExpertise } from "./mulch.ts";
import { makeOwnExpertise, type OwnParts } from "./own.ts";

export function listExpertise(
  { sync, mulch }: Pick<Config, "sync" | "mulch">,
  parts: { readonly own: OwnParts; readonly mulch: MulchParts },
): readonly Expertise[] {
  return [
    ...(sync.enabled ? [makeOwnExpertise(parts.own)] : []),
    ...(mulch.enabled ? [makeMulchExpertise(parts.mulch)] : []),
  ];
}
