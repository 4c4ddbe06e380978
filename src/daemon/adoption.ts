/**
 * What a daemon finds when it comes up: agents that continued without one. Those whose runner lives are adopted as they
 * are, by pid and start time; nothing is restarted and nothing is sent (ADOPT-1). Those whose runner is gone are named,
 * and left to the tick.
 */
import type { Attempt } from "#domain/model/attempt.ts";
import type { EventData } from "#domain/model/event.ts";
import type { Processes } from "#sys/processes.ts";

export type Adoption = Pick<EventData["daemon.adopted"], "agents" | "lost">;

export function adoptionOf(living: readonly Attempt[], processes: Pick<Processes, "alive">): Adoption {
  const owned = living.map((attempt) => {
    const owner = attempt.runner ?? attempt.slinger;
    return { attempt, owner, alive: processes.alive(owner) };
  });
  return {
    agents: owned
      .filter(({ alive }) => alive)
      .map(({ attempt: { agent, attempt }, owner }) => ({ agent, attempt, pid: owner.pid })),
    lost: owned.filter(({ alive }) => !alive).map(({ attempt: { agent, attempt } }) => ({ agent, attempt })),
  };
}
