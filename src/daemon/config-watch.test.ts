import { expect, test } from "bun:test";
import { parseConfig } from "#config/load.ts";
import { ConfigWatch } from "./config-watch.ts";

function watched(first: string) {
  let text: string | undefined = first;
  const watch = new ConfigWatch({ config: parseConfig(first, "c.yaml"), text: first, path: "c.yaml" }, () => text);
  const write = (next: string | undefined) => {
    text = next;
  };
  return { watch, write };
}

test("CONF-2: an untouched file is no news", () => {
  const { watch } = watched("agents: {maxConcurrent: 3}\n");
  expect(watch.look()).toEqual({ kind: "same" });
});

test("CONF-2: a valid change takes effect once, with what differs", () => {
  const { watch, write } = watched("");
  write("agents: {maxConcurrent: 3}\n");
  expect(watch.look()).toMatchObject({ kind: "changed", changes: [{ key: "agents.maxConcurrent", from: 5, to: 3 }] });
  expect(watch.current.agents.maxConcurrent).toBe(3);
  expect(watch.look()).toEqual({ kind: "same" });
});

test("CONF-2: an invalid one is told once and keeps the old; mending it ends the problem", () => {
  const { watch, write } = watched("agents: {maxConcurrent: 3}\n");
  write("agents: {maxConcurent: 4}\n");
  expect(watch.look()).toMatchObject({ kind: "refused" });
  expect(watch.look()).toEqual({ kind: "same" });
  expect(watch.problem).toContain("maxConcurent");
  expect(watch.current.agents.maxConcurrent).toBe(3);
  write("agents: {maxConcurrent: 3}\n# as before\n");
  expect(watch.look()).toEqual({ kind: "same" });
  expect(watch.problem).toBeNull();
});

test("CONF-2: a file that is gone means the defaults", () => {
  const { watch, write } = watched("agents: {maxConcurrent: 3}\n");
  write(undefined);
  expect(watch.look()).toMatchObject({ kind: "changed" });
  expect(watch.current.agents.maxConcurrent).toBe(5);
});
