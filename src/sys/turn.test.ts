import { expect, test } from "bun:test";
import { inTurn } from "./turn.ts";

test("what is asked for under one key is done one after the other, also after a failure", async () => {
  const here = {};
  const seen: string[] = [];
  const work =
    (name: string, fails = false) =>
    async () => {
      seen.push(`${name} begins`);
      await Promise.resolve();
      if (fails) throw new Error(name);
      seen.push(`${name} ends`);
      return name;
    };
  const first = inTurn(here, "k", work("first"));
  const second = inTurn(here, "k", work("second", true));
  const third = inTurn(here, "k", work("third"));
  const apart = inTurn(here, "other", work("apart"));
  expect(await Promise.allSettled([first, second, third, apart])).toMatchObject([
    { value: "first" },
    { status: "rejected" },
    { value: "third" },
    { value: "apart" },
  ]);
  const inOrder = seen.filter((one) => !one.startsWith("apart"));
  expect(inOrder).toEqual(["first begins", "first ends", "second begins", "third begins", "third ends"]);
});
