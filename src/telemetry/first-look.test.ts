import { describe, expect, test } from "bun:test";
import { PLANTED_SECRETS } from "../../test/support/secrets.ts";
import { ANYWHERE, BESIDE_LONG_RUN, isWorthALook, LONG_RUN, PORTS_BEGIN } from "./first-look.ts";
import { PLACES } from "./secret-places.ts";
import { VENDORS } from "./secret-shapes.ts";

/** A hint that wants so many characters in a row, none of them outside `[\w-]`; a word in front of them counts too. */
const WANTS_RUN = /([a-z]*)\[(?:\\w-|A-Za-z0-9|A-Z0-9|a-f0-9|0-9a-f)\]\{(\d+)/;
const wantsRun = (hint: string | undefined) => {
  const [, before = "", count = 0] = WANTS_RUN.exec(hint ?? "") ?? [];
  return before.length + Number(count) >= LONG_RUN;
};

describe("the first look", () => {
  test("STORE-7: knows a word of every pattern, and only patterns that want a long run are held to one", () => {
    for (const { hint, markers } of [...VENDORS, ...PLACES]) {
      const list = wantsRun(hint) ? [...BESIDE_LONG_RUN, ...ANYWHERE] : ANYWHERE;
      for (const word of markers) {
        if (word !== ":") expect(list).toContain(word.toLowerCase());
        // The only pattern with a marker as common as that wants a port behind it.
        else expect(hint).toStartWith(`:(?:\\${PORTS_BEGIN[0]}|[${PORTS_BEGIN.slice(1)}]`);
      }
    }
  });

  test.each(["GITHUB_PAT=x", '{"my_pat":"x"}', "db:5432:name:user:x", "db:*:name:user:x", "patABCDEFGHIJKLMN.0"])(
    "STORE-7: looks closer at %s",
    (text) => {
      expect(isWorthALook(text)).toBe(true);
    },
  );

  test("STORE-7: lets every planted secret through", () => {
    for (const { text } of PLANTED_SECRETS) expect(isWorthALook(text)).toBe(true);
  });

  test.each([
    "Claude is waiting for your input",
    "auto",
    "idle_prompt",
    "session.opened",
    "hmhv3x2ab.1f3.x9k2ab",
    '{"file_path":"src/a.ts","content":"x"}',
  ])("spends nothing on %s", (text) => {
    expect(isWorthALook(text)).toBe(false);
  });
});
