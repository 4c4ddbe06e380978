/**
 * A repository in which a model is asked for plans: real git, the real database, and a model that is a script with one
 * answer for each time it is asked. What it was told is kept.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseConfig } from "#config/load.ts";
import type { Config } from "#config/schema.ts";
import * as goals from "#control/goals.ts";
import { wantPlan } from "#control/planning.ts";
import type { World } from "#control/world.ts";
import type { EventOf, EventType } from "#domain/model/event.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { WantedPlan } from "#domain/plans/planning.ts";
import { awaitProposal } from "#engine/await-proposal.ts";
import { goalById } from "#store/goals.ts";
import { type Props, repoUnder } from "./staged-world.ts";
import { type TempRepo, tempDir } from "./temp.ts";

export interface ScriptedModel {
  readonly command: string;
  asked(): number;
  /** What it was told the nth time. */
  heard(nth?: number): string;
  /** What one of its commands wrote into a file beside it. */
  wrote(file: string): string;
}

/** A model that gives these answers in turn, the last again and again. One that begins with `!` is a shell command. */
export function scriptModel(...answers: readonly string[]): ScriptedModel {
  return scriptModels({ "": answers }).of("");
}

export interface ScriptedModels {
  readonly command: string;
  /** What was asked about one of them. */
  of(key: string): ScriptedModel;
}

/** The same with answers of their own for every goal: by the key `row-…` that stands in its title. */
export function scriptModels(rows: Readonly<Record<string, readonly string[]>>): ScriptedModels {
  const dir = tempDir("model-");
  for (const [key, answers] of Object.entries(rows)) {
    const place = join(dir, `row${key}`);
    mkdirSync(place);
    for (const [index, answer] of answers.entries()) {
      const isCommand = answer.startsWith("!");
      if (!isCommand) writeFileSync(join(place, `text-${index + 1}`), answer);
      writeFileSync(join(place, `answer-${index + 1}`), isCommand ? answer.slice(1) : `cat text-${index + 1}`);
    }
    writeFileSync(join(place, "most"), String(answers.length));
  }
  const script = join(dir, "model.sh");
  const lines = [
    "#!/bin/sh",
    `cd '${dir}'`,
    "cat > heard.$$",
    "key=$(grep -o 'row-[a-z0-9]*' heard.$$ | head -n 1)",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
    'cd "row${key#row}"',
    "n=$(($(cat count 2>/dev/null || echo 0) + 1))",
    "echo $n > count",
    "mv ../heard.$$ heard-$n",
    "most=$(cat most)",
    "[ $n -gt $most ] && n=$most",
    "exec sh ./answer-$n",
  ];
  writeFileSync(script, `${lines.join("\n")}\n`);
  chmodSync(script, 0o755);
  return {
    command: script,
    of(key) {
      const read = (name: string) => {
        const path = join(dir, `row${key}`, name);
        return existsSync(path) ? readFileSync(path, "utf8") : "";
      };
      const asked = () => Number(read("count").trim() || 0);
      return { command: script, asked, heard: (nth = 1) => read(`heard-${nth}`), wrote: read };
    },
  };
}

export interface PlanningWorld {
  readonly repo: TempRepo;
  readonly world: World;
  /** A new goal with its planning as far as it comes without a daemon. */
  plan(title?: string, wanted?: Partial<WantedPlan>): Promise<{ readonly goalId: string; readonly number: number }>;
  goal(goalId: string): Promise<Goal>;
  all<T extends EventType>(type: T): Promise<EventOf<T>[]>;
}

const FILES = {
  "README.md": "# An API\n",
  "src/api/server.ts": "export const server = 1;\n",
  "src/api/routes.ts": "export const routes = 1;\n",
  "src/db/pool.ts": "export const pool = 1;\n",
  "test/api.test.ts": "// tests\n",
};

/** `more`: further lines of the configuration, or all of it. */
export async function planningWorld(
  model: Pick<ScriptedModel, "command"> | null,
  more: string | Config = "",
  props: Props = {},
): Promise<PlanningWorld> {
  const command = model === null ? "" : `model: {command: '${model.command}'}\n`;
  const lines = `runtime: scripted\nchecks: {unit: 'true'}\n${command}`;
  const config = typeof more === "string" ? parseConfig(`${lines}${more}`, "config.yaml") : more;
  const { repo, real: world } = await repoUnder(config, { ...props, files: { ...FILES, ...props.files } });
  const store = await world.writer();
  return {
    repo,
    world,
    async plan(title = "Limit the rate of requests", wanted = {}) {
      const goalId = await goals.create(world, { title });
      const { number } = await wantPlan(world, goalId, wanted);
      await awaitProposal(world, goalId, number);
      return { goalId, number };
    },
    async goal(goalId) {
      const { goal } = await store.read({ goal: goalById(goalId) });
      if (!goal) throw new Error(`no goal ${goalId}`);
      return goal;
    },
    async all<T extends EventType>(type: T) {
      const events = await store.log({ after: 0, limit: 10_000 });
      return events.filter((event) => event.type === type) as EventOf<T>[];
    },
  };
}

/** A plan that holds in that repository. */
export const GOOD_PLAN = {
  planVersion: 1,
  phases: [
    {
      ...{ id: "P1", name: "Limits", objective: "Requests are limited", acceptance: ["test/api.test.ts passes"] },
      tasks: [
        {
          ...{ id: "T1.1", name: "Limiter", outcome: "A limiter", acceptance: ["src/api/limit.ts exports limitRate"] },
          ...{ files: ["src/api/limit.ts"], checks: ["unit"] },
        },
        {
          ...{
            id: "T1.2",
            name: "Use it",
            outcome: "Each route is limited",
            acceptance: ["GET / answers 429 when called often"],
          },
          ...{ deps: ["T1.1"], files: ["src/api/routes.ts", "test/api.test.ts"], capability: "builder" },
        },
      ],
    },
  ],
};

/** The good plan with its first task changed. */
export function withFirstTask(change: object): object {
  const [phase] = GOOD_PLAN.phases;
  const [first, ...rest] = phase?.tasks ?? [];
  return { ...GOOD_PLAN, phases: [{ ...phase, tasks: [{ ...first, ...change }, ...rest] }] };
}
