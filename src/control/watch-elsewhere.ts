/**
 * What a repository adds to `watch --salute`: its allowlist says who elsewhere may be steered, and its people are asked about
 * emergencies. Without a repository that is set up, there is nobody to ask, and whoever types the command has the word.
 */
import { askAboutElsewhere, listQuestionIds } from "#domain/reports/emergency-elsewhere.ts";
import { isAllowedElsewhere } from "#domain/signals/steered-elsewhere.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { latestQuestions, openQuestions, questionsByIds } from "#store/assignments.ts";
import type { EmergencyElsewhere, SharedVolume } from "./salute-watch.ts";
import type { World } from "./world.ts";

/** So many of the last questions are looked at for how often was asked already, beside those that are open. */
const LATELY = 200;

/** Why there is none: not in a repository, or Overseer was never set up in it. */
const NO_REPOSITORY: ReadonlySet<string> = new Set(["NOT_A_REPOSITORY", "STORE_MISSING"]);

export async function watchElsewhere(
  findWorld: () => Promise<World>,
  allowed: readonly string[],
): Promise<Pick<SharedVolume, "maySteer" | "onEmergency">> {
  const world = await findSetUp(findWorld);
  if (!world) {
    if (allowed.length === 0) return {};
    return { maySteer: (container, agent) => isAllowedElsewhere(allowed, container, agent) };
  }
  const { policy } = await world.config();
  const all = [...policy.allowAgents, ...allowed];
  return {
    maySteer: (container, agent) => isAllowedElsewhere(all, container, agent),
    onEmergency: (emergency) => askHere(world, emergency),
  };
}

async function findSetUp(findWorld: () => Promise<World>): Promise<World | undefined> {
  try {
    const world = await findWorld();
    await world.reader();
    return world;
  } catch (error) {
    if (error instanceof OverseerError && NO_REPOSITORY.has(error.code)) return undefined;
    throw error;
  }
}

async function askHere(world: World, emergency: EmergencyElsewhere): Promise<string | undefined> {
  const moment = { now: world.clock.now(), actor: "overseer" } as const;
  const questionId = orThrow(
    await (await world.writer()).commit({
      at: moment.now,
      reads: {
        known: questionsByIds(listQuestionIds(emergency)),
        open: openQuestions(),
        last: latestQuestions(LATELY),
      },
      decide: ({ known, open, last }) => {
        const lately = new Map([...open, ...last].map((one) => [one.questionId, one]));
        return askAboutElsewhere(emergency, known, emergency.isAnother, moment, [...lately.values()]);
      },
    }),
  );
  if (questionId === null) return undefined;
  const { agent, attempt } = emergency.unit;
  return `${agent}#${attempt} is in an emergency; you are asked here: overseer answer ${questionId} "…"`;
}
