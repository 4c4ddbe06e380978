import { describe, expect, test } from "bun:test";
import { explainKey } from "./explain.ts";
import { noticesOf, parseConfig } from "./load.ts";
import { defaultConfig } from "./schema.ts";

const read = (text: string) => parseConfig(text, "config.yaml");

describe("CONF-1: recovery is one group of keys", () => {
  const OLD = `reconcile: {tickEvery: 1m, idleAfter: 10m, minResendInterval: 3m, backoff: {base: 1m, max: 9m}, toolLimit: 7m, startingLimit: 4m, minimumAge: 2s}
ladder: {nudges: {hint: 3, warning: 4, critical: 5}, resend: 6, replan: 7, reassign: 8, pause: 9, restarts: 10, patience: 6m}
watch: {zombieAfter: 40m}
massDeath: {count: 4, within: 5s}
`;
  const NEW = `reconcile: {tickEvery: 1m}
recovery:
  silentAfter: 10m
  nextStepAfter: 6m
  steps: {hints: 3, warnings: 4, lastWarnings: 5, interrupts: 6, splits: 7, freshAgents: 8, pauses: 9}
  backoff: {base: 1m, max: 9m}
  sameWordsAfter: 3m
  hungCallAfter: 7m
  firstSignWithin: 4m
  judgedFromAge: 2s
  deadAfter: 40m
  restarts: 10
  massDeath: {count: 4, within: 5s}
`;

  test("every old name still means the same, and is told with the new one", async () => {
    expect(read(OLD)).toEqual(read(NEW));
    expect(read(NEW).recovery).not.toEqual(defaultConfig().recovery);
    const [notice = "", ...more] = await noticesOf({ text: OLD, path: "config.yaml" });
    expect(notice).toContain("reconcile.idleAfter is now recovery.silentAfter, ");
    expect(notice).toContain("massDeath.within is now recovery.massDeath.within.");
    expect(notice.split(" is now ")).toHaveLength(20);
    expect(more).toEqual([]);
    expect(await noticesOf({ text: NEW, path: "config.yaml" })).toEqual([]);
  });

  test("groups that two keys share by an alias are each read as they stand", () => {
    const shared = "reconcile:\n  backoff: &wait {base: 3m, max: 4m}\nquota:\n  backoff: *wait\n";
    const { recovery, quota } = read(shared);
    expect([recovery.backoff, quota.backoff]).toEqual([
      { base: 180_000, max: 240_000 },
      { base: 180_000, max: 240_000 },
    ]);
  });

  test.each([
    [
      "ladder: {patience: 0s}\nrecovery: {nextStepAfter: 1m}\n",
      "1:10: ladder.patience is the old name of recovery.nextStepAfter, which is set too; leave one of them out.",
    ],
    ["reconcile:\n  idleAfter: 1\n", "2:14: reconcile.idleAfter has an old name: recovery.silentAfter must be "],
    ["ladder: {resend: 1, nudgs: 2}\n", "1:1: ladder is not a key."],
    ["ladder: 5\n", "1:1: ladder is not a key."],
    ["recovery: 5\nladder: {resend: 1}\n", "1:11: recovery is a group of keys, not a single value."],
  ])("%j is refused where it stands", (text, said) => {
    expect(() => read(text)).toThrow(`config.yaml:${said}`);
  });

  test.each([
    ["ladder.patience", "recovery.nextStepAfter"],
    ["ladder", "recovery"],
    ["ladder.nudges", "recovery.steps"],
  ])("who asks for %s is sent to %s", (was, now) => {
    expect(() => explainKey(was)).toThrow(`Did you mean ${now}?`);
  });
});

test("SAFE-1, LADDER-1: without a planner nothing is said of splitting", () => {
  const text = "planner: {enabled: false}\nrecovery: {steps: {warnings: 0, lastWarnings: 0, interrupts: 0}}\n";
  const { timeline = [] } = explainKey("recovery", { config: read(text), text, path: "config.yaml" });
  expect(timeline.slice(0, 2)).toEqual([
    "Silent for 15m with open work: it gets a hint, asked how it gets on.",
    "2m later: a fresh agent takes over from its last commit (1 of 2).",
  ]);
});

test("CONF-1, LADDER-1: config explain recovery says what follows when, with the figures in effect", () => {
  const text =
    "recovery: {silentAfter: 10m, nextStepAfter: 5m, steps: {warnings: 1, lastWarnings: 0, interrupts: 1, pauses: 1}}\n";
  const loaded = { config: read(text), text, path: "config.yaml" };
  expect(explainKey("recovery", loaded).timeline).toEqual([
    "Silent for 10m with open work: it gets a hint, asked how it gets on.",
    "5m later: it gets a warning, asked more firmly.",
    "5m later: its turn is interrupted and the instruction sent again.",
    "8m later: a model splits its work into smaller pieces, each for an agent of its own (planner).",
    "Where none does, at once: a fresh agent takes over from its last commit (1 of 2).",
    "For a fresh agent it begins again. After 2 fresh agents: paused once, then a person is asked. Two steps are never more than 30m apart.",
    "Progress at any time (a commit, a changed file, a report): it begins anew.",
    "No sign of life 2m after its start: the same steps.",
    "A command whose processes do nothing for 20m: the agent is asked; 5m later the call is interrupted.",
    "Its process is gone: it is restarted in its own session, twice at most, then a fresh agent takes over. Silent for 30m with a second sign of death: it is ended, and the same.",
    "3 deaths within 30s: nobody is started until one agent that is tried survives.",
    "Its provider does not answer for 1m (provider.patience): all agents of that account wait, nobody is nudged; after 1m one tries, then at most every 10m.",
    "Its account is out of quota: it waits until the time the limit names, else 5m, at most 1h (quota.backoff).",
  ]);
});
