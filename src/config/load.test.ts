/** Reading config.yaml: every trap a file can set, what is said about it, and that nothing else ever comes out. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { OverseerError } from "#errors.ts";
import { anyText } from "../../test/support/any-text.ts";
import { scaled } from "../../test/support/scale.ts";
import { asWritten } from "./keys.ts";
import { loadConfig, loadConfigFile, parseConfig } from "./load.ts";
import { configYaml } from "./render.ts";
import { type Config, defaultConfig } from "./schema.ts";

function refusal(text: string): OverseerError {
  try {
    parseConfig(text, "config.yaml");
  } catch (error) {
    if (error instanceof OverseerError) return error;
    throw error;
  }
  throw new Error("The text was accepted.");
}

describe("texts that are the defaults", () => {
  const empty: [why: string, text: string][] = [
    ["nothing", ""],
    ["only a comment", "# later\n"],
    ["only blank lines", "\n\n  \n"],
    ["an explicit null", "~"],
    ["an empty mapping", "{}"],
    ["a group with nothing in it", "watch:\n  # every: 10s\nsync:\n"],
    ["a byte order mark", "\uFEFFwatch:\n  every: 30s\n"],
    ["Windows line ends", "watch:\r\n  every: 30s\r\n"],
    ["a document marker", "---\nwatch:\n  every: 30s\n"],
  ];
  test.each(empty)("%s", (_why, text) => expect(parseConfig(text, "config.yaml")).toEqual(defaultConfig()));

  test("a missing file", async () => {
    expect(await loadConfig({ read: async () => undefined }, "config.yaml")).toEqual(defaultConfig());
  });
});

describe("values", () => {
  const accepted: [text: string, look: (config: Config) => unknown, value: unknown][] = [
    ["reconcile: {tickEvery: 1h30m}", (c) => c.reconcile.tickEvery, 5_400_000],
    ["agents: {stagger: 0}", (c) => c.agents.stagger, 0],
    ["inbox: {injectionCap: 4KB}", (c) => c.inbox.injectionCap, 4096],
    ["budgets: {agent: {time: 2h, cost: 1.5}}", (c) => [c.budgets.agent.time, c.budgets.agent.cost], [7_200_000, 1.5]],
    ["budgets: {agent: {time: null}}", (c) => c.budgets.agent.time, null],
    ["repo: {remote: off}", (c) => c.repo.remote, "off"],
    ["checks: {tests: {command: bun test}}", (c) => c.checks.tests?.timeout, 900_000],
    ["checks: {tests: {command: 'x: y', on: [land]}}", (c) => c.checks.tests?.on, ["land"]],
    ["runtimes: {codex: }", (c) => c.runtimes.codex?.idleEnd, 1_800_000],
    ["landing: {lockfiles: {bun.lock: bun install}}", (c) => c.landing.lockfiles, { "bun.lock": "bun install" }],
    ["wip: &w {every: 1m}", (c) => c.wip.every, 60_000],
    ["agents: {passEnv: [&a NPM_TOKEN, *a]}", (c) => c.agents.passEnv, ["NPM_TOKEN", "NPM_TOKEN"]],
    [
      "guard:\n  remediationPrompt: |\n    Look: here\n    and there\n",
      (c) => c.guard.remediationPrompt,
      "Look: here\nand there\n",
    ],
  ];
  test.each(accepted)("%s", (text, look, value) => {
    expect(look(parseConfig(text, "config.yaml"))).toEqual(value);
  });
});

describe("refusals name the line, the column and the way out", () => {
  const refused: [why: string, text: string, message: string][] = [
    [
      "a misspelt key",
      "reconcile:\n  tickEvry: 2m\n",
      "config.yaml:2:3: reconcile.tickEvry is not a key. Did you mean tickEvery?",
    ],
    [
      "a misspelt group",
      "reconsile:\n  tickEvery: 2m\n",
      "config.yaml:1:1: reconsile is not a key. Did you mean reconcile?",
    ],
    [
      "a key in the wrong group",
      "watch:\n  idleAfter: 5m\n",
      "config.yaml:2:3: watch.idleAfter is not a key. Did you mean recovery.silentAfter?",
    ],
    [
      "a key without its group",
      "maxConcurrent: 3\n",
      "config.yaml:1:1: maxConcurrent is not a key. Did you mean agents.maxConcurrent?",
    ],
    [
      "another tool's spelling",
      "task_pool_command: ls\n",
      "config.yaml:1:1: task_pool_command is not a key. Did you mean auto.taskPoolCommand?",
    ],
    ["nothing like it", "watch:\n  colour: red\n", "config.yaml:2:3: watch.colour is not a key."],
    [
      "an unknown key of a check",
      "checks:\n  tests:\n    cmd: x\n    command: y\n",
      "config.yaml:3:5: checks.tests.cmd is not a key.",
    ],
    [
      "a missing command",
      "checks:\n  tests:\n    timeout: 5m\n",
      "config.yaml:2:3: checks.tests.command is missing. Shell command to run on the commit in question; exit code 0 means passed.",
    ],
    [
      "a password in the address of a collector",
      "telemetry:\n  otel:\n    endpoint: https://me:secret@collector\n",
      "config.yaml:3:15: telemetry.otel.endpoint must look like http://localhost:4318.",
    ],
    ["a bad name", "checks:\n  My Tests:\n    command: y\n", "config.yaml:2:3: checks.My Tests must look like tests."],
    [
      "a duration without unit",
      "watch:\n  every: 30\n",
      "config.yaml:2:10: watch.every must be a duration with its unit, like 2m.",
    ],
    [
      "a duration in words",
      "watch:\n  every: 30 seconds\n",
      "config.yaml:2:10: watch.every must be a duration like 2m.",
    ],
    ["a busy loop", "watch:\n  every: 1ms\n", "config.yaml:2:10: watch.every must be at least 100ms."],
    ["an age of the universe", "watch:\n  every: 9999d\n", "config.yaml:2:10: watch.every must be at most 365d."],
    [
      "a size without unit",
      "inbox:\n  injectionCap: 8000\n",
      "config.yaml:2:17: inbox.injectionCap must be a size with its unit, like 16KB.",
    ],
    ["too few", "agents:\n  maxConcurrent: 0\n", "config.yaml:2:18: agents.maxConcurrent must be at least 1, not 0."],
    ["too many", "reflex:\n  contextWarn: 120\n", "config.yaml:2:16: reflex.contextWarn must be at most 100, not 120."],
    [
      "a part of an agent",
      "agents:\n  maxConcurrent: 1.5\n",
      "config.yaml:2:18: agents.maxConcurrent must be a whole number, not 1.5.",
    ],
    [
      "a word for a switch",
      "watch:\n  enabled: yes\n",
      'config.yaml:2:12: watch.enabled must be true or false, not "yes".',
    ],
    [
      "a number for text",
      "repo:\n  targetBranch: 1.0\n",
      "config.yaml:2:17: repo.targetBranch must be text, or null, not 1. Put it in quotes.",
    ],
    [
      "a word that is no choice",
      "terminal: tmuxx\n",
      'config.yaml:1:11: terminal must be one of auto, tmux, detached, not "tmuxx". Did you mean tmux?',
    ],
    [
      "no value",
      "watch:\n  every:\n",
      "config.yaml:2:3: watch.every has no value. Give it one, or leave the line out for the default.",
    ],
    ["a value for a group", "landing: auto\n", "config.yaml:1:10: landing is a group of keys, not a single value."],
    ["a list for a group", "watch: [1]\n", "config.yaml:1:8: watch is a group of keys, not a list."],
    [
      "an empty list",
      "checks: {a: {command: x, on: []}}",
      "config.yaml:1:30: checks.a.on must be a list with something in it, not a list.",
    ],
    [
      "a wrong thing in a list",
      "agents:\n  passEnv:\n    - A\n    - 5\n",
      "config.yaml:4:7: agents.passEnv[1] must be text, not 5. Put it in quotes.",
    ],
    [
      "a pattern that is none",
      "checks: {a: {command: x, expect: '('}}",
      "config.yaml:1:34: checks.a.expect must be a valid regular expression.",
    ],
    [
      "a backoff upside down",
      "recovery:\n  backoff:\n    base: 1h\n",
      "config.yaml:3:11: recovery.backoff.base must not be larger than recovery.backoff.max.",
    ],
    ["a key twice", "watch:\n  every: 10s\n  every: 20s\n", "config.yaml:3:3: every is set twice, first on line 2."],
    [
      "a group twice",
      "watch: {every: 10s}\nsync: {}\nwatch: {}\n",
      "config.yaml:3:1: watch is set twice, first on line 1.",
    ],
    [
      "a key twice beside an alias",
      "wip: &w {every: 1m, every: 2m}\n",
      "config.yaml:1:21: every is set twice, first on line 1.",
    ],
    [
      "two documents",
      "watch: {}\n---\nsync: {}\n",
      "config.yaml:1:1: the file must hold keys with values, not a list.",
    ],
    ["a list", "- 1\n", "config.yaml:1:1: the file must hold keys with values, not a list."],
    ["a single word", "hello\n", "config.yaml:1:1: the file must hold keys with values, not a single value."],
    ["a key no object should have", "__proto__: {enabled: false}\n", "config.yaml:1:1: __proto__ is not a key."],
    [
      "the same among checks",
      "checks:\n  __proto__: {command: x}\n",
      "config.yaml:2:3: checks.__proto__ is not a key.",
    ],
  ];
  test.each(refused)("%s", (_why, text, message) => {
    const error = refusal(text);
    expect(error.message).toBe(message);
    expect([error.kind, error.code, error.exitCode]).toEqual(["config", "CONFIG_INVALID", 6]);
    expect(error.hint).toContain("config explain");
  });

  const broken: [why: string, text: string, place: string][] = [
    ["a tab", "watch:\n\tevery: 10s\n", "config.yaml:2:1: "],
    ["an open bracket", "agents:\n  passEnv: [A\n", "config.yaml:"],
    ["a second colon", "watch:\n  every: a: b\n", "config.yaml:2:10: "],
    ["an unknown alias", "watch: *nowhere\n", "config.yaml:1:8: "],
    ["an open quote", 'watch:\n  every: "10s\n', "config.yaml:"],
  ];
  test.each(broken)("broken YAML: %s", (_why, text, place) => {
    expect(refusal(text).message).toStartWith(place);
    expect(refusal(text).message).not.toContain("undefined");
  });

  test("all problems are listed at once, in the order of the file", () => {
    const text = "terminal: x\nwatch:\n  every: 1\n  evry: 2\nagents: {maxConcurrent: 0}\n";
    expect(
      refusal(text)
        .message.split("\n")
        .map((line) => line.split(" ")[0]),
    ).toEqual(["config.yaml:1:11:", "config.yaml:3:10:", "config.yaml:4:3:", "config.yaml:5:25:"]);
  });

  test("a hundred problems are cut to a readable list", () => {
    const text = Array.from({ length: 100 }, (_, index) => `zz${index}: 1`).join("\n");
    const lines = refusal(text).message.split("\n");
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe("… and 80 more.");
  });

  test("a value that may be a secret is not repeated", () => {
    expect(refusal("channels: {webhook: 'sk-ant-0123456789'}").message).not.toContain("0123456789");
    expect(refusal("terminal: 'https://user:pw@host'").message).not.toContain("pw@host");
  });
});

describe("hostile files", () => {
  const bomb = Array.from({ length: 12 }, (_, n) =>
    n === 0
      ? "a0: &a0 [x,x,x,x,x,x,x,x,x]"
      : `a${n}: &a${n} [${Array(9)
          .fill(`*a${n - 1}`)
          .join(",")}]`,
  ).join("\n");
  const hostile: [why: string, text: string][] = [
    ["ten megabytes", `# ${"x".repeat(10 * 1024 * 1024)}`],
    ["an alias bomb", bomb],
    ["a smaller alias bomb", bomb.split("\n").slice(0, 7).join("\n")],
    ["a ring of aliases", "a: &a [*a]"],
    ["a ring of aliases in a known place", "agents: &a {passEnv: [*a]}"],
    ["brackets a hundred thousand deep", `a: ${"[".repeat(100_000)}`],
    ["closed brackets five thousand deep", `a: ${"[".repeat(5_000)}${"]".repeat(5_000)}`],
    ["braces three thousand deep", `a: ${"{a: ".repeat(3_000)}1${"}".repeat(3_000)}`],
    ["dashes ten thousand deep", `${"- ".repeat(10_000)}1`],
    ["fifty thousand equal keys", "k: 1\n".repeat(50_000)],
    ["nine thousand equal keys", "k: 1\n".repeat(9_000)],
    ["twenty thousand keys", Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`).join("\n")],
    ["nine thousand unknown keys", Array.from({ length: 9_000 }, (_, index) => `k${index}: 1`).join("\n")],
    ["nine thousand wrong items", `agents: {passEnv: [${"1,".repeat(9_000)}]}`],
    ["zero bytes", "\0\0\0"],
    ["a key as long as a book", `${"k".repeat(100_000)}: 1`],
  ];
  test.each(hostile)("%s", (_why, text) => {
    const error = refusal(text);
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message.length).toBeLessThan(8_000);
  });

  test("ten megabytes are refused with a clear sentence", () => {
    expect(refusal("x".repeat(10 * 1024 * 1024)).message).toBe(
      "config.yaml:1:1: the file is larger than 256 KB, which no configuration is.",
    );
  });
});

test("a file that cannot be read is the environment's fault and keeps the cause", async () => {
  const cause = new Error("EACCES: permission denied");
  const attempt = loadConfigFile({ read: () => Promise.reject(cause) }, "config.yaml");
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ kind: "environment", code: "CONFIG_UNREADABLE", cause });
});

/** Any valid configuration, by changing values of the defaults: numbers and texts within what every key allows. */
const somePath = fc.constantFrom(
  "src/a b.ts",
  "*.lock",
  "x: y",
  "# no comment",
  "null",
  "1.0",
  "yes",
  "'",
  '"',
  "é\u0085\u2028\ufeff",
);
const anyLine = fc.oneof(
  somePath,
  anyText({ minLength: 1 }).filter((text) => text.isWellFormed()),
);
const anyConfig: fc.Arbitrary<Config> = fc
  .record({
    branch: fc.option(anyLine),
    prompt: fc.option(anyLine),
    tools: fc.array(anyLine, { maxLength: 3 }),
    tick: fc.integer({ min: 100, max: 86_400_000 }),
    cap: fc.integer({ min: 512, max: 2 ** 40 }),
    cost: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }).map((number) => number + 0)),
    enabled: fc.boolean(),
    lockfiles: fc.dictionary(
      anyLine.filter((name) => name !== "__proto__"),
      anyLine,
      { maxKeys: 3 },
    ),
    checks: fc.dictionary(
      fc.stringMatching(/^[a-z][a-zA-Z0-9_-]{0,10}$/),
      fc.record({
        command: anyLine,
        timeout: fc.integer({ min: 1000, max: 86_400_000 }),
        on: fc.constantFrom<("done" | "land")[]>(["done"], ["land"], ["done", "land"]),
        expect: fc.constantFrom(null, "^ok$", "\\d+ pass"),
        protected: fc.array(anyLine, { maxLength: 2 }),
      }),
      { maxKeys: 3 },
    ),
  })
  .map((parts) => {
    const config = defaultConfig();
    config.repo.targetBranch = parts.branch;
    config.guard.remediationPrompt = parts.prompt;
    config.defaults.allowedTools = parts.tools;
    config.reconcile.tickEvery = parts.tick;
    config.inbox.injectionCap = parts.cap;
    config.budgets.day.cost = parts.cost;
    config.watch.enabled = parts.enabled;
    config.landing.lockfiles = { ...parts.lockfiles };
    config.checks = { ...parts.checks };
    return config;
  });

describe("for every configuration", () => {
  test("what is shown as YAML loads as the same configuration", () => {
    fc.assert(
      fc.property(anyConfig, (config) => {
        expect(parseConfig(configYaml(config), "config.yaml")).toEqual(config);
      }),
      { numRuns: scaled(50) },
    );
  });

  test("what is written as JSON loads as the same configuration", () => {
    fc.assert(
      fc.property(anyConfig, (config) => {
        const written = asWritten(config);
        expect(parseConfig(JSON.stringify(written), "config.json")).toEqual(config);
      }),
      { numRuns: scaled(50) },
    );
  });

  test("a checked configuration is plain JSON", () => {
    fc.assert(
      fc.property(anyConfig, (config) => {
        expect(JSON.parse(JSON.stringify(config))).toEqual(config);
      }),
      { numRuns: scaled(50) },
    );
  });
});

describe("for every text", () => {
  const acceptedOrRefused = (text: string) => {
    try {
      parseConfig(text, "config.yaml");
    } catch (error) {
      expect(error).toBeInstanceOf(OverseerError);
    }
  };
  const fragment = fc.constantFrom(
    ..."watch: |reconcile:|  every: |30s|\n|\n  |- |[|]|{|}|&a |*a|<<: |!!int |? |: |, |#|'|\"|\t|true|null|~|>|checks:|__proto__: |%|---|...|\u0000|1e9".split(
      "|",
    ),
  );

  test("arbitrary text loads or is refused, and nothing else happens", () => {
    fc.assert(fc.property(anyText(), acceptedOrRefused), { numRuns: scaled(300) });
  });

  test("so does text made of YAML's own signs", () => {
    fc.assert(
      fc.property(
        fc.array(fragment, { maxLength: 30 }).map((parts) => parts.join("")),
        acceptedOrRefused,
      ),
      { numRuns: scaled(1000) },
    );
  });
});
