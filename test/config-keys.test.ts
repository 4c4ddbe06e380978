/**
 * CONF-1, the table: for every configuration key a changed value and what a user can observe because of it. A key that
 * nobody reads is a promise nobody keeps, so a key without a row fails, and so does a row without a key. A row is open
 * while it only names the area that will prove it; whoever builds that area replaces it by an observation: a function
 * that shows, for the configuration it is given, something the key decides. It must show something else for `changed`.
 */
import { describe, expect, test } from "bun:test";
import { listKeys } from "#config/explain.ts";
import { parseConfig } from "#config/load.ts";
import type { Config } from "#config/schema.ts";

interface Open {
  readonly provenBy: string;
}

interface Observation {
  /** YAML that changes this key and nothing else. */
  readonly changed: string;
  /** What is seen under a configuration; anything that can be compared. */
  observe(config: Config): unknown | Promise<unknown>;
}

const rows: Readonly<Record<string, Open | Observation>> = {
  "project.name": { provenBy: "status" },
  "repo.targetBranch": { provenBy: "landing" },
  "repo.remote": { provenBy: "landing" },
  "repo.remoteName": { provenBy: "landing" },
  runtime: { provenBy: "runtimes" },
  terminal: { provenBy: "terminals" },
  "runtimes.<name>.command": { provenBy: "runtimes" },
  "runtimes.<name>.args": { provenBy: "runtimes" },
  "runtimes.<name>.model": { provenBy: "runtimes" },
  "runtimes.<name>.idleEnd": { provenBy: "runner" },
  "defaults.model": { provenBy: "sling" },
  "defaults.permissionMode": { provenBy: "sling" },
  "defaults.allowedTools": { provenBy: "sling" },
  "agents.maxConcurrent": { provenBy: "sling" },
  "agents.stagger": { provenBy: "sling" },
  "agents.startsPerMinute": { provenBy: "sling" },
  "agents.maxDepth": { provenBy: "sling" },
  "agents.branchPrefix": { provenBy: "sling" },
  "agents.turnDeadline": { provenBy: "runner" },
  "agents.stopGrace": { provenBy: "runner" },
  "agents.passEnv": { provenBy: "sling" },
  "agents.definitions": { provenBy: "sling" },
  "agents.manifest": { provenBy: "sling" },
  "capacity.loadFactor": { provenBy: "capacity" },
  "capacity.minMemory": { provenBy: "capacity" },
  "capacity.minMemoryPercent": { provenBy: "capacity" },
  "capacity.minDisk": { provenBy: "capacity" },
  "capacity.minDiskPercent": { provenBy: "capacity" },
  "worktree.dir": { provenBy: "sling" },
  "worktree.setup": { provenBy: "sling" },
  "worktree.setupTimeout": { provenBy: "sling" },
  "wip.every": { provenBy: "worktrees" },
  "wip.keep": { provenBy: "worktrees" },
  "wip.keepAfterLanding": { provenBy: "worktrees" },
  "wip.maxFile": { provenBy: "worktrees" },
  "checks.<name>.command": { provenBy: "checks" },
  "checks.<name>.timeout": { provenBy: "checks" },
  "checks.<name>.on": { provenBy: "checks" },
  "checks.<name>.expect": { provenBy: "checks" },
  "checks.<name>.protected": { provenBy: "checks" },
  "landing.mode": { provenBy: "landing" },
  "landing.strategy": { provenBy: "landing" },
  "landing.batch": { provenBy: "landing" },
  "landing.ageBoost": { provenBy: "landing" },
  "landing.stripAttribution": { provenBy: "landing" },
  "landing.keepWorktree": { provenBy: "landing" },
  "landing.tiers.mechanical": { provenBy: "landing" },
  "landing.tiers.author": { provenBy: "landing" },
  "landing.tiers.aiResolve": { provenBy: "landing" },
  "landing.tiers.reimagine": { provenBy: "landing" },
  "landing.authorRounds": { provenBy: "landing" },
  "landing.model": { provenBy: "landing" },
  "landing.modelTimeout": { provenBy: "landing" },
  "landing.unionFiles": { provenBy: "landing" },
  "landing.lockfiles": { provenBy: "landing" },
  "landing.dirtyWait.base": { provenBy: "landing" },
  "landing.dirtyWait.max": { provenBy: "landing" },
  "landing.dirtyWait.tries": { provenBy: "landing" },
  "planner.enabled": { provenBy: "planner" },
  "planner.runtime": { provenBy: "planner" },
  "planner.model": { provenBy: "planner" },
  "planner.timeout": { provenBy: "planner" },
  "planner.maxInput": { provenBy: "planner" },
  "planner.maxPhases": { provenBy: "planner" },
  "planner.maxTasksPerPhase": { provenBy: "planner" },
  "planner.maxSubtasksPerTask": { provenBy: "planner" },
  "planner.repairs": { provenBy: "planner" },
  "planner.replansPerNode": { provenBy: "planner" },
  "planner.diagnoseStalls": { provenBy: "planner" },
  "auto.taskPoolCommand": { provenBy: "auto mode" },
  "auto.taskPoolTimeout": { provenBy: "auto mode" },
  "auto.concurrency": { provenBy: "auto mode" },
  "auto.every": { provenBy: "auto mode" },
  "auto.postAcceptCommand": { provenBy: "auto mode" },
  "auto.postAcceptTimeout": { provenBy: "auto mode" },
  "reconcile.enabled": { provenBy: "reconcile" },
  "reconcile.tickEvery": { provenBy: "reconcile" },
  "reconcile.deadmanFactor": { provenBy: "daemon" },
  "reconcile.idleAfter": { provenBy: "reconcile" },
  "reconcile.minResendInterval": { provenBy: "reconcile" },
  "reconcile.backoff.base": { provenBy: "reconcile" },
  "reconcile.backoff.max": { provenBy: "reconcile" },
  "reconcile.startingLimit": { provenBy: "reconcile" },
  "reconcile.minimumAge": { provenBy: "reconcile" },
  "reconcile.modelCallsPerTick": { provenBy: "planner" },
  "ladder.nudges.hint": { provenBy: "reconcile" },
  "ladder.nudges.warning": { provenBy: "reconcile" },
  "ladder.nudges.critical": { provenBy: "reconcile" },
  "ladder.resend": { provenBy: "reconcile" },
  "ladder.replan": { provenBy: "reconcile" },
  "ladder.reassign": { provenBy: "reconcile" },
  "ladder.pause": { provenBy: "reconcile" },
  "ladder.restarts": { provenBy: "reconcile" },
  "ladder.patience": { provenBy: "reconcile" },
  "watch.enabled": { provenBy: "watch" },
  "watch.every": { provenBy: "watch" },
  "watch.staleAfter": { provenBy: "watch" },
  "watch.veryStaleAfter": { provenBy: "watch" },
  "watch.zombieAfter": { provenBy: "watch" },
  "watch.triage.enabled": { provenBy: "watch" },
  "watch.triage.model": { provenBy: "watch" },
  "watch.triage.timeout": { provenBy: "watch" },
  "sync.enabled": { provenBy: "sync" },
  "sync.every": { provenBy: "sync" },
  "sync.minScore": { provenBy: "sync" },
  "sync.rate.max": { provenBy: "sync" },
  "sync.rate.per": { provenBy: "sync" },
  "reflex.enabled": { provenBy: "reflex" },
  "reflex.radioCheckSteps": { provenBy: "reflex" },
  "reflex.cooldownSteps": { provenBy: "reflex" },
  "reflex.contextWarn": { provenBy: "reflex" },
  "reflex.contextUrgent": { provenBy: "reflex" },
  "reflex.loopRepeats": { provenBy: "reflex" },
  "reflex.cascadeTools": { provenBy: "reflex" },
  "reflex.cascadeWindow": { provenBy: "reflex" },
  "salute.keep": { provenBy: "reflex" },
  "salute.sharedDir": { provenBy: "reflex" },
  "guard.checkEvery": { provenBy: "guard" },
  "guard.heartbeatTimeout": { provenBy: "guard" },
  "guard.grace": { provenBy: "guard" },
  "guard.stallAfter": { provenBy: "guard" },
  "guard.stallRestarts": { provenBy: "guard" },
  "guard.cooldown": { provenBy: "guard" },
  "guard.remediationTimeout": { provenBy: "guard" },
  "guard.remediationPrompt": { provenBy: "guard" },
  "guard.logLines": { provenBy: "guard" },
  "guard.strict": { provenBy: "guard" },
  "guard.allowRepoEdits": { provenBy: "guard" },
  "daemon.heartbeatEvery": { provenBy: "daemon" },
  "daemon.drainTimeout": { provenBy: "daemon" },
  "logs.level": { provenBy: "telemetry" },
  "logs.maxSize": { provenBy: "telemetry" },
  "logs.keep": { provenBy: "telemetry" },
  "inbox.injectionCap": { provenBy: "inbox" },
  "inbox.nudgeExpiry": { provenBy: "inbox" },
  "inbox.syncExpiry": { provenBy: "inbox" },
  "store.caps.instruction": { provenBy: "store" },
  "store.caps.summary": { provenBy: "store" },
  "store.caps.payload": { provenBy: "store" },
  "store.caps.field": { provenBy: "store" },
  "store.caps.assistantText": { provenBy: "store" },
  "store.signalsKept": { provenBy: "store" },
  "store.backupEvery": { provenBy: "daemon" },
  "store.backupsKept": { provenBy: "daemon" },
  "budgets.warnAt": { provenBy: "budgets" },
  "budgets.agent.tokens": { provenBy: "budgets" },
  "budgets.agent.cost": { provenBy: "budgets" },
  "budgets.agent.time": { provenBy: "budgets" },
  "budgets.goal.tokens": { provenBy: "budgets" },
  "budgets.goal.cost": { provenBy: "budgets" },
  "budgets.goal.time": { provenBy: "budgets" },
  "budgets.day.tokens": { provenBy: "budgets" },
  "budgets.day.cost": { provenBy: "budgets" },
  "budgets.day.time": { provenBy: "budgets" },
  "quota.backoff.base": { provenBy: "quota" },
  "quota.backoff.max": { provenBy: "quota" },
  "massDeath.count": { provenBy: "reconcile" },
  "massDeath.within": { provenBy: "reconcile" },
  "policy.allowAgents": { provenBy: "reconcile" },
  "policy.allowCrossAgent": { provenBy: "reconcile" },
  "channels.terminal": { provenBy: "questions" },
  "channels.command": { provenBy: "questions" },
  "channels.webhook": { provenBy: "questions" },
  "channels.timeout": { provenBy: "questions" },
  "beads.enabled": { provenBy: "neighbours" },
  "mulch.enabled": { provenBy: "neighbours" },
  "mulch.domains": { provenBy: "neighbours" },
  "mulch.primeFormat": { provenBy: "neighbours" },
  "serena.enabled": { provenBy: "neighbours" },
  "telemetry.otel.enabled": { provenBy: "opentelemetry" },
  "telemetry.otel.endpoint": { provenBy: "opentelemetry" },
};

const isOpen = (row: Open | Observation): row is Open => "provenBy" in row;
const open = Object.entries(rows).filter(([, row]) => isOpen(row));
const proven = Object.entries(rows).flatMap(([key, row]) => (isOpen(row) ? [] : [{ key, row }]));

describe("CONF-1: changing a key changes something a user can see", () => {
  test("CONF-1: every key has a row", () => {
    expect(listKeys().filter((key) => !Object.hasOwn(rows, key))).toEqual([]);
  });

  test("CONF-1: every row has a key", () => {
    const keys = new Set(listKeys());
    expect(Object.keys(rows).filter((key) => !keys.has(key))).toEqual([]);
  });

  for (const { key, row } of proven) {
    test(`CONF-1: ${key} is observed`, async () => {
      const usual = await row.observe(parseConfig("", "defaults"));
      const changed = await row.observe(parseConfig(row.changed, "changed.yaml"));
      expect(changed).not.toEqual(usual);
    });
  }

  test(`CONF-1: ${open.length} of ${Object.keys(rows).length} keys are still open`, () => {
    const areas = Map.groupBy(open, ([, row]) => (isOpen(row) ? row.provenBy : ""));
    const counts = [...areas].map(([area, keys]) => `${area} ${keys.length}`);
    console.log(`CONF-1: ${open.length} of ${Object.keys(rows).length} keys still open: ${counts.join(", ")}`);
    expect(open.length + proven.length).toBe(listKeys().length);
  });
});
