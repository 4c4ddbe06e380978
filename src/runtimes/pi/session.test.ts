/** What only pi's sessions have: an answer that failed, after which it tries again by itself. */
import { expect, test } from "bun:test";
import { readTraces } from "../../../test/support/traces.ts";

test("QUOTA-1: a request that failed is a failure of the provider also where pi goes on by itself", () => {
  const entry = (id: string, message: object) => ({
    ...{ type: "message", id, parentId: null, timestamp: "2026-01-02T03:04:05.000Z" },
    message,
  });
  const failed = { role: "assistant", content: [], stopReason: "error", errorMessage: "Request timed out." };
  const call = { type: "toolCall", id: "t1", name: "bash", arguments: { command: "ls" } };
  const text = [
    { type: "session", id: "s", cwd: "/repo", timestamp: "2026-01-02T03:04:05.000Z" },
    entry("m1", { role: "user", content: "Look" }),
    entry("m2", failed),
    entry("m3", failed),
    entry("m4", { role: "assistant", content: [call], stopReason: "toolUse" }),
  ];
  const [trace] = readTraces("file", text.map((line) => JSON.stringify(line)).join("\n"));
  const said = (trace?.signals ?? []).flatMap((signal) =>
    signal.kind === "api.failed" ? [signal.data.cause] : signal.kind === "notified" ? ["goes on"] : [],
  );
  expect(said).toEqual(["network", "goes on", "network", "goes on"]);
});
