/** The table of tools: what each is as a command, for whom, and what all of them cost a session. */
import { expect, test } from "bun:test";
import { MENU } from "#cli/menu.ts";
import { parseCall } from "#cli/parse.ts";
import { refuseToAgents } from "#domain/agents/seat-belt.ts";
import { isWaiting, listOwnInputs } from "#domain/agents/verbs.ts";
import { useOf } from "#domain/core/tools.ts";
import { UPDATE_KEYS } from "#domain/reports/update.ts";
import { CLAUDE_TOOLS } from "#runtimes/claude-code/tools.ts";
import { describeTools } from "./server.ts";
import { type Caller, listToolsFor, TOOLS, type Tool } from "./tools.ts";

const toolOf = (name: string, caller: Caller): Tool => {
  const tool = listToolsFor(caller).find((one) => one.name === name);
  if (!tool) throw new Error(`There is no tool ${name} for ${caller}.`);
  return tool;
};
const wordsOf = (caller: Caller, name: string, given: object) => {
  const tool = toolOf(name, caller);
  return tool.toWords(tool.input.parse(given));
};

/** One call of every tool with everything it takes; a value that looks like an option is a value. */
const CALLS: readonly [caller: Caller, name: string, given: object, words: string][] = [
  ["agent", "report", { status: "done", summary: "x", decisions: ["a because b", "c"] }, "work report --json-file=-"],
  [
    "agent",
    "ask",
    { question: "--json", options: ["a", "--b"], node: "T1", goOn: true },
    "ask --option=a --option=--b --node=T1 --go-on -- --json",
  ],
  ["agent", "mail", { do: "check" }, "mail check"],
  ["agent", "mail", { do: "list", to: "human" }, "mail list --to=human --limit=20"],
  ["person", "mail", { do: "read", id: "--json" }, "mail read -- --json"],
  [
    "person",
    "mail",
    { do: "send", to: "--all", subject: "-s", body: "b", type: "question", priority: "high" },
    "mail send --to=--all --subject=-s --type=question --priority=high --file=-",
  ],
  ["agent", "mail", { do: "reply", id: "m_1", body: "b" }, "mail reply --file=- -- m_1"],
  ["agent", "wait", { on: ["a", "b"] }, "mail check --wait --on=a --on=b"],
  [
    "agent",
    "learn",
    { text: "--tag", tags: ["a"], paths: ["src"], fails: "npm test", fix: "make db" },
    "learnings add --tag=a --path=src --fails=npm test --fix=make db -- --tag",
  ],
  ["person", "learn", { find: "--limit" }, "learnings search -- --limit"],
  [
    "spawner",
    "sling",
    { prompt: "--discard", capability: "scout", name: "s", files: ["a"], spec: "all", runtime: "scripted", model: "m" },
    "sling --prompt=--discard --capability=scout --name=s --files=a --runtime=scripted --model=m --spec=-",
  ],
  ["person", "sling", { task: "--all" }, "sling -- --all"],
  ["agent", "status", {}, "status"],
  ["person", "status", { about: "--help" }, "why -- --help"],
  ["person", "do", { sentence: "--yes", budget: 2.5 }, "do --budget=2.5 -- --yes"],
  ["person", "plan", { goal: "g", do: "show" }, "goal plan --show -- g"],
  ["person", "plan", { goal: "g", do: "again", remark: "less" }, "goal plan --with-model --remark=less -- g"],
  ["person", "plan", { goal: "g", do: "drop", remark: "no" }, "goal plan --drop --reason=no -- g"],
  ["person", "plan", { goal: "g", do: "accept", remark: "fine" }, "goal plan --accept -- g"],
  ["person", "review", { what: "-x", stat: true }, "review --stat -- -x"],
  ["person", "accept", { what: "-x", commit: "c", reason: "r" }, "accept --commit=c --reason=r -- -x"],
  ["person", "reject", { what: "x", reason: "--r" }, "reject --reason=--r -- x"],
  ["person", "answer", { question: "3", answer: "--token" }, "answer -- 3 --token"],
  ["person", "nudge", { agent: "a", text: "--severity", severity: "hint" }, "nudge --severity=hint -- a --severity"],
  ["person", "stop", { agent: "--all", reason: "r" }, "stop --reason=r -- --all"],
  ["person", "report", { since: "--markdown" }, "report --since=--markdown"],
  ["person", "up", {}, "up"],
];

test.each(CALLS)("MCP-1: what %s gives %s becomes words that the command takes", async (caller, name, given, line) => {
  const { words } = wordsOf(caller, name, given);
  expect(words.join(" ")).toBe(line);
  const [entry = "", ...rest] = words;
  let { default: command } = (await MENU.find((one) => one.name === entry)?.load()) ?? { default: undefined };
  const sub = command?.subcommands?.find((one) => one.name === rest[0]);
  if (sub) command = sub;
  if (!command) throw new Error(`There is no command ${entry}.`);
  expect(parseCall(command, sub ? rest.slice(1) : rest)).toMatchObject({ ok: true });
});

test.each<[Caller, string, object, string | undefined]>([
  ["agent", "report", { status: "done", summary: "x" }, "done needs commit"],
  ["agent", "report", { status: "done", commit: "c" }, undefined],
  ["agent", "report", { status: "done", noChanges: "it was so" }, undefined],
  ["agent", "report", { status: "in_progress" }, undefined],
  ["agent", "mail", { do: "send", to: "human" }, "send needs subject and body, too."],
  ["agent", "mail", { do: "reply", id: "m_1", body: "b" }, undefined],
  ["agent", "mail", { do: "read" }, "read needs id, too."],
  ["agent", "learn", { tags: ["a"] }, "Give text"],
  ["agent", "learn", { find: "a" }, undefined],
])("MCP-1: to %s, %s says in its own words what is missing", (caller, name, given, lacks) => {
  const tool = toolOf(name, caller);
  const said = tool.lacks?.(tool.input.parse(given));
  if (lacks === undefined) expect(said).toBeUndefined();
  else expect(said).toContain(lacks);
});

test("MCP-1: every tool is called above", () => {
  const called = new Set(CALLS.map(([caller, name]) => toolOf(name, caller)));
  expect(TOOLS.filter((tool) => !called.has(tool)).map(({ name }) => name)).toEqual([]);
});

test("POL-1: what agents are offered, agents may run; the rest is not offered to them", () => {
  for (const [, name, given] of CALLS) {
    for (const caller of ["agent", "spawner"] as const) {
      const tool = listToolsFor(caller).find((one) => one.name === name);
      if (!tool?.input.safeParse(given).success) continue;
      const [entry = "", sub = ""] = tool.toWords(tool.input.parse(given)).words;
      expect([entry, refuseToAgents(entry, sub.startsWith("-") ? "" : sub)]).toEqual([entry, undefined]);
    }
  }
  const offered = (caller: Caller) => describeTools(caller).map(({ name }) => name);
  expect(offered("agent")).toEqual(["report", "ask", "mail", "wait", "learn", "status", "read"]);
  expect(offered("spawner")).toEqual(["report", "ask", "mail", "wait", "learn", "sling", "status", "read"]);
});

test("MCP-1: what is long goes by standard input, and reaches an agent's runner that way", () => {
  const long = "x".repeat(200_000);
  for (const [caller, name, given] of [
    ["agent", "report", { summary: long }],
    ["person", "mail", { do: "send", to: "a", subject: "s", body: long }],
    ["spawner", "sling", { prompt: "p", spec: long }],
  ] as const) {
    const { words, stdin } = wordsOf(caller, name, given);
    expect(stdin).toContain(long);
    expect(listOwnInputs(words)).toEqual(["-"]);
  }
  expect(isWaiting(wordsOf("agent", "wait", {}).words)).toBe(true);
});

test("CRYS-3: a report takes every field of the update block", () => {
  const taken = Object.keys(toolOf("report", "agent").input.shape);
  // Two further names for what is there already.
  const others = ["next", "blockers"];
  expect(UPDATE_KEYS.filter((key) => !taken.includes(key) && !others.includes(key))).toEqual([]);
  expect(taken.filter((key) => !UPDATE_KEYS.includes(key))).toEqual([]);
  const { stdin = "" } = wordsOf("agent", "report", { decisions: ["ISO because it sorts", "UTC"] });
  expect(JSON.parse(stdin)).toEqual({ decisions: [{ decision: "ISO", rationale: "it sorts" }, "UTC"] });
});

test.each([
  ["an unknown field", "agent", "status", { about: "a", all: true }],
  ["another type", "agent", "ask", { question: 7 }],
  ["a missing field", "person", "reject", { what: "a" }],
  ["a word that is no choice", "agent", "mail", { do: "burn" }],
  ["a cost below nothing", "person", "do", { sentence: "s", budget: -1 }],
  ["no object at all", "agent", "status", []],
] as const)("MCP-1: %s is refused", (_what, caller, name, given) => {
  expect(toolOf(name, caller).input.safeParse(given).success).toBe(false);
});

test("MCP-1: to rules, each of an agent's tools is for something", () => {
  const uses = describeTools("spawner").map(({ name }) => [name, useOf(CLAUDE_TOOLS, `mcp__overseer__${name}`)]);
  expect(Object.fromEntries(uses)).toEqual({
    ...{ report: "report", ask: "report", mail: "report", learn: "report", sling: "report" },
    ...{ wait: "wait", status: "wait", read: "read" },
  });
});

/** What the list of tools costs every request of a session, at four bytes a token. */
const AIMS: Readonly<Record<Caller, number>> = { agent: 1_050, spawner: 1_200, person: 1_250 };

test.each(Object.entries(AIMS) as [Caller, number][])(
  "MCP-1: the tools of %s cost at most %i tokens",
  (caller, most) => {
    const cost = Math.ceil(Buffer.byteLength(JSON.stringify(describeTools(caller))) / 4);
    expect(cost).toBeLessThanOrEqual(most);
    // Far below the aim it would hold nothing any more.
    expect(cost).toBeGreaterThan(most * 0.7);
  },
);
