/** `overseer lead …`: your own session leads the fleet; said for this repository, and taken back as a whole. */
import { existsSync } from "node:fs";
import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inertLines } from "#cli/text.ts";
import {
  answerLeadHook,
  LEAD_MOMENTS,
  type LeadMoment,
  type LeadPayload,
  readLead,
  switchLead,
} from "#control/lead.ts";
import { presentPlain } from "#control/present.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import { placeOfProgram } from "#sys/self.ts";

const on: Command<Parts> = {
  name: "on",
  summary: "Let your own sessions lead in this repository.",
  details:
    "A Claude Code session with Overseer's plugin is then told at its start where the fleet stands, gets letters (questions, outcomes, alarms) with your next prompt, and has the tools of 'overseer mcp'. Of several open sessions one leads. Nothing is written into your settings.",
  async run(call, parts) {
    const changed = await switchLead(await parts.world(), true);
    if (call.json) return call.out.json(presentPlain({ on: true, changed }));
    call.out.line(changed ? "Your own sessions lead here from now on." : "Your own sessions lead here already.");
    for (const line of pluginLines(parts)) call.out.remark(line);
  },
};

const off: Command<Parts> = {
  name: "off",
  summary: "Let no session of yours lead here any more.",
  details:
    "Hooks of the plugin do nothing here again, its tools are gone with the next session, and unseen letters of Overseer's go. Mail from agents stays.",
  async run(call, parts) {
    const changed = await switchLead(await parts.world(), false);
    if (call.json) return call.out.json(presentPlain({ on: false, changed }));
    call.out.line(changed ? "No session leads here any more." : "No session leads here.");
  },
};

const status: Command<Parts> = {
  name: "status",
  summary: "Show whether sessions lead here, which one does, and what waits for it.",
  async run(call, parts) {
    const { on: isOn, since, session, waiting, failure } = await readLead(await parts.world());
    if (call.json) {
      const at = since === null ? null : isoTime(since);
      const failed = failure && { ...failure, at: isoTime(failure.at) };
      return call.out.json(presentPlain({ on: isOn, since: at, session, waiting, failure: failed }));
    }
    if (!isOn) return call.out.line("No session leads here; 'overseer lead on' lets yours.");
    call.out.line(session === null ? "Your sessions may lead here; none is open." : `Session ${session} leads here.`);
    call.out.line(waiting === 1 ? "1 letter waits for it." : `${waiting} letters wait for it.`);
    if (failure) {
      call.out.line(`Its hook ${failure.moment} failed at ${isoTime(failure.at)}: ${inertLines(failure.problem)}`);
    }
  },
};

const snippet: Command<Parts> = {
  name: "snippet",
  summary: "Print what Codex and other CLIs need, to be pasted.",
  async run(call, parts) {
    const program = `${placeOfProgram(parts.program)}/overseer`;
    const text = snippetFor(program);
    if (call.json) return call.out.json(presentPlain({ text }));
    for (const line of text.split("\n")) call.out.line(line);
  },
};

const hook: Command<Parts> = {
  name: "hook",
  summary: "Answer a hook of the plugin; for its settings.",
  args: [{ name: "event", summary: "The moment of the session.", choices: LEAD_MOMENTS }],
  async run(call, parts) {
    const payload = readPayload(await parts.readText("-"));
    if (!payload) return;
    const said = await answerLeadHook(await parts.world(), call.arg("event") as LeadMoment, payload);
    if (said !== undefined) call.out.line(said);
  },
};

const command: Command<Parts> = {
  name: "lead",
  summary: "Lead the fleet from your own session.",
  subcommands: [on, off, status, snippet, hook],
  otherwise: "status",
};

function pluginLines({ program }: Parts): readonly string[] {
  const home = placeOfProgram(program).replace(/\/bin$/, "");
  if (!existsSync(`${home}/plugin`)) return ["Claude Code needs Overseer's plugin for it: docs/lead.md says how."];
  return [
    "Claude Code needs Overseer's plugin for it, once:",
    `  claude plugin marketplace add ${home}`,
    "  claude plugin install overseer@overseer",
    `or for one session: claude --plugin-dir ${home}/plugin`,
    "Other CLIs: overseer lead snippet",
  ];
}

/** Pasted by hand: what others keep in their own files is theirs. */
function snippetFor(program: string): string {
  return `# In AGENTS.md (or whatever your CLI reads)

## Overseer

This repository has a fleet of coding agents, run by Overseer, and this session may lead it as \`orchestrator\`.
- Where things stand: the overseer tools \`status\` and \`report\`, or \`overseer prime\`.
- Hand out work: \`sling\` (one agent) or \`do\` (a model plans it, \`plan\` accepts it). \`up\` starts the daemon, without which nothing moves.
- At the beginning of each turn look for letters with \`mail\` (check, read): questions, outcomes, alarms.
- Answer questions with \`answer\`; what is reported done, look at with \`review\` and land with \`accept\`, or send back with \`reject\`.
- Answer, land and stop only what the user would want you to.

# In ~/.codex/config.toml (or: codex mcp add overseer -- ${program} mcp)

[mcp_servers.overseer]
command = ${JSON.stringify(program)}
args = ["mcp"]

# For CLIs with a JSON configuration

${JSON.stringify({ mcpServers: { overseer: { command: program, args: ["mcp"] } } }, null, 2)}`;
}

/** Undefined for anything that is no session's word. */
function readPayload(text: string): LeadPayload | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { session_id: session, transcript_path: transcript, source } = value as Record<string, unknown>;
  if (typeof session !== "string" || !/^[\w.-]{1,200}$/.test(session)) return undefined;
  return {
    session,
    transcript: typeof transcript === "string" && /^\/[^\0]{1,4095}$/.test(transcript) ? transcript : "",
    source: typeof source === "string" ? source : "",
  };
}

export default command;
