/** What hooks of an agent on its own screen tell, where it is not what it seems: one row each. */
import { expect, test } from "bun:test";
import { CLAUDE_HOOKS } from "./claude-code/hooks.ts";
import { hookSignals, stepSignals } from "./hook-signals.ts";

const AT = Date.UTC(2026, 10, 18, 12, 0);
const stop = (text: string) =>
  hookSignals(CLAUDE_HOOKS, {
    moment: "Stop",
    payload: { session_id: "s", prompt_id: "p1", last_assistant_message: text },
    at: AT,
    id: "h1",
    interactive: true,
  });

test("QUOTA-1: a turn that ends with the CLI's own words has failed, with its cause and when its limit ends", () => {
  expect(stop("You've hit your session limit · resets 7:20pm (UTC)")).toMatchObject([
    { kind: "api.failed", source: "p1", data: { cause: "quota", resetsAt: Date.UTC(2026, 10, 18, 19, 20) } },
    { kind: "turn.ended", source: "p1", data: { ok: false, reason: "api_error" } },
  ]);
  expect(stop("Please run /login")).toMatchObject([{ data: { cause: "auth" } }, { data: { ok: false } }]);
  expect(stop("All done.")).toMatchObject([{ kind: "turn.ended", data: { ok: true } }]);
});

test("ANOM-2: a call that was cancelled with its sibling is told as such at the end of a step", () => {
  const call = (id: string, response: string) => ({
    ...{ tool_use_id: id, tool_name: "Bash", tool_input: { command: "ls" }, tool_response: response },
  });
  const payload = {
    session_id: "s",
    tool_calls: [
      call("a", "Exit code 1\nno"),
      call("b", "<tool_use_error>Sibling tool call errored</tool_use_error>"),
      call("c", "Cancelled: parallel tool call Bash(ls) errored"),
    ],
  };
  const ended = stepSignals(CLAUDE_HOOKS, CLAUDE_HOOKS.read(payload), AT).filter(({ kind }) => kind === "tool.ended");
  expect(ended.map(({ data }) => "errorClass" in data && data.errorClass)).toEqual([
    "exit-1",
    "cancelled",
    "cancelled",
  ]);
});
