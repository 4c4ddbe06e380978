/** The settings of the scripted agent where it speaks its second dialect: listeners by event, each with one command. */
import { shellWord } from "#domain/core/shell-words.ts";
import { listWritingTools } from "#domain/core/tools.ts";
import { HOOK_MOMENTS, PERMIT_GONE } from "#domain/permit/hook-moments.ts";
import { type HookTrial, type HookWiring, STARTED_AS, TAKE_THE_REST } from "#runtimes/hook-dialect.ts";
import { PLAIN, PLAIN_EVENTS, PLAIN_HOOKS, PLAIN_TOOLS } from "./plain.ts";

export interface PlainListener {
  readonly run: string;
  /** Only for these tools; all where there is no list. */
  readonly tools?: readonly string[];
  readonly seconds?: number;
  /** What it cannot answer does not happen. */
  readonly strict?: boolean;
}

export interface PlainSettings {
  readonly listeners: Readonly<Record<string, readonly PlainListener[]>>;
}

export function plainSettings({ hookCommand, permitCommand, userHooks, judgesEveryTool }: HookWiring): PlainSettings {
  const listeners: Record<string, PlainListener[]> = {};
  for (const moment of HOOK_MOMENTS) {
    const event = PLAIN_EVENTS[moment];
    if (event === undefined) continue;
    const own = userHooks.filter((hook) => hook.event === moment);
    listeners[event] = [
      { run: `${STARTED_AS} ${hookCommand} ${moment} ${PLAIN} 2>/dev/null || ${TAKE_THE_REST} || true`, seconds: 5 },
      ...own.map(({ command, matcher }) => ({
        run: command,
        ...(matcher === null ? {} : { tools: matcher.split("|") }),
      })),
    ];
  }
  const gone = shellWord(PLAIN_HOOKS.deny(PERMIT_GONE));
  const run = `${STARTED_AS} ${permitCommand} ${PLAIN} 2>/dev/null || { ${TAKE_THE_REST}; printf %s ${gone}; }`;
  listeners[ASK]?.unshift({
    ...{ run, seconds: 20, strict: true },
    ...(judgesEveryTool ? {} : { tools: listWritingTools(PLAIN_TOOLS) }),
  });
  return { listeners };
}

const ASK = PLAIN_EVENTS.PreToolUse ?? "";
const NOTE = PLAIN_EVENTS.Notification ?? "";

export function plainTrial(text: string, path: string): HookTrial {
  const { listeners } = JSON.parse(text) as PlainSettings;
  const step = { key: "doctor", name: "put", with: { target: path, body: "" } };
  return {
    recording: {
      command: listeners[NOTE]?.[0]?.run ?? "",
      payload: { what: NOTE, chat: "doctor", words: "Tried out by doctor." },
    },
    permit: { command: listeners[ASK]?.find(({ strict }) => strict)?.run ?? "", payload: { what: ASK, step } },
    harmless: { what: ASK, step: { key: "", name: "sh", with: { line: "true" } } },
    refusalIn(printed) {
      if (printed.trim() === "") return null;
      const { allow, say } = JSON.parse(printed) as { allow?: boolean; say?: string };
      return allow === false ? (say ?? "") : null;
    },
  };
}
