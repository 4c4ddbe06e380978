import { expect, test } from "bun:test";
import fc from "fast-check";
import { anyText } from "../../../test/support/any-text.ts";
import { filesNamedBy } from "./check-files.ts";

const ROWS: [command: string, has: string[], hasNot?: string[]][] = [
  ["sh check.sh", ["check.sh"]],
  ["./check.sh --all", ["check.sh"]],
  ["node scripts/test.mjs && npm test", ["scripts/test.mjs"]],
  ["CI=1 timeout 60 bash ./ci/run.sh | tee /tmp/log", ["ci/run.sh"], ["/tmp/log", "tmp/log"]],
  ["cd packages/a && sh ../../check.sh && node ./t.mjs", ["check.sh", "packages/a/t.mjs"], ["t.mjs"]],
  ["sh -c 'sh check.sh -q'", ["check.sh"]],
  ["vitest --config=vitest.config.ts", ["vitest.config.ts"]],
  ["python3 < checks/all.py", ["checks/all.py"]],
  ['sh "check me.sh"', ["check me.sh"]],
  ["sh $CHECK; sh *.sh; sh ../outside.sh; sh /etc/x.sh", [], ["$CHECK", "*.sh", "outside.sh", "etc/x.sh"]],
  ["test -s hello.txt && [ -f b.txt ]", [], ["hello.txt", "b.txt"]],
  ["echo '# check.sh' # sh other.sh", [], ["other.sh"]],
];
test.each(ROWS)("MERGE-4: what %s names", (command, has, hasNot = []) => {
  const found = filesNamedBy(command);
  expect(found).toEqual(expect.arrayContaining(has));
  for (const one of hasNot) expect(found).not.toContain(one);
});

test("MERGE-4: never throws, and names nothing outside of the repository", () => {
  fc.assert(
    fc.property(anyText(), (command) => {
      for (const path of filesNamedBy(command)) expect(path).not.toMatch(/^\/|(?:^|\/)\.\.(?:\/|$)/);
    }),
  );
});
