/** Every source of expertise, in the order in which what they know is told. */
import type { Config } from "#config/schema.ts";
import { messageOf } from "#errors.ts";
import type { Expertise, ExpertiseAnswer } from "./expertise.ts";
import { type MulchParts, makeMulchExpertise } from "./mulch.ts";
import { makeOwnExpertise, type OwnParts } from "./own.ts";

export function listExpertise(
  { sync, mulch }: Pick<Config, "sync" | "mulch">,
  parts: { readonly own: OwnParts; readonly mulch: MulchParts },
): readonly Expertise[] {
  return [
    ...(sync.enabled ? [makeOwnExpertise(parts.own)] : []),
    ...(mulch.enabled ? [makeMulchExpertise(parts.mulch)] : []),
  ].map(withoutThrowing);
}

/** What a source did not foresee holds up nobody who only asks it. */
export function withoutThrowing(source: Expertise): Expertise {
  const guard = async <T>(asked: Promise<ExpertiseAnswer<T>>): Promise<ExpertiseAnswer<T>> => {
    try {
      return await asked;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return { ok: false, problem: `${source.name} could not be asked: ${messageOf(error)}` };
    }
  };
  return {
    name: source.name,
    prime: (wish) => guard(source.prime(wish)),
    record: (item) => source.record(item),
    query: (words) => guard(source.query(words)),
  };
}
