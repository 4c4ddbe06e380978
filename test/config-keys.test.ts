/**
 * CONF-1, the table: for every configuration key a changed value and what a user can observe because of it. A key that
 * nobody reads is a promise nobody keeps, so a key without a row fails, and so does a row without a key. A row is open
 * while it only names the area that will prove it; whoever builds that area replaces it by an observation: a function
 * that shows, for the configuration it is given, something the key decides. It must show something else for `changed`.
 */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { relative } from "node:path";
import { valueKeys } from "#config/keys.ts";
import { parseConfig } from "#config/load.ts";
import { featureNotBuilt } from "#config/not-built.ts";
import type { Config } from "#config/schema.ts";
import { poolTurned, restOfPool, takenBesideWaiting, workersMade } from "./support/auto-observations.ts";
import { bundled } from "./support/cli.ts";
import {
  adaTold,
  asksItsRunner,
  backupsAfterThree,
  dryRun,
  livedOnce,
  longGoal,
  longInstruction,
  longMail,
  longReport,
  newsTold,
  noticesOf,
  patienceOfStop,
  planned,
  projectName,
  setUpForTwoSeconds,
  slowNotice,
  slung,
  slungBelow,
  slungInARow,
  slungWith,
  snapshotsKept,
  terminalKind,
} from "./support/config-observations.ts";
import {
  backedUpAfterTwoHours,
  beatsInAMinute,
  daemonLogged,
  daemonLogsKept,
  daemonSeen,
  lockOfAnHourAgo,
  patienceOfDown,
  tickHaltedBy,
} from "./support/daemon-observations.ts";
import { toldByMulch, toldOfExpertise } from "./support/expertise-observations.ts";
import { exportedTo } from "./support/exporter-observations.ts";
import { failedAgain, guardSets, stalledTwice, stillForHalfAnHour, warningSeen } from "./support/guard-observations.ts";
import {
  checkedBy,
  compacted,
  conflicted,
  dirtyWaits,
  failingTwice,
  firstDirtyLook,
  followedAutoLanding,
  followedLanding,
  gatesForThree,
  landedUnder,
  MODELS,
  queueOrder,
  reapedWithIgnored,
  slowAfterLanding,
} from "./support/landing-observations.ts";
import type { Life } from "./support/lived-agent.ts";
import { plannedUnder, triagedBy } from "./support/planning-observations.ts";
import { heardIn, reflexGiven, salutesKept, steeredElsewhere } from "./support/reflex-observations.ts";
import { logLinesOfRemedy, projectFileOfRemedy, wordsOfRemedy } from "./support/remedy-observations.ts";
import { keptForAMonth, looksInAMinute, passedOn, toldLater } from "./support/sync-observations.ts";
import {
  diedAfter,
  diedTogether,
  diedWithTriage,
  hintedAgain,
  hungForTenMinutes,
  namedBesideSession,
  neverSpoke,
  outOfQuota,
  providerFailed,
  retriedForThreeMinutes,
  silentForTenMinutes,
  silentWithASign,
  spent,
  stuckAfter,
  stuckAndDiagnosed,
  warnedAt,
  youngWithASign,
} from "./support/tick-observations.ts";
import { cyclesInAMinute, freshnessAfter } from "./support/watch-observations.ts";

setDefaultTimeout(120_000);

const GB = 1024 ** 3;

interface Observation {
  /** YAML that changes this key and nothing else. */
  readonly changed: string;
  /** What is seen under a configuration; anything that can be compared. */
  observe(config: Config): unknown | Promise<unknown>;
  /** Seen in the life of a real agent, which takes seconds: all of these are lived at once, before the tests. */
  readonly inLife?: true;
}

function inLife(changed: string, show: (life: Life) => unknown): Observation {
  return { changed, observe: async (config) => show(await livedOnce(config)), inLife: true };
}

/** Every nudge was given. */
const NUDGED = { hint: 1, warning: 2, critical: 2 };

const rows: Readonly<Record<string, Observation>> = {
  "project.name": { changed: "project: {name: Moonshot}", observe: projectName },
  "repo.targetBranch": { changed: "repo: {targetBranch: develop}", observe: dryRun((plan) => plan.targetBranch) },
  "repo.remote": { changed: "repo: {remote: fetch}", observe: landedUnder(({ waitsFor }) => waitsFor, "auto") },
  "repo.remoteName": {
    changed: "repo: {remoteName: upstream}",
    observe: (config) =>
      landedUnder(({ waitsFor }) => waitsFor, "auto")({ ...config, repo: { ...config.repo, remote: "fetch" } }),
  },
  "repo.staleLockAfter": { changed: "repo: {staleLockAfter: 2h}", observe: lockOfAnHourAgo },
  runtime: { changed: "runtime: scripted", observe: dryRun((plan) => plan.runtime, { runtime: undefined }) },
  terminal: { changed: "terminal: detached", observe: terminalKind },
  "runtimes.<name>.command": inLife("runtimes: {scripted: {command: 'false'}}", ({ turn }) => turn),
  "runtimes.<name>.args": inLife("runtimes: {scripted: {args: [--no-such-option]}}", ({ turn }) => turn),
  "runtimes.<name>.model": { changed: "runtimes: {scripted: {model: other}}", observe: dryRun((plan) => plan.model) },
  "runtimes.<name>.hooks": { changed: "runtimes: {scripted: {hooks: command}}", observe: asksItsRunner },
  "runtimes.<name>.idleEnd": inLife("runtimes: {scripted: {idleEnd: 1s}}", ({ sentToSleep }) => sentToSleep),
  "defaults.model": { changed: "defaults: {model: other}", observe: dryRun((plan) => plan.model) },
  "defaults.permissionMode": {
    changed: "defaults: {permissionMode: bypassPermissions}",
    observe: dryRun((plan) => plan.permissionMode, { name: "auto-1", dispatchId: "D_1" }),
  },
  "defaults.allowedTools": {
    changed: "defaults: {allowedTools: [mcp__db__query]}",
    observe: slung(({ launch }) => launch.allowTools),
  },
  "agents.maxConcurrent": { changed: "agents: {maxConcurrent: 1}", observe: slungInARow(2) },
  "agents.stagger": { changed: "agents: {stagger: 7s}", observe: slungInARow(2) },
  "agents.startsPerMinute": { changed: "agents: {startsPerMinute: 1}", observe: slungInARow(2) },
  "agents.maxDepth": { changed: "agents: {maxDepth: 1}", observe: slungBelow },
  "agents.branchPrefix": { changed: "agents: {branchPrefix: bots/}", observe: slung(({ attempt }) => attempt.branch) },
  "agents.turnDeadline": inLife("agents: {turnDeadline: 1s}", ({ turn }) => turn),
  "agents.stopGrace": { changed: "agents: {stopGrace: 1s}", observe: patienceOfStop },
  "agents.passEnv": {
    changed: "agents: {passEnv: [OUR_TOKEN_NAME]}",
    observe: slung(({ launch }) => launch.env.OUR_TOKEN_NAME),
  },
  "agents.mcp": {
    changed: "agents: {mcp: false}",
    observe: slung(({ launch }) => launch.toolServer?.slice(1)),
  },
  "agents.definitions": {
    changed: "agents: {definitions: docs/agents}",
    observe: slung(({ prompt }) => prompt.split("\n")[0]),
  },
  "agents.manifest": {
    changed: "agents: {manifest: docs/manifest.yaml}",
    observe: slung(({ attempt }) => attempt.agent),
  },
  "capacity.loadFactor": { changed: "capacity: {loadFactor: 6}", observe: slungWith({ load: 5 }) },
  "capacity.minMemory": {
    changed: "capacity: {minMemory: 3GB}",
    observe: slungWith({ freeMemoryBytes: 2 * GB, totalMemoryBytes: 4 * GB }),
  },
  "capacity.minMemoryPercent": {
    changed: "capacity: {minMemoryPercent: 60}",
    observe: slungWith({ freeMemoryBytes: 2 * GB, totalMemoryBytes: 4 * GB }),
  },
  "capacity.minDisk": {
    changed: "capacity: {minDisk: 9GB}",
    observe: slungWith({ freeDiskBytes: 8 * GB, totalDiskBytes: 80 * GB }),
  },
  "capacity.minDiskPercent": {
    changed: "capacity: {minDiskPercent: 11}",
    observe: slungWith({ freeDiskBytes: 8 * GB, totalDiskBytes: 80 * GB }),
  },
  "worktree.dir": {
    changed: "worktree: {dir: trees}",
    observe: slung(({ attempt, stage }) => relative(stage.repo.path, attempt.worktree)),
  },
  "worktree.setup": {
    changed: "worktree: {setup: touch made-ready}",
    observe: slung(({ attempt }) => existsSync(`${attempt.worktree}/made-ready`)),
  },
  "worktree.setupTimeout": { changed: "worktree: {setupTimeout: 1s}", observe: setUpForTwoSeconds },
  "worktree.rebuildable": {
    changed: 'worktree: {rebuildable: ["*.log"]}',
    observe: async (config) => (await reapedWithIgnored(config)).kind,
  },
  "wip.every": inLife("wip: {every: 1s}", ({ saved }) => saved),
  "wip.keep": { changed: "wip: {keep: 1}", observe: async (config) => (await snapshotsKept(config)).numbers },
  "wip.keepAfterLanding": {
    changed: "wip: {keepAfterLanding: 0s}",
    observe: landedUnder(({ claims }) => claims, "auto"),
  },
  "wip.maxFile": { changed: "wip: {maxFile: 1KB}", observe: async (config) => (await snapshotsKept(config)).left },
  "checks.<name>.command": {
    changed: "checks: {tests: {command: bun test}}",
    observe: slung(({ prompt }) => prompt.split("## Checks")[1]),
  },
  "checks.<name>.timeout": {
    changed: "checks: {tests: {command: x, timeout: 1s}}",
    observe: checkedBy("sleep 1.5"),
  },
  "checks.<name>.on": { changed: "checks: {tests: {command: x, on: [land]}}", observe: checkedBy("true") },
  "checks.<name>.expect": {
    changed: "checks: {tests: {command: x, expect: passed}}",
    observe: checkedBy("echo nothing to do"),
  },
  "checks.<name>.protected": {
    changed: "checks: {tests: {command: x, protected: [b.txt]}}",
    observe: landedUnder(({ outcome }) => outcome, "auto"),
  },
  "landing.mode": { changed: "landing: {mode: auto}", observe: landedUnder(({ outcome }) => outcome) },
  "landing.strategy": {
    changed: "landing: {strategy: squash}",
    observe: landedUnder(({ parents }) => parents, "auto"),
  },
  "landing.batch": { changed: "landing: {batch: 1}", observe: gatesForThree },
  "landing.ageBoost": { changed: "landing: {ageBoost: 1d}", observe: queueOrder },
  "landing.stripAttribution": {
    changed: "landing: {stripAttribution: false}",
    observe: (config) =>
      landedUnder(({ message }) => message, "auto")({ ...config, landing: { ...config.landing, strategy: "squash" } }),
  },
  "landing.keepWorktree": {
    changed: "landing: {keepWorktree: true}",
    observe: landedUnder(({ worktree }) => worktree, "auto"),
  },
  "landing.tiers.mechanical": {
    changed: "landing: {tiers: {mechanical: false}}",
    observe: conflicted(({ tier }) => tier, {
      story: (config) => ({ ...config, landing: { ...config.landing, unionFiles: ["doc.md"] } }),
    }),
  },
  "landing.tiers.author": {
    changed: "landing: {tiers: {author: false}}",
    observe: conflicted(({ tier }) => tier, { living: true }),
  },
  "landing.tiers.aiResolve": {
    changed: "landing: {tiers: {aiResolve: false}}",
    observe: conflicted(({ tier }) => tier),
  },
  "landing.tiers.reimagine": {
    changed: "landing: {tiers: {reimagine: false}}",
    observe: conflicted(({ asked }) => asked.map(({ purpose }) => purpose), { model: MODELS.bad }),
  },
  "landing.fixRounds": { changed: "landing: {fixRounds: 2}", observe: failingTwice },
  "landing.authorRounds": {
    changed: "landing: {authorRounds: 1}",
    observe: conflicted(({ outcome }) => outcome, { living: true, model: MODELS.bad }),
  },
  "model.command": {
    changed: `model: {command: ${JSON.stringify(MODELS.good)}}`,
    observe: conflicted(({ tier }) => tier, { model: null }),
  },
  "landing.model": {
    changed: "landing: {model: other}",
    observe: conflicted(({ asked }) => asked.map(({ model }) => model)),
  },
  "landing.modelTimeout": {
    changed: "landing: {modelTimeout: 1s}",
    observe: conflicted(({ tier }) => tier, { model: `sleep 1.2; ${MODELS.good}` }),
  },
  "landing.unionFiles": {
    changed: "landing: {unionFiles: [doc.md]}",
    observe: conflicted(({ tier }) => tier),
  },
  "landing.lockfiles": {
    changed: "landing: {lockfiles: {doc.md: echo ours and theirs made again > doc.md}}",
    observe: conflicted(({ text }) => text),
  },
  "landing.afterLand": { changed: "landing: {afterLand: 'false'}", observe: followedLanding },
  "store.signalsKept": { changed: "store: {signalsKept: 1d}", observe: compacted },
  "landing.dirtyWait.base": { changed: "landing: {dirtyWait: {base: 10s}}", observe: dirtyWaits },
  "landing.dirtyWait.max": { changed: "landing: {dirtyWait: {max: 5m}}", observe: dirtyWaits },
  "landing.dirtyWait.tries": { changed: "landing: {dirtyWait: {tries: 1}}", observe: firstDirtyLook },
  "planner.enabled": { changed: "planner: {enabled: false}", observe: plannedUnder(({ status }) => status) },
  "planner.runtime": { changed: "planner: {runtime: scripted}", observe: plannedUnder(({ words }) => words !== "") },
  "planner.model": {
    changed: "planner: {model: opus}",
    observe: plannedUnder(({ words }) => / --model \S+/.exec(words)?.[0]),
  },
  "planner.timeout": { changed: "planner: {timeout: 1m}", observe: plannedUnder(({ timeoutMs }) => timeoutMs) },
  "planner.accept": { changed: "planner: {accept: auto}", observe: plannedUnder(({ status }) => status) },
  "planner.maxInput": {
    changed: "planner: {maxInput: 1KB}",
    observe: conflicted(({ asked }) => asked.map(({ tries }) => tries)),
  },
  "planner.maxPhases": { changed: "planner: {maxPhases: 1}", observe: planned(2, 1, 0) },
  "planner.maxTasksPerPhase": { changed: "planner: {maxTasksPerPhase: 1}", observe: planned(1, 2, 0) },
  "planner.maxSubtasksPerTask": { changed: "planner: {maxSubtasksPerTask: 1}", observe: planned(1, 1, 2) },
  "planner.replansPerNode": {
    changed: "planner: {replansPerNode: 0}",
    observe: stuckAfter({ ...NUDGED, resend: 2 }),
  },
  "planner.diagnoseStalls": { changed: "planner: {diagnoseStalls: true}", observe: stuckAfter(NUDGED) },
  "planner.diagnosesPerHour": { changed: "planner: {diagnosesPerHour: 0}", observe: stuckAndDiagnosed(NUDGED) },
  "planner.repairs": {
    changed: "planner: {repairs: 0}",
    observe: conflicted(({ asked }) => asked.map(({ tries }) => tries), { model: MODELS.bad }),
  },
  "reconcile.enabled": { changed: "reconcile: {enabled: false}", observe: tickHaltedBy },
  "reconcile.tickEvery": { changed: "reconcile: {tickEvery: 1m}", observe: daemonSeen({ tickedAgoMs: 5 * 60_000 }) },
  "reconcile.deadmanFactor": {
    changed: "reconcile: {deadmanFactor: 2}",
    observe: daemonSeen({ tickedAgoMs: 5 * 60_000 }),
  },
  "watch.enabled": { changed: "watch: {enabled: false}", observe: cyclesInAMinute },
  "watch.every": { changed: "watch: {every: 10s}", observe: cyclesInAMinute },
  "watch.staleAfter": { changed: "watch: {staleAfter: 1m}", observe: freshnessAfter(90_000) },
  "watch.veryStaleAfter": { changed: "watch: {veryStaleAfter: 3m}", observe: freshnessAfter(4 * 60_000) },
  "recovery.silentAfter": { changed: "recovery: {silentAfter: 5m}", observe: silentForTenMinutes },
  "recovery.sameWordsAfter": { changed: "recovery: {sameWordsAfter: 3m}", observe: hintedAgain },
  "recovery.backoff.base": { changed: "recovery: {backoff: {base: 1m}}", observe: stuckAfter({}) },
  "recovery.backoff.max": { changed: "recovery: {backoff: {max: 1h}}", observe: stuckAfter({}, { level: 12 }) },
  "recovery.hungCallAfter": { changed: "recovery: {hungCallAfter: 1m}", observe: hungForTenMinutes },
  "recovery.firstSignWithin": { changed: "recovery: {firstSignWithin: 10m}", observe: neverSpoke },
  "recovery.judgedFromAge": { changed: "recovery: {judgedFromAge: 1m}", observe: youngWithASign },
  "reconcile.modelCallsPerTick": {
    changed: "reconcile: {modelCallsPerTick: 0}",
    observe: conflicted(({ asked }) => asked.map(({ tries }) => tries)),
  },
  "recovery.steps.hints": { changed: "recovery: {steps: {hints: 0}}", observe: stuckAfter({}) },
  "recovery.steps.warnings": {
    changed: "recovery: {steps: {warnings: 1}}",
    observe: stuckAfter({ hint: 1, warning: 1 }),
  },
  "recovery.steps.lastWarnings": {
    changed: "recovery: {steps: {lastWarnings: 1}}",
    observe: stuckAfter({ hint: 1, warning: 2, critical: 1 }),
  },
  "recovery.steps.interrupts": {
    changed: "recovery: {steps: {interrupts: 1}}",
    observe: stuckAfter({ ...NUDGED, resend: 1 }),
  },
  "recovery.steps.splits": { changed: "recovery: {steps: {splits: 0}}", observe: stuckAfter({ ...NUDGED, resend: 2 }) },
  "recovery.steps.freshAgents": {
    changed: "recovery: {steps: {freshAgents: 1}}",
    observe: stuckAfter({ ...NUDGED, resend: 2, replan: 2, reassign: 1 }),
  },
  "recovery.steps.pauses": {
    changed: "recovery: {steps: {pauses: 1}}",
    observe: stuckAfter({ ...NUDGED, resend: 2, replan: 2, reassign: 2, pause: 1 }),
  },
  "recovery.restarts": { changed: "recovery: {restarts: 0}", observe: diedAfter(0) },
  "recovery.nextStepAfter": { changed: "recovery: {nextStepAfter: 2h}", observe: stuckAfter({ hint: 1 }) },
  "recovery.deadAfter": { changed: "recovery: {deadAfter: 10m}", observe: silentWithASign },
  "reflex.enabled": { changed: "reflex: {enabled: false}", observe: reflexGiven(({ steers }) => steers) },
  "reflex.radioCheckSteps": {
    changed: "reflex: {radioCheckSteps: 2}",
    observe: heardIn({ tools: ["Read"], steps: 5 }),
  },
  "reflex.cooldownSteps": { changed: "reflex: {cooldownSteps: 9}", observe: heardIn({ tools: ["Read"], steps: 7 }) },
  "reflex.contextWarn": {
    changed: "reflex: {contextWarn: 50}",
    observe: heardIn({ tools: ["A", "B"], steps: 3, contextTokens: 60 }),
  },
  "reflex.contextUrgent": {
    changed: "reflex: {contextUrgent: 84}",
    observe: heardIn({ tools: ["A", "B"], steps: 1, contextTokens: 85 }),
  },
  "reflex.loopRepeats": { changed: "reflex: {loopRepeats: 5}", observe: heardIn({ tools: ["Read"], steps: 4 }) },
  "reflex.cascadeTools": { changed: "reflex: {cascadeTools: 2}", observe: heardIn({ tools: ["A", "B"], steps: 3 }) },
  "reflex.cascadeWindow": {
    changed: "reflex: {cascadeWindow: 3}",
    observe: heardIn({ tools: ["A", "A", "A", "B", "B", "C"], steps: 6 }),
  },
  "watch.triage.enabled": { changed: "watch: {triage: {enabled: true}}", observe: diedWithTriage() },
  "watch.triage.timeout": {
    changed: "watch: {triage: {timeout: 1h}}",
    observe: (config) =>
      diedWithTriage(30 * 60_000)({
        ...config,
        watch: { ...config.watch, triage: { ...config.watch.triage, enabled: true } },
      }),
  },
  "watch.triage.model": { changed: "watch: {triage: {model: haiku}}", observe: triagedBy },
  "policy.allowAgents": { changed: "policy: {allowAgents: [ada]}", observe: steeredElsewhere },
  "policy.allowCrossAgent": { changed: "policy: {allowCrossAgent: true}", observe: namedBesideSession },
  "salute.keep": { changed: "salute: {keep: 7}", observe: salutesKept },
  "salute.sharedDir": {
    changed: "salute: {sharedDir: /shared/one}",
    observe: reflexGiven(({ salute }) => salute.shared),
  },
  "guard.remediationPrompt": { changed: "guard: {remediationPrompt: Ask nobody.}", observe: wordsOfRemedy },
  "guard.logLines": { changed: "guard: {logLines: 7}", observe: logLinesOfRemedy },
  "guard.allowRepoEdits": { changed: "guard: {allowRepoEdits: true}", observe: projectFileOfRemedy },
  "guard.heartbeatTimeout": { changed: "guard: {heartbeatTimeout: 10s}", observe: daemonSeen({ beatAgoMs: 20_000 }) },
  "daemon.heartbeatEvery": { changed: "daemon: {heartbeatEvery: 1s}", observe: beatsInAMinute },
  "daemon.drainTimeout": { changed: "daemon: {drainTimeout: 5s}", observe: patienceOfDown },
  "logs.level": { changed: "logs: {level: warning}", observe: daemonLogged },
  "logs.maxSize": { changed: "logs: {maxSize: 1KB}", observe: daemonLogged },
  "logs.keep": { changed: "logs: {keep: 1}", observe: daemonLogsKept },
  "inbox.injectionCap": {
    changed: "inbox: {injectionCap: 600B}",
    observe: async (config) => (await longMail(config)).shown,
  },
  "inbox.nudgeExpiry": {
    changed: "inbox: {nudgeExpiry: 5m}",
    observe: async (config) => (await longMail(config)).nudgeLives,
  },
  "inbox.syncExpiry": { changed: "inbox: {syncExpiry: 5m}", observe: passedOn },
  "sync.enabled": { changed: "sync: {enabled: false}", observe: passedOn },
  "sync.every": { changed: "sync: {every: 5s}", observe: looksInAMinute },
  "sync.minScore": { changed: "sync: {minScore: 1}", observe: passedOn },
  "sync.rate.max": { changed: "sync: {rate: {max: 1}}", observe: passedOn },
  "sync.rate.per": { changed: "sync: {rate: {per: 2h}}", observe: passedOn },
  "sync.relayWithin": { changed: "sync: {relayWithin: 1h}", observe: toldLater },
  "sync.keptFor": { changed: "sync: {keptFor: 7d}", observe: keptForAMonth },
  "store.caps.instruction": { changed: "store: {caps: {instruction: 1KB}}", observe: longInstruction },
  "store.caps.summary": {
    changed: "store: {caps: {summary: 512B}}",
    observe: async (config) => (await longReport(config)).summary,
  },
  "store.caps.payload": { changed: "store: {caps: {payload: 512B}}", observe: longGoal },
  "store.caps.field": {
    changed: "store: {caps: {field: 128B}}",
    observe: async (config) => (await longReport(config)).field,
  },
  "store.caps.assistantText": inLife("store: {caps: {assistantText: 128B}}", ({ lastWords }) => lastWords),
  "store.backupEvery": { changed: "store: {backupEvery: 1h}", observe: backedUpAfterTwoHours },
  "store.backupsKept": { changed: "store: {backupsKept: 2}", observe: backupsAfterThree },
  "budgets.warnAt": { changed: "budgets: {warnAt: 95}", observe: warnedAt },
  "budgets.agent.tokens": { changed: "budgets: {agent: {tokens: 90}}", observe: spent },
  "budgets.agent.cost": { changed: "budgets: {agent: {cost: 90}}", observe: spent },
  "budgets.agent.time": { changed: "budgets: {agent: {time: 90m}}", observe: spent },
  "budgets.goal.tokens": { changed: "budgets: {goal: {tokens: 90}}", observe: spent },
  "budgets.goal.cost": { changed: "budgets: {goal: {cost: 90}}", observe: spent },
  "budgets.goal.time": { changed: "budgets: {goal: {time: 90m}}", observe: spent },
  "budgets.day.tokens": { changed: "budgets: {day: {tokens: 90}}", observe: spent },
  "budgets.day.cost": { changed: "budgets: {day: {cost: 90}}", observe: spent },
  "budgets.day.time": { changed: "budgets: {day: {time: 90m}}", observe: spent },
  "quota.backoff.base": { changed: "quota: {backoff: {base: 1m}}", observe: outOfQuota(0) },
  "quota.backoff.max": { changed: "quota: {backoff: {max: 2h}}", observe: outOfQuota(9) },
  "provider.patience": { changed: "provider: {patience: 5m}", observe: retriedForThreeMinutes },
  "provider.backoff.base": { changed: "provider: {backoff: {base: 2m}}", observe: providerFailed(0) },
  "provider.backoff.max": { changed: "provider: {backoff: {max: 2h}}", observe: providerFailed(9) },
  "recovery.massDeath.count": { changed: "recovery: {massDeath: {count: 4}}", observe: diedTogether(3, 1_000) },
  "recovery.massDeath.within": { changed: "recovery: {massDeath: {within: 5s}}", observe: diedTogether(3, 10_000) },
  "auto.taskPoolCommand": { changed: "auto: {taskPoolCommand: 'echo Write it.'}", observe: poolTurned() },
  "auto.taskPoolTimeout": {
    changed: "auto: {taskPoolTimeout: 50ms}",
    observe: poolTurned({ taskPoolCommand: "sleep 0.5; echo Write it." }),
  },
  "auto.taskDirectory": { changed: "auto: {taskDirectory: tasks}", observe: poolTurned() },
  "auto.concurrency": { changed: "auto: {concurrency: 3}", observe: workersMade },
  "auto.every": { changed: "auto: {every: 5s}", observe: restOfPool },
  "auto.maxWaiting": { changed: "auto: {maxWaiting: 1}", observe: takenBesideWaiting },
  "auto.postAcceptCommand": { changed: "auto: {postAcceptCommand: 'true'}", observe: followedAutoLanding },
  "auto.postAcceptTimeout": { changed: "auto: {postAcceptTimeout: 50ms}", observe: slowAfterLanding },
  "guard.checkEvery": { changed: "guard: {checkEvery: 1s}", observe: guardSets("checkEveryMs") },
  "guard.grace": { changed: "guard: {grace: 1s}", observe: guardSets("graceMs") },
  "guard.stallAfter": { changed: "guard: {stallAfter: 10m}", observe: stillForHalfAnHour },
  "guard.stallRestarts": { changed: "guard: {stallRestarts: 1}", observe: stalledTwice },
  "guard.cooldown": { changed: "guard: {cooldown: 10s}", observe: failedAgain },
  "guard.remediationTimeout": {
    changed: "guard: {remediationTimeout: 1m}",
    observe: guardSets("remediationTimeoutMs"),
  },
  "guard.strict": { changed: "guard: {strict: true}", observe: warningSeen },
  "channels.terminal": { changed: "channels: {terminal: false}", observe: noticesOf },
  "channels.command": { changed: "channels: {command: 'true'}", observe: noticesOf },
  "channels.webhook": { changed: "channels: {webhook: 'http://127.0.0.1:9/nobody'}", observe: noticesOf },
  "channels.bundle": { changed: "channels: {bundle: 1m}", observe: newsTold },
  "channels.quietHours": { changed: "channels: {quietHours: '00:00-23:59'}", observe: newsTold },
  "channels.people.<name>.via": { changed: "channels: {people: {ada: {via: email, to: 'true'}}}", observe: newsTold },
  "channels.people.<name>.to": {
    changed: "channels: {people: {ada: {via: command, to: 'false'}}}",
    observe: newsTold,
  },
  "channels.people.<name>.hears": {
    changed: "channels: {people: {ada: {via: command, to: 'true', hears: [daemon]}}}",
    observe: adaTold,
  },
  "channels.people.<name>.quietHours": {
    changed: "channels: {people: {ada: {via: command, to: 'true', quietHours: '00:00-23:59'}}}",
    observe: adaTold,
  },
  "channels.timeout": { changed: "channels: {timeout: 1s}", observe: slowNotice },
  "mulch.enabled": { changed: "mulch: {enabled: true}", observe: toldOfExpertise },
  "mulch.domains": { changed: "mulch: {domains: [web]}", observe: toldByMulch },
  "mulch.primeFormat": { changed: "mulch: {primeFormat: xml}", observe: toldByMulch },
  "serena.enabled": {
    changed: "serena: {enabled: true}",
    observe: slung(({ attempt }) => existsSync(`${attempt.worktree}/.serena/project.yml`)),
  },
  "telemetry.otel.enabled": {
    changed: "telemetry: {otel: {enabled: true}}",
    observe: slung(({ launch }) => launch.env.TRACEPARENT !== undefined),
  },
  "telemetry.otel.endpoint": {
    changed: "telemetry: {otel: {endpoint: 'http://127.0.0.1:9'}}",
    observe: exportedTo,
  },
};

/** Keys that nothing reads yet, at most: this number only goes down. */
const MOST_NOT_BUILT = 1;

const keys = valueKeys();
const notBuilt = keys.filter((key) => key.notBuilt !== undefined).map(({ name }) => name);

beforeAll(async () => {
  bundled();
  const lives = Object.values(rows)
    .filter((row) => row.inLife)
    .map((row) => parseConfig(row.changed, "changed.yaml"));
  // One that fails says so in the test of its key.
  await Promise.allSettled([parseConfig("", "defaults"), ...lives].map(livedOnce));
}, 120_000);

describe("CONF-1: changing a key changes something a user can see", () => {
  test("CONF-1: a key changes something or says that it is not built, and never both", () => {
    const claimed = [...Object.keys(rows), ...notBuilt];
    expect(claimed.toSorted()).toEqual(keys.map(({ name }) => name).toSorted());
  });

  for (const [key, row] of Object.entries(rows)) {
    test(`CONF-1: ${key} is observed`, async () => {
      const usual = await row.observe(parseConfig("", "defaults"));
      const changed = await row.observe(parseConfig(row.changed, "changed.yaml"));
      expect(changed).not.toEqual(usual);
    });
  }

  test(`CONF-1: ${notBuilt.length} of ${keys.length} keys are not built yet, and no more than before`, () => {
    const areas = Map.groupBy(notBuilt, (key) => featureNotBuilt(key) ?? "");
    const counts = [...areas].map(([area, names]) => `${area} ${names.length}`);
    console.log(`CONF-1: ${notBuilt.length} of ${keys.length} keys are not built yet: ${counts.join(", ")}`);
    expect(notBuilt.length).toBe(MOST_NOT_BUILT);
  });
});
