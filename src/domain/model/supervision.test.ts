/** Who is exempt from what, and by whose word. */
import { expect, test } from "bun:test";
import {
  describeExemption,
  type Exemptions,
  isSpared,
  isSupervised,
  listSlungExemptions,
  resolveExemptions,
} from "./supervision.ts";

type Said = Parameters<typeof resolveExemptions>[0];
const ON = { enabled: true, nudge: true };

test.each<[string, Said, Exemptions | undefined]>([
  ["nobody says anything", {}, undefined],
  ["the role leaves all of it on", { role: ON }, undefined],
  ["the role wants no nudges", { role: { ...ON, nudge: false } }, { nudges: "role" }],
  ["the node says more than its role", { role: ON, node: { enabled: false } }, { supervision: "node" }],
  ["the node takes back what its role says", { role: { ...ON, nudge: false }, node: { nudge: true } }, undefined],
  ["whoever slings it has the last word", { role: ON, node: ON, sling: { nudge: false } }, { nudges: "sling" }],
  [
    "each for itself",
    { role: { ...ON, nudge: false }, sling: { enabled: false } },
    { supervision: "sling", nudges: "role" },
  ],
])("HEALTH-4: exemptions are resolved from role, node and command: %s", (_what, said, expected) => {
  expect(resolveExemptions(said)).toEqual(expected);
});

test("HEALTH-4: without supervision nothing is said to it either; a restart takes over what it was slung with", () => {
  expect([isSupervised({}), isSpared({})]).toEqual([true, false]);
  expect([isSupervised({ exempt: { nudges: "role" } }), isSpared({ exempt: { nudges: "role" } })]).toEqual([
    true,
    true,
  ]);
  expect([isSupervised({ exempt: { supervision: "node" } }), isSpared({ exempt: { supervision: "node" } })]).toEqual([
    false,
    true,
  ]);
  expect(listSlungExemptions({ exempt: { supervision: "sling", nudges: "role" } })).toEqual({ enabled: false });
  expect(describeExemption({ exempt: { supervision: "sling", nudges: "role" } })).toBe(
    "not supervised: it was slung so",
  );
  expect(describeExemption({ exempt: { nudges: "role" } })).toBe("not nudged: its role says so");
  expect(describeExemption({})).toBeUndefined();
});
