/** What is seen of planning by a model under a configuration: how it ended, how often and with what the model was asked. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { triageFailure } from "#act/planning/triage-failure.ts";
import { parseConfig } from "#config/load.ts";
import type { Config } from "#config/schema.ts";
import * as goals from "#control/goals.ts";
import { wantPlan } from "#control/planning.ts";
import { type ActionRequest, actionDecided } from "#domain/model/action.ts";
import { attemptEvent, NO_USAGE } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import { awaitProposal } from "#engine/await-proposal.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { addRunning } from "./attempts.ts";
import { GOOD_PLAN, planningWorld } from "./planning-world.ts";
import { layered } from "./real-world.ts";
import { orCode } from "./staged-world.ts";
import { tempDir } from "./temp.ts";

export interface PlanningView {
  /** Whether it waits for a person, or is the goal's plan. */
  readonly status: string;
  /** The words with which a CLI was started; empty where it was another one. */
  readonly words: string;
  readonly timeoutMs: number | undefined;
}

/** A plan from an agent CLI that says what it was started with; another one than it would fail. */
export function plannedUnder(show: (view: PlanningView) => unknown) {
  return async (given: Config) => {
    const dir = tempDir("cli-");
    const [program, words] = [join(dir, "claude"), join(dir, "words")];
    const result = JSON.stringify({ type: "result", is_error: false, result: JSON.stringify(GOOD_PLAN) });
    writeFileSync(join(dir, "result"), result);
    writeFileSync(program, `#!/bin/sh\ncat > /dev/null\necho "$@" > ${words}\ncat ${dir}/result\n`);
    chmodSync(program, 0o755);
    const text = `runtimes: {claude-code: {command: '${program}'}}\nchecks: {unit: 'true'}\n`;
    const { runtimes, checks } = parseConfig(text, "config.yaml");
    const config: Config = { ...given, runtimes, checks };
    return orCode(async () => {
      const place = await planningWorld(null, config);
      let timeoutMs: number | undefined;
      const world = layered(place.world, {
        exec: {
          run(argv, options) {
            if (argv[0] === program) timeoutMs = options?.timeoutMs;
            return place.world.exec.run(argv, options);
          },
        },
      });
      const goalId = await goals.create(world, { title: "Limits" });
      const { number } = await wantPlan(world, goalId);
      await awaitProposal(world, goalId, number);
      const { planning, plan } = await place.goal(goalId);
      const status = planning?.status ?? `revision ${plan.length}`;
      return show({ status, words: existsSync(words) ? readFileSync(words, "utf8") : "", timeoutMs });
    });
  };
}

/** With which words an agent CLI is started that is asked about a failure. */
export async function triagedBy(given: Config): Promise<unknown> {
  const dir = tempDir("cli-");
  const [program, words] = [join(dir, "claude"), join(dir, "words")];
  writeFileSync(program, `#!/bin/sh\ncat > /dev/null\necho "$@" > ${words}\necho '{}'\n`);
  chmodSync(program, 0o755);
  const { runtimes } = parseConfig(`runtimes: {claude-code: {command: '${program}'}}\n`, "config.yaml");
  const watch = { ...given.watch, triage: { ...given.watch.triage, enabled: true } };
  const { world } = await planningWorld(null, { ...given, runtimes, watch });
  const store = await world.writer();
  const [from = 0] = await addRunning(store, 1, world.processes.self());
  const { attempt } = await store.read({ attempt: attemptByNumber(from) });
  if (!attempt) throw new Error("no attempt");
  const { goalId, workNodeId: nodeId, assignmentId, agent } = attempt;
  const died = { cause: "died", detail: "It died.", exitCode: null, signal: null, usage: NO_USAGE, wip: null } as const;
  const moment = { now: world.clock.now(), actor: "overseer" } as const;
  const action: ActionRequest = {
    ...{ goalId, nodeId, assignmentId, agent, actionId: "diagnose:1", because: "died", notBefore: moment.now },
    kind: "diagnose",
    payload: { from, cause: "died", failure: true },
  };
  await store.commit({
    at: moment.now,
    reads: {},
    decide: () =>
      accept([attemptEvent(attempt, "overseer", "agent.ended", "died", died), actionDecided(action, moment)], null),
  });
  await triageFailure(world, { goalId, nodeId, from, cause: "died" });
  return existsSync(words) && readFileSync(words, "utf8").replaceAll(dir, "");
}
