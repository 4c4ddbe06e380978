import { expect, test } from "bun:test";
import { traceParentOf } from "#domain/trace/span.ts";
import { agentEnvironment } from "./attempt-files.ts";

const marks = {
  traceParent: null,
  root: "/r",
  worktree: "/r/.overseer/worktrees/bob-1",
  agent: "ann lee",
  attempt: 7,
  role: "builder",
  mark: "m",
  token: "ovtk_1",
  socket: null,
  program: "/opt/overseer/bin",
};
const who = { name: "N", email: "e@example.invalid" };
const OTEL = {
  CLAUDE_CODE_ENABLE_TELEMETRY: "1",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318",
  OTEL_RESOURCE_ATTRIBUTES: "team=core",
};

test("OTEL-1: where its own spans belong is told to an agent's CLI where anything is traced", () => {
  expect(agentEnvironment({}, [], marks, who).TRACEPARENT).toBeUndefined();
  const traceParent = traceParentOf("goal_1", 7);
  expect(traceParent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  // A person's own one names a span of theirs, and none of this goal's.
  const env = agentEnvironment({ TRACEPARENT: "00-1" }, ["TRACEPARENT"], { ...marks, traceParent }, who);
  expect(env.TRACEPARENT).toBe(traceParent);
});

test("an agent's own telemetry is passed through when the configuration says so, and says who it is", () => {
  const env = agentEnvironment({ PATH: "/bin", ...OTEL }, Object.keys(OTEL), marks, who);
  expect(env).toMatchObject({
    ...OTEL,
    OTEL_RESOURCE_ATTRIBUTES: "team=core,gen_ai.agent.name=ann%20lee,overseer.attempt=7",
  });
});

test("without attributes of the person's, the agent's own are all there is", () => {
  const env = agentEnvironment(OTEL, ["CLAUDE_CODE_ENABLE_TELEMETRY"], marks, who);
  expect(env.OTEL_RESOURCE_ATTRIBUTES).toBe("gen_ai.agent.name=ann%20lee,overseer.attempt=7");
  expect(env.OTEL_EXPORTER_OTLP_ENDPOINT).toBeUndefined();
});

test("what is not passed is not there, nor marked", () => {
  const env = agentEnvironment({ PATH: "/bin", ...OTEL }, [], marks, who);
  expect(Object.keys(env).filter((name) => /OTEL|TELEMETRY/.test(name))).toEqual([]);
});

test("FENCE-1: an agent has its attempt's own secret, whatever the person's environment holds", () => {
  const person = { PATH: "/bin", OVERSEER_TOKEN: "ovtk_of_whoever_started_it" };
  expect(agentEnvironment(person, ["OVERSEER_TOKEN"], marks, who).OVERSEER_TOKEN).toBe("ovtk_1");
  expect(agentEnvironment(person, [], { ...marks, token: null, socket: null }, who).OVERSEER_TOKEN).toBeUndefined();
});

test("FAIL-11: git in a worktree that lost its .git does not find the user's checkout around it", () => {
  expect(agentEnvironment({ GIT_CEILING_DIRECTORIES: "/" }, ["GIT_CEILING_DIRECTORIES"], marks, who)).toMatchObject({
    GIT_CEILING_DIRECTORIES: "/r/.overseer/worktrees",
  });
});
