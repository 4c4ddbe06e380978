import { expect, test } from "bun:test";
import { explainKey } from "./explain.ts";
import { noticesOf } from "./load.ts";
import { featureNotBuilt } from "./not-built.ts";
import { exampleYaml } from "./render.ts";

const notices = (text: string) => noticesOf({ text, path: "config.yaml" });

test("CONF-1: keys that nothing reads yet are named when they are set, one sentence for each feature", async () => {
  expect(
    await notices("sync:\n  enabled: true\n  rate: {max: 3}\nbeads: {enabled: true}\nguard: {heartbeatTimeout: 40s}\n"),
  ).toEqual(["beads.enabled changes nothing: the beads tracker is not built yet."]);
});

test("CONF-1: nothing is said about keys that are read, nor about an empty heading", async () => {
  expect(await notices("sync:\nrecovery: {silentAfter: 7m}\n")).toEqual([]);
  expect(await noticesOf({ path: "config.yaml" })).toEqual([]);
});

test("CONF-1: such a key says so when it is explained, and in the example file", () => {
  expect(explainKey("beads.enabled").notBuilt).toBe(
    "Not built yet: it belongs to the beads tracker, and setting it changes nothing.",
  );
  expect(explainKey("agents.maxConcurrent").notBuilt).toBeUndefined();
  expect(exampleYaml()).toContain("Not built yet (the beads tracker).");
});

test("a group that is not built holds for all keys below it", () => {
  expect(featureNotBuilt("beads.whatever")).toBe("the beads tracker");
  expect(featureNotBuilt("recovery.deadAfter")).toBeUndefined();
});
