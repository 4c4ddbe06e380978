import { expect, test } from "bun:test";
import fc from "fast-check";
import { TOOL_KINDS } from "#domain/core/tools.ts";
import {
  BASE_CONSTRAINTS,
  CONSTRAINTS,
  type Constraint,
  constraintsOf,
  matchRole,
  maySpawn,
  type Role,
  type RuntimeTools,
  toolsFor,
} from "./role.ts";

const builder: Role = {
  capability: "builder",
  summary: "Builds.",
  capabilities: ["implement", "fix"],
  definition: "builder.md",
  tools: { allow: ["read", "edit", "shell"], deny: [] },
  permissionMode: "acceptEdits",
  readOnly: false,
  canSpawn: false,
  constraints: [],
  supervision: { enabled: true, nudge: true },
  doctrine: { saluteIntervalSteps: 10, maxStepsWithoutProgress: 12, radioCheckSteps: 3 },
  pace: { primary: "a", alternate: "b", contingent: "c", emergency: "d" },
};

const cli: RuntimeTools = {
  names: {
    read: ["Read"],
    search: ["Glob", "Grep"],
    edit: ["Edit", "Write"],
    shell: ["Bash"],
    web: ["WebFetch"],
    subagent: ["Task"],
    "ask-user": ["AskUserQuestion"],
  },
  canDeny: true,
  permissionModes: ["default", "acceptEdits"],
};

const never = ["AskUserQuestion", "Task"];
const policies: [why: string, role: Partial<Role>, expected: { allow: string[]; deny: string[] }][] = [
  ["kinds become the runtime's own names", {}, { allow: ["Bash", "Edit", "Read", "Write"], deny: never }],
  [
    "SCOPE-1: a read-only role has its editing tools denied, whatever it allows",
    { readOnly: true },
    { allow: ["Bash", "Read"], deny: ["AskUserQuestion", "Edit", "Task", "Write"] },
  ],
  [
    "sub-agents and dialogs of the CLI stay denied even when a role allows them",
    { tools: { allow: ["read", "subagent", "ask-user"], deny: [] } },
    { allow: ["Read"], deny: never },
  ],
  [
    "a tool's own name passes through",
    { tools: { allow: ["mcp__db__query"], deny: [] } },
    { allow: ["mcp__db__query"], deny: never },
  ],
  [
    "deny wins over allow",
    { tools: { allow: ["read", "shell"], deny: ["Bash"] } },
    { allow: ["Read"], deny: ["AskUserQuestion", "Bash", "Task"] },
  ],
];
test.each(policies)("AGENT-2: %s", (_why, change, expected) => {
  const { allow, deny, unmet } = toolsFor({ ...builder, ...change }, cli);
  expect({ allow: [...allow], deny: [...deny] }).toEqual(expected);
  expect(unmet).toEqual([]);
});

const unmetCases: [why: string, role: Partial<Role>, runtime: Partial<RuntimeTools>, mentions: string][] = [
  ["a permission mode the runtime lacks", { permissionMode: "plan" }, {}, '"plan"'],
  ["a runtime that can refuse nothing", { readOnly: true }, { canDeny: false }, "Edit"],
];
test.each(unmetCases)("RUN-2: %s is said, not swallowed", (_why, role, runtime, mentions) => {
  const { unmet } = toolsFor({ ...builder, ...role }, { ...cli, ...runtime });
  expect(unmet.join()).toContain(mentions);
});

test("SCOPE-1: no combination of lists lets a denied tool through", () => {
  const tools = fc.array(fc.constantFrom<string>(...TOOL_KINDS, "Bash", "Edit", "Read", "x"));
  fc.assert(
    fc.property(tools, tools, fc.boolean(), (allow, deny, readOnly) => {
      const policy = toolsFor({ ...builder, readOnly, tools: { allow, deny } }, cli);
      for (const tool of policy.deny) expect(policy.allow).not.toContain(tool);
      for (const tool of never) expect(policy.deny).toContain(tool);
      if (readOnly) expect(policy.allow).not.toContain("Edit");
    }),
  );
});

const spawns: [why: string, role: Partial<Role>, depth: number, maxDepth: number, allowed: boolean][] = [
  ["a lead under a person spawns", { canSpawn: true }, 0, 2, true],
  ["a lead at the last level does not", { canSpawn: true }, 1, 2, false],
  ["a builder never does", {}, 0, 9, false],
  ["a role's own limit is tighter", { canSpawn: true, maxDepth: 1 }, 0, 5, false],
  ["a role's own limit cannot widen the fleet's", { canSpawn: true, maxDepth: 9 }, 1, 2, false],
];
test.each(spawns)("SLING-2: %s", (_why, role, depth, maxDepth, allowed) => {
  expect(maySpawn({ ...builder, ...role }, { depth, maxDepth }).allowed).toBe(allowed);
});

test("AGENT-2: base constraints cannot be configured away, and a read-only role always says so", () => {
  const any = fc.subarray(Object.keys(CONSTRAINTS) as Constraint[]);
  fc.assert(
    fc.property(any, fc.boolean(), (constraints, readOnly) => {
      const held = constraintsOf({ constraints, readOnly });
      for (const base of BASE_CONSTRAINTS) expect(held.includes(base)).toBe(!(readOnly && base === "file-scope"));
      if (readOnly) expect(held).toContain("read-only");
      expect(new Set(held).size).toBe(held.length);
    }),
  );
});

test("AGENT-2: a role is found by its name, or by a word only it offers", () => {
  const scout: Role = { ...builder, capability: "scout", capabilities: ["explore", "fix"] };
  const roles = new Map([builder, scout].map((role) => [role.capability, role]));
  expect(matchRole(roles, "scout")).toEqual({ kind: "found", role: scout });
  expect(matchRole(roles, "implement")).toEqual({ kind: "found", role: builder });
  expect(matchRole(roles, "fix")).toEqual({ kind: "several", capabilities: ["builder", "scout"] });
  expect(matchRole(roles, "paint")).toEqual({ kind: "none" });
});
