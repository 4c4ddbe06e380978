import { expect, test } from "bun:test";
import { judgeEnvironment } from "./environment.ts";

const judge = (set: string[], passed: string[] = ["PATH"]) =>
  judgeEnvironment({ set, passed, isOfCli: (name) => name.startsWith("ANTHROPIC_") });

test("what is set for the CLI or the network and not passed is named, and how to pass it", () => {
  const names = ["ANTHROPIC_BASE_URL", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS", "AWS_PROFILE", "no_proxy"];
  const { ok, detail } = judge([...names, "EDITOR", "PATH"]);
  expect(ok).toBe(true);
  for (const name of names) expect(detail).toContain(name);
  expect(detail).not.toContain("EDITOR");
  expect(detail).toContain("agents.passEnv");
});

test("what is passed is listed and not named as missing", () => {
  const { detail } = judge(["ANTHROPIC_BASE_URL", "PATH"], ["PATH", "ANTHROPIC_BASE_URL"]);
  expect(detail).toStartWith("nothing is set here");
  expect(detail).toContain("agents get ANTHROPIC_BASE_URL, PATH");
});
