/** The scripted agent's side of its second dialect (plain.ts): what it says to hooks, and how it takes their answers. */

import type { HookTable, HookVerdict, Speech } from "./hooks.ts";
import { PLAIN_EVENTS } from "./plain.ts";
import type { PlainSettings } from "./plain-settings.ts";

const TOOLS: Readonly<Record<string, readonly [name: string, inputs: Readonly<Record<string, string>>]>> = {
  Bash: ["sh", { command: "line" }],
  Read: ["view", { file_path: "target" }],
  Write: ["put", { file_path: "target", content: "body" }],
  Edit: ["change", { file_path: "target", old_string: "from", new_string: "to" }],
};

export const PLAIN_SPEECH: Speech = {
  tool(name, input) {
    const [said = name, inputs = {}] = TOOLS[name] ?? [];
    return {
      name: said,
      input: Object.fromEntries(Object.entries(input).map(([key, value]) => [inputs[key] ?? key, value])),
    };
  },
  read: (settings) => readListeners(settings as Partial<PlainSettings>),
  payload(event, common, fields) {
    const { tool_calls: calls, tool_name: name } = fields;
    return {
      what: PLAIN_EVENTS[event],
      chat: common.session_id,
      where: common.cwd,
      ...(name === undefined ? {} : { step: toStep(fields) }),
      ...(Array.isArray(calls) ? { steps: calls.map(toStep) } : {}),
      words: fields.prompt ?? fields.last_assistant_message,
      why: fields.source ?? fields.reason ?? (typeof fields.error === "string" ? fields.error : undefined),
    };
  },
  verdict(label, { allow, say, again }): HookVerdict {
    const blocked = allow === false ? String(say ?? "no reason given") : typeof again === "string" ? again : undefined;
    const told = blocked === undefined && typeof say === "string" ? [`${label} says: ${say}`] : [];
    return { blocked, stopped: false, context: told, updatedInput: undefined };
  },
};

function readListeners({ listeners = {} }: Partial<PlainSettings>): HookTable {
  const table: [string, ReturnType<HookTable["get"]>][] = Object.entries(PLAIN_EVENTS).map(([moment, event]) => [
    moment,
    (listeners[event] ?? []).map(({ run, tools, seconds = 60, strict = false }) => ({
      matcher: (tools ?? []).join("|"),
      hooks: [{ command: run, timeoutMs: seconds * 1000, failsClosed: strict, background: false }],
    })),
  ]);
  return new Map(table.flatMap(([moment, groups]) => (groups?.length ? [[moment, groups] as const] : [])));
}

function toStep(call: Readonly<Record<string, unknown>>): object {
  const failed = typeof call.error === "string" ? call.error : undefined;
  const text = failed ?? call.tool_response;
  const outcome = text === undefined ? {} : { outcome: { ok: failed === undefined, text, ms: call.duration_ms } };
  return { key: call.tool_use_id, name: call.tool_name, with: call.tool_input, ...outcome };
}
