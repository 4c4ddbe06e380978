/** Tells people what the guard did or could not do, by the channels they configured; what came of it is never an error. */
import type { NewsNotice } from "#channels/channel.ts";
import { CHANNELS } from "#channels/list.ts";
import { listRecipients } from "#channels/recipients.ts";
import { messageOf } from "#errors.ts";
import { nameOf } from "#sys/paths.ts";
import { redact } from "#telemetry/redact.ts";
import type { GuardPorts } from "./ports.ts";
import type { GuardSettings } from "./settings.ts";

/** Answers why somebody was not reached, a sentence each. */
export async function tellGuardNews(ports: GuardPorts, settings: GuardSettings, text: string): Promise<string[]> {
  const { channels, passEnv } = settings;
  if (channels === null) return [];
  const at = ports.clock.now();
  const said = redact(text);
  const project = settings.project ?? nameOf(ports.root.project);
  const kept = { topic: "daemon", subject: "guard", texts: [said], count: 1, sinceAt: at, urgent: true } as const;
  const notice: NewsNotice = {
    type: "news",
    key: `guard-${at}`,
    project,
    title: "the guard",
    text: said,
    news: [kept],
  };
  const names = new Set([...PASSED, ...passEnv]);
  const programEnv = Object.fromEntries(Object.entries(ports.env).filter(([name]) => names.has(name)));
  const { root, env, clock, ids, files, exec } = ports;
  const parts = {
    root,
    env,
    programEnv,
    timeoutMs: channels.timeout,
    clock,
    ids,
    files,
    exec,
    post: async () => false,
  };
  const failed: string[] = [];
  for (const { name, via, to, hears } of listRecipients(channels)) {
    const channel = CHANNELS.find(({ kind }) => kind === via);
    if (!channel || !hears.has("daemon")) continue;
    try {
      const { ok, detail } = await channel.send(notice, to, parts);
      if (!ok) failed.push(`${name} was not reached: ${detail}`);
    } catch (error) {
      failed.push(`${name} was not reached: ${messageOf(error)}`);
    }
  }
  return failed;
}

/** What a program that the settings name may know of our environment. */
const PASSED = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "TERM",
  "TMPDIR",
  "DISPLAY",
  "DBUS_SESSION_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
];
