import { expect, test } from "bun:test";
import type { Discovery, Overheard } from "./extract.ts";
import { listen, NEW_EAR } from "./extract.ts";

type Step = readonly [command: string, ok: boolean, result?: string] | "edit";

function hear(steps: readonly Step[]): Discovery[] {
  let ear = NEW_EAR;
  return steps.flatMap((step, index) => {
    const call = { kind: "call", at: index * 1_000, id: `c${index}`, tool: "Bash" } as const;
    const heard: Overheard =
      step === "edit"
        ? { ...call, does: "edit", args: "{}", ok: true, result: "" }
        : { ...call, does: "shell", args: JSON.stringify({ command: step[0] }), ok: step[1], result: step[2] ?? "" };
    const next = listen(ear, heard);
    ear = next.ear;
    return next.found;
  });
}

function scoreOf(...steps: readonly Step[]): number {
  return Math.max(0, ...hear(steps).map(({ score }) => score));
}

const REFUSED = "Error: connect ECONNREFUSED 127.0.0.1:5432";
const ASSERTED = "AssertionError: expected 1 to equal 2";

test.each<[string, readonly Step[]]>([
  [
    "a variable more",
    [
      ["npm test", false, REFUSED],
      ["DB=memory npm test", true],
    ],
  ],
  [
    "an exported variable",
    [
      ["npm test", false, REFUSED],
      ["export DB=memory && npm test | tail -3", true],
    ],
  ],
  [
    "a flag more",
    [
      ["npm test", false, REFUSED],
      ["npm test --db=memory", true],
    ],
  ],
  [
    "another command before it",
    [
      ["npm test", false, REFUSED],
      ["docker compose up -d db && npm test", true],
    ],
  ],
  [
    "the same again after another command",
    [
      ["npm test", false, REFUSED],
      ["docker compose up -d db", true],
      ["npm test", true],
    ],
  ],
  [
    "through another program",
    [
      ["pytest -q", false, "No module named app"],
      ["poetry run pytest -q", true],
    ],
  ],
  [
    "another package manager",
    [
      ["npm install", false, "Unsupported URL Type"],
      ["pnpm install", true],
    ],
  ],
  ["what the failure named", [["make x", false, "stale. Run `make gen` first."], "edit", ["make gen && make x", true]]],
  [
    "a message that a hook wants",
    [
      ["git commit -m a", false, "commit-msg hook: must match"],
      ["git commit -m 'fix: a'", true],
    ],
  ],
])("SYNC-1: a failure that ends by %s is a discovery", (_, steps) => {
  expect(scoreOf(...steps)).toBeGreaterThanOrEqual(0.5);
});

test.each<[string, readonly Step[]]>([
  [
    "by itself",
    [
      ["npm test", false, REFUSED],
      ["npm test", true],
    ],
  ],
  ["by a change of the agent's own code", [["npm test", false, ASSERTED], "edit", ["npm test --db=memory", true]]],
  [
    "by sed, which is a change too",
    [
      ["npm test", false, ASSERTED],
      ["sed -i s/1/2/ a.ts && npm test --db=x", true],
    ],
  ],
  [
    "by fewer targets",
    [
      ["npm test", false, ASSERTED],
      ["npm test -- a.test.ts", true],
    ],
  ],
  [
    "by clearing up",
    [
      ["npm test", false, ASSERTED],
      ["rm -rf .cache && npm test", true],
    ],
  ],
  [
    "by a package that its own code wants",
    [
      ["node a.js", false, "Cannot find package 'x'"],
      ["npm install x", true],
      ["node a.js", true],
    ],
  ],
  [
    "after it was denied",
    [
      ["sudo npm i", false, "Permission to use Bash has been denied."],
      ["npm i --prefix x", true],
    ],
  ],
  [
    "only in words",
    [
      ["npm test", false, REFUSED],
      ["npm test --db=memory | tail -3", true, "3 failed, 1 passed"],
    ],
  ],
])("SYNC-1, EDGE-4: a failure that ends %s is none", (_, steps) => {
  expect(scoreOf(...steps)).toBe(0);
});

test("SYNC-1: what was tried before and failed too is no remedy", () => {
  const tries: Step[] = [
    ["npm test", false, REFUSED],
    ["npm test --retry", false, REFUSED],
  ];
  expect(scoreOf(...tries, ["npm test --retry", true])).toBe(0);
});

test.each([
  ["CONFIG='a; b c' npm run lint", "`CONFIG='a; b c' npm run lint` works"],
  ["sh -c 'cd build && rm -rf *' && npm run lint", "`sh -c 'cd build && rm -rf *' && npm run lint` works"],
  ["npm run lint --config x > out.txt 2>&1 | tail -3", "`npm run lint --config x > out.txt` works"],
])("SYNC-1, EDGE-11: the remedy %j is told as it was typed, without what only shortens", (command, told) => {
  expect(remedyOf(command)?.text).toContain(told);
});

test.each(["CONFIG=1 npm run lint\nrm -rf *", "CONFIG=`cat x` npm run lint", `CONFIG=${"x".repeat(400)} npm run lint`])(
  "SYNC-1, EDGE-11: a remedy that cannot be told unchanged is not told: %j",
  (command) => {
    expect(remedyOf(command)).toBeUndefined();
  },
);

test("SYNC-1: where another command made it work, that one is the remedy", () => {
  const steps: Step[] = [
    ["make all", false, "database does not exist"],
    ["make db", true],
    ["make all", true],
  ];
  expect(hear(steps)[0]).toMatchObject({ fix: "make db", text: expect.stringContaining("it works after `make db`") });
});

function remedyOf(command: string) {
  return hear([
    ["npm run lint", false, "Error: CONFIG is not set"],
    [command, true],
  ])[0];
}
