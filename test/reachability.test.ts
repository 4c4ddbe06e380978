/**
 * Everything that is promised happens: every type of event, kind of action, kind of message, judgement and source of
 * evidence occurs in the simulator, in a recorded log of a real fleet, or is written by production code; every exported
 * name is used by more than tests; every key is read. What is not stands here, with the row of docs/requirements.md that
 * will bring it to life. The list is printed, and it only becomes shorter.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { valueKeys } from "#config/keys.ts";
import { ACTION_KINDS } from "#domain/model/action.ts";
import { EVENT_TYPES, type EventOf } from "#domain/model/event.ts";
import { MESSAGE_KINDS } from "#domain/model/message.ts";
import { EVIDENCE_SOURCES } from "#domain/tick/snapshot.ts";
import { tick } from "#engine/tick.ts";
import { simulate } from "#sim/run.ts";
import { scenarioOf } from "#sim/scenario.ts";
import { listRequirements } from "../scripts/requirements.ts";
import { findUnread, findUnused, findWritten, productionSources } from "./support/reach.ts";

/** What nothing reaches yet, and the row it waits for. Take a line away when it happens; none is added. */
const UNREACHED: Readonly<Record<string, string>> = {
  "src/act/messages/take-messages.ts steerAttempt": "INJ-1",
  "src/domain/agents/identity.ts domainsOf": "AGENT-3",
  "src/domain/briefing/update-request.ts statusRequest": "LIVE-2",
  "src/domain/model/assignment.ts blockAssignment": "ASG-1",
  "src/domain/model/assignment.ts moveAssignment": "ASG-1",
};
const MOST_UNREACHED = 5;

/** Judgements that the simulated agents never give rise to, and real ones do. */
const OF_REAL_AGENTS: Readonly<Record<string, string>> = {
  "judgement dialog-open": "a CLI that asks for permission: the signal permission.asked",
  "judgement last-turn-failed": "an agent whose last words tell of a failure",
  "judgement no-answer-yet":
    "several CLIs whose host accepts and never answers: nothing is heard of them before a retry",
  "judgement not-up-yet": "a tick between the claim and the start of an agent",
  "judgement rate-limited": "a CLI that waits for a limit by itself: the signal api.retry",
  "judgement said-so": "an agent that reports being blocked",
  "judgement words-on-the-way": "a tick between what was decided to be said and its delivery",
  "judgement tries-again": "a CLI that says when it tries again, before that is a failure: the signal api.retry",
  "judgement update-overdue": "an agent whose role or node says dueEvery",
  "judgement waits-for-something-slow": "an agent whose last words tell of a long build",
};

/** Names that are exported so that tests can go through all of a kind, or write a script for the scripted agent. */
const FOR_TESTS: readonly string[] = [
  "src/config/what-it-does.ts isCommandKey",
  "src/domain/model/action.ts ACTION_KINDS",
  "src/runtimes/scripted/language.ts renderScript",
  "src/sys/chance.ts systemChance",
];

/** The rows that keys which are not built wait for, by what they are kept for (config/not-built.ts). */
const ROW_OF_FEATURE: Readonly<Record<string, string>> = {
  "auto mode": "AUTO-1",
  "planning by a model": "PLAN-1",
  "the guard": "GUARD-1",
  "clearing away old signals": "STORE-6",
  "the beads tracker": "BEADS-1",
};

/** Enough courses that most of what a fleet does happens in them. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

const sources = productionSources();
const occurred = new Set<string>();

function note(event: EventOf): void {
  occurred.add(`event ${event.type}`);
  if (event.type === "action.decided") occurred.add(`action ${event.data.kind}`);
  if (event.type === "message.queued") occurred.add(`message ${event.data.kind}`);
}

beforeAll(async () => {
  for (const seed of SEEDS) {
    let after = 0;
    await simulate(scenarioOf(seed), {
      subject: {
        async tick(world, observer, reason) {
          const ticked = await tick(world, observer, reason);
          for (const { because } of ticked.judged.values()) occurred.add(`judgement ${because}`);
          for (const event of await (await world.reader()).log({ after, limit: 10_000 })) {
            after = event.seq;
            note(event);
          }
          return ticked;
        },
      },
    });
  }
  const logs = join(import.meta.dir, "logs");
  for (const file of readdirSync(logs)) {
    for (const line of readFileSync(join(logs, file), "utf8").split("\n").filter(Boolean)) {
      const { event } = JSON.parse(line) as { event?: EventOf };
      if (event) note(event);
    }
  }
}, 300_000);

/** What does not happen, of a list of words. */
function silentOf(what: string, words: readonly string[], written: ReadonlySet<string>): string[] {
  return words
    .map((word) => `${what} ${word}`)
    .filter((one) => !occurred.has(one) && !written.has(one.slice(what.length + 1)));
}

function findUnreached(): string[] {
  const liveness = sources.filter(({ path }) => path === "src/domain/tick/liveness.ts");
  const judgements = liveness.flatMap(({ text }) =>
    [...text.matchAll(/because: "([\w-]+)"/g)].map(([, one = ""]) => one),
  );
  // What is seen is made into evidence by those that look, and of what the store knows by a rule that they ask.
  const watchers = sources.filter(
    ({ path }) => path.startsWith("src/engine/") || path === "src/domain/tick/progress.ts",
  );
  return [
    ...silentOf("event", EVENT_TYPES, findWritten(sources, EVENT_TYPES)),
    ...silentOf(
      "action",
      ACTION_KINDS,
      findWritten(
        // A plan is asked for by people, in words and not by the tick.
        sources.filter(({ path }) => path.startsWith("src/domain/") || path === "src/control/planning.ts"),
        ACTION_KINDS,
      ),
    ),
    ...silentOf("message", MESSAGE_KINDS, findWritten(sources, MESSAGE_KINDS)),
    ...silentOf("judgement", [...new Set(judgements)], new Set()),
    ...silentOf("evidence", EVIDENCE_SOURCES, findWritten(watchers, EVIDENCE_SOURCES)),
    ...findUnused(sources),
    ...findUnread(
      sources,
      valueKeys()
        .filter(({ notBuilt }) => notBuilt === undefined)
        .map(({ name }) => name),
    ).map((key) => `key ${key}`),
  ]
    .filter((one) => !(one in OF_REAL_AGENTS) && !FOR_TESTS.includes(one))
    .toSorted();
}

describe("everything that is promised happens", () => {
  test("EVT-1, CONF-1: whatever nothing reaches stands on the list, and what stands on it is not reached", () => {
    expect(findUnreached()).toEqual(Object.keys(UNREACHED).toSorted());
  });

  test("each entry carries its row, and there are no more than before", () => {
    const rows = new Set(listRequirements().map(({ id }) => id));
    const keys = valueKeys().filter(({ notBuilt }) => notBuilt !== undefined);
    const ofKeys = keys.map(({ name, notBuilt }) => [`key ${name}`, ROW_OF_FEATURE[notBuilt ?? ""] ?? ""] as const);
    const all = [...Object.entries(UNREACHED), ...ofKeys];
    console.log(`Not reached yet, ${all.length}:\n${all.map(([what, row]) => `  ${row}  ${what}`).join("\n")}`);
    expect(all.filter(([, row]) => !rows.has(row))).toEqual([]);
    expect(Object.keys(UNREACHED)).toHaveLength(MOST_UNREACHED);
  });
});

describe("the net holds", () => {
  const used = { path: "src/a.ts", text: 'import { build } from "./b.ts";\nexport default () => build();\n' };
  const planted = {
    path: "src/b.ts",
    text: `export function build() { emit({ type: "made" }); }
export function never() {
  emit({ type: "lost" });
  help();
}
export function help() {}
export function look(event) {
  return event.type === "read" || ["listed"].includes(event.type);
}
look(0);
`,
  };

  test("a function that only tests use is found, and what only it uses", () => {
    expect(findUnused([used, planted])).toEqual(["src/b.ts help", "src/b.ts never"]);
  });

  test("an event that is only looked for, or written where nothing arrives, is found", () => {
    expect([...findWritten([used, planted], ["made", "lost", "read", "listed"])]).toEqual(["made"]);
  });

  test("a key that nothing reads is found", () => {
    const reader = { path: "src/c.ts", text: "export default (config) => config.group.known;" };
    expect(findUnread([reader], ["group.known", "group.planted"])).toEqual(["group.planted"]);
  });
});
