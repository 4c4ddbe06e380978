/** The promises of the configuration as a whole: its defaults, its example, and the keys of the systems it replaces. */
import { describe, expect, test } from "bun:test";
import { explainKey, jsonSchema, listKeys } from "./explain.ts";
import { allKeys, asWritten, valuesOf } from "./keys.ts";
import { parseConfig } from "./load.ts";
import { exampleYaml } from "./render.ts";
import { defaultConfig } from "./schema.ts";

const example = await Bun.file(new URL("./config.example.yaml", import.meta.url)).text();

describe("CONF-1: the defaults are the documented numbers", () => {
  const numbers: [key: string, value: unknown][] = [
    ["reconcile.tickEvery", "2m"],
    ["watch.every", "30s"],
    ["sync.every", "15s"],
    ["guard.checkEvery", "5s"],
    ["daemon.heartbeatEvery", "5s"],
    ["guard.heartbeatTimeout", "30s"],
    ["reconcile.deadmanFactor", 3],
    ["recovery.silentAfter", "15m"],
    ["watch.staleAfter", "2m"],
    ["watch.veryStaleAfter", "5m"],
    ["recovery.deadAfter", "30m"],
    ["recovery.firstSignWithin", "2m"],
    ["recovery.judgedFromAge", "5s"],
    ["recovery.steps.hints", 1],
    ["recovery.steps.warnings", 2],
    ["recovery.steps.lastWarnings", 2],
    ["recovery.steps.interrupts", 2],
    ["recovery.steps.splits", 2],
    ["recovery.steps.freshAgents", 2],
    ["recovery.steps.pauses", 2],
    ["recovery.restarts", 2],
    ["recovery.sameWordsAfter", "5m"],
    ["recovery.backoff.base", "2m"],
    ["recovery.backoff.max", "30m"],
    ["reconcile.modelCallsPerTick", 1],
    ["reflex.cooldownSteps", 3],
    ["reflex.radioCheckSteps", 3],
    ["reflex.contextWarn", 75],
    ["reflex.contextUrgent", 90],
    ["planner.maxPhases", 5],
    ["planner.maxTasksPerPhase", 7],
    ["planner.maxSubtasksPerTask", 7],
    ["planner.repairs", 2],
    ["planner.replansPerNode", 2],
    ["agents.maxConcurrent", 5],
    ["agents.stagger", "2s"],
    ["agents.maxDepth", 2],
    ["agents.startsPerMinute", 10],
    ["auto.concurrency", 1],
    ["auto.taskPoolTimeout", "1m"],
    ["auto.postAcceptTimeout", "30m"],
    ["checks.<name>.timeout", "15m"],
    ["landing.dirtyWait.base", "1m"],
    ["landing.dirtyWait.max", "1h"],
    ["landing.dirtyWait.tries", 10],
    ["guard.grace", "30s"],
    ["guard.stallAfter", "1h"],
    ["guard.cooldown", "1m"],
    ["guard.remediationTimeout", "30m"],
    ["inbox.injectionCap", "8KB"],
    ["inbox.nudgeExpiry", "30m"],
    ["inbox.syncExpiry", "2h"],
    ["store.caps.instruction", "16KB"],
    ["store.signalsKept", "7d"],
    ["quota.backoff.base", "5m"],
    ["quota.backoff.max", "1h"],
    ["recovery.massDeath.count", 3],
    ["recovery.massDeath.within", "30s"],
    ["capacity.loadFactor", 4],
    ["capacity.minMemory", "1GB"],
    ["capacity.minDisk", "2GB"],
    ["salute.keep", 50],
    ["landing.authorRounds", 3],
  ];
  test.each(numbers)("%s is %p", (key, value) => expect(explainKey(key).default).toEqual(value));
});

describe("CONF-1: every key of the systems Overseer replaces has a name here", () => {
  const keys: [theirs: string, ours: string][] = [
    ["overseer.enabled", "reconcile.enabled"],
    ["overseer.tickEvery", "reconcile.tickEvery"],
    ["overseer.idleAfter", "recovery.silentAfter"],
    ["overseer.maxRetries", "recovery.steps.interrupts"],
    ["overseer.minResendInterval", "recovery.sameWordsAfter"],
    ["overseer.backoff.base", "recovery.backoff.base"],
    ["overseer.backoff.max", "recovery.backoff.max"],
    ["overseer.planner.model", "planner.model"],
    ["overseer.planner.maxPlanPhases", "planner.maxPhases"],
    ["overseer.planner.maxTasksPerPhase", "planner.maxTasksPerPhase"],
    ["overseer.planner.maxSubtasksPerTask", "planner.maxSubtasksPerTask"],
    ["overseer.planner.maxRepairAttempts", "planner.repairs"],
    ["overseer.policy.allowAgents", "policy.allowAgents"],
    ["overseer.policy.allowCrossAgent", "policy.allowCrossAgent"],
    ["auto.task_pool_command", "auto.taskPoolCommand"],
    ["auto.concurrency", "auto.concurrency"],
    ["auto.post_accept_command", "auto.postAcceptCommand"],
    ["auto.patrol_interval_secs", "auto.every"],
    ["repo.default_branch", "repo.targetBranch"],
    ["defaults.model", "defaults.model"],
    ["defaults.skip_permissions", "defaults.permissionMode"],
    ["defaults.allowed_tools", "defaults.allowedTools"],
    ["overseer.remediation_prompt", "guard.remediationPrompt"],
    ["overseer.heartbeat_timeout_secs", "guard.heartbeatTimeout"],
    ["overseer.stall_timeout_secs", "guard.stallAfter"],
    ["overseer.restart_cooldown_secs", "guard.cooldown"],
    ["watcher.interval", "watch.every"],
    ["syncer.interval_secs", "sync.every"],
    ["syncer.rate_limit", "sync.rate.max"],
    ["supervision_enabled", "watch.enabled"],
    ["supervisor.interval", "reflex.radioCheckSteps"],
    ["supervisor.cooldown", "reflex.cooldownSteps"],
    ["project.name", "project.name"],
    ["project.canonicalBranch", "repo.targetBranch"],
    ["agents.manifestPath", "agents.manifest"],
    ["agents.baseDir", "agents.definitions"],
    ["agents.maxConcurrent", "agents.maxConcurrent"],
    ["agents.staggerDelayMs", "agents.stagger"],
    ["agents.maxDepth", "agents.maxDepth"],
    ["worktrees.baseDir", "worktree.dir"],
    ["beads.enabled", "beads.enabled"],
    ["mulch.enabled", "mulch.enabled"],
    ["mulch.domains", "mulch.domains"],
    ["mulch.primeFormat", "mulch.primeFormat"],
    ["merge.aiResolveEnabled", "landing.tiers.aiResolve"],
    ["merge.reimagineEnabled", "landing.tiers.reimagine"],
    ["watchdog.tier1Enabled", "watch.enabled"],
    ["watchdog.tier1IntervalMs", "watch.every"],
    ["watchdog.tier2Enabled", "watch.triage.enabled"],
    ["watchdog.staleThresholdMs", "watch.staleAfter"],
    ["watchdog.zombieThresholdMs", "recovery.deadAfter"],
    ["logging.verbose", "logs.level"],
  ];
  test.each(keys)("%s is %s", (_theirs, ours) => expect(listKeys()).toContain(ours));

  test("where the project lies is told by --root, and redaction has no key at all", () => {
    expect(listKeys().filter((key) => /root|redact/i.test(key))).toEqual([]);
  });
});

describe("the example file", () => {
  test("loads as the defaults", () => expect(parseConfig(example, "config.example.yaml")).toEqual(defaultConfig()));

  test("is what `overseer config example` prints", () => expect(example).toBe(exampleYaml()));

  test("names every key exactly once, and nothing else", () => {
    expect(keysIn(example).sort()).toEqual(listKeys().sort());
  });

  test("works with its samples uncommented", () => {
    const uncommented = example.replaceAll(/^# {3}/gm, "  ");
    const { checks, runtimes } = parseConfig(uncommented, "config.example.yaml");
    expect(Object.keys(checks)).toEqual(["tests"]);
    expect(Object.keys(runtimes)).toEqual(["claude-code"]);
  });

  test("writes each default as it would be shown again", () => {
    const { checks, runtimes } = parseConfig("checks: {a: {command: x}}\nruntimes: {a: }", "config.yaml");
    const shown = valuesOf(asWritten({ ...defaultConfig(), checks, runtimes })).filter(
      (key) => key.default !== undefined,
    );
    for (const key of shown) expect([key.key, key.value]).toEqual([key.key, key.default]);
  });

  test("explains every key in its own words", () => {
    const descriptions = allKeys().map((key) => key.description);
    for (const description of descriptions) expect(description).toMatch(/^[A-Z].*\.$/);
  });
});

/** Reads the file by its indentation alone, samples included, without the help of what wrote it. */
function keysIn(text: string): string[] {
  const lines = text.replaceAll(/^( *)# {3}/gm, "$1  ").split("\n");
  const path: string[] = [];
  const found: string[] = [];
  const rows = lines.flatMap((line) => {
    const row = /^( *)([\w-]+):(.*)$/.exec(line);
    return row ? [{ depth: (row[1] ?? "").length / 2, word: row[2] ?? "", value: (row[3] ?? "").trim() }] : [];
  });
  for (const { depth, word, value } of rows) {
    path.length = depth;
    path.push(["tests", "claude-code", "ada"].includes(word) ? "<name>" : word);
    if (value !== "") found.push(path.join("."));
  }
  return found;
}

describe("explaining", () => {
  const loaded = {
    config: parseConfig("reconcile: {tickEvery: 5m}\nchecks: {lint: {command: x}}", "config.yaml"),
    text: "reconcile: {tickEvery: 5m}\nchecks: {lint: {command: x}}",
    path: "config.yaml",
  };

  test("a key says what it is, what it could be and where that comes from", () => {
    expect(explainKey("reconcile.tickEvery", loaded)).toEqual({
      key: "reconcile.tickEvery",
      type: "a duration such as 500ms, 2m or 1h30m",
      default: "2m",
      description: "How often the tick runs when nothing wakes it earlier.",
      allowed: ["at least 100ms"],
      value: "5m",
      source: "config.yaml",
    });
  });

  test("a key that is not set shows its default", () => {
    expect(explainKey("terminal", loaded)).toMatchObject({
      value: "auto",
      source: "default",
      allowed: ["auto", "tmux", "detached"],
    });
    expect(explainKey("terminal")).toMatchObject({ value: "auto", source: "default" });
    expect(explainKey("repo.targetBranch", loaded)).toMatchObject({ value: null, default: null });
  });

  test("a group explains its children", () => {
    const group = explainKey("recovery.backoff", loaded);
    expect(group.children?.map((child) => child.key)).toEqual(["recovery.backoff.base", "recovery.backoff.max"]);
  });

  test("names of the user's choosing are understood", () => {
    expect(explainKey("checks.lint.command", loaded)).toMatchObject({ value: "x", source: "config.yaml" });
    expect(explainKey("checks.lint.timeout", loaded)).toMatchObject({ value: "15m", source: "default" });
    expect(explainKey("checks.lint", loaded).children?.map((child) => child.key)).toContain("checks.lint.on");
    expect(explainKey("checks").children?.map((child) => child.key)).toContain("checks.<name>.on");
  });

  const unknown: [name: string, near: string][] = [
    ["idleAfter", "recovery.silentAfter"],
    ["watch.idleAfter", "recovery.silentAfter"],
    ["reconcile.tickEvry", "reconcile.tickEvery"],
    ["gaurd", "guard"],
    ["tickEvry", "reconcile.tickEvery"],
  ];
  test.each(unknown)("%s is not found, %s is offered", (name, near) => {
    expect(() => explainKey(name)).toThrow(`Did you mean ${near}?`);
  });

  test("nonsense is not found, with the next step", () => {
    expect(() => explainKey("qqqqqqqqqq")).toThrow("qqqqqqqqqq is not a key of the configuration.");
    expect(() => explainKey("")).toThrow("is not a key");
  });

  test("every listed key can be explained", () => {
    for (const key of listKeys()) expect(explainKey(key).description).not.toBe("");
  });
});

test("the JSON Schema refuses unknown keys in every group and knows each default", () => {
  const groups: unknown[] = [];
  JSON.stringify(jsonSchema(), (_name, value: unknown) => {
    if (typeof value === "object" && value !== null && "properties" in value && "type" in value) groups.push(value);
    return value;
  });
  expect(groups.length).toBeGreaterThan(30);
  for (const group of groups) expect(group).toMatchObject({ additionalProperties: false });
});

test("the defaults in the user's spelling load as the defaults, and nobody can change them for others", () => {
  expect(parseConfig(JSON.stringify(asWritten(defaultConfig())), "x")).toEqual(defaultConfig());
  defaultConfig().agents.passEnv.push("HOME");
  expect(defaultConfig().agents.passEnv).toEqual([]);
  expect(parseConfig("", "x").agents.passEnv).toEqual([]);
});
