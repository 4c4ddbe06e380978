/** `overseer work report`: what an agent says of its work, from flags or a file, in the fields of the update block. */
import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { presentReport } from "#control/present.ts";
import { report as takeReport } from "#control/reports.ts";
import { REPORT_STATUSES } from "#domain/model/protocol.ts";
import { BLOCKED_KINDS } from "#domain/model/work.ts";
import { messageOf, OverseerError } from "#errors.ts";

export const reportCommand: Command<Parts> = {
  name: "report",
  summary: "Report on your work (for agents).",
  details:
    "The node is your own unless you name a part of it. Fields you leave out keep their value. Done is a claim on a commit: Overseer checks and lands it. Blocked needs a reason, and a person is told.",
  args: [{ name: "node", summary: "T1.1, or goal_x/T1.1 where several goals have it.", optional: true }],
  options: [
    { name: "goal", value: "id", summary: "The goal the node belongs to." },
    { name: "status", value: "status", summary: "The state of the work.", choices: REPORT_STATUSES },
    { name: "summary", value: "text", summary: "What is now true that was not before." },
    { name: "state", value: "text", summary: "The current state, for whoever continues the work." },
    { name: "next", value: "text", summary: "The next concrete action, in order.", repeat: true },
    { name: "blocker", value: "text", summary: "What is in the way and what would clear it.", repeat: true },
    { name: "decision", value: "text", summary: 'A decision that was made: "this because that".', repeat: true },
    { name: "question", value: "text", summary: "What is still open.", repeat: true },
    { name: "ask", value: "text", summary: "What a person has to decide before you can continue." },
    { name: "option", value: "text", summary: "A possible answer to --ask.", repeat: true },
    { name: "kind", value: "kind", summary: "What kind of thing is in the way.", choices: BLOCKED_KINDS },
    { name: "needs", value: "text", summary: "What would clear it." },
    { name: "commit", value: "sha", summary: "The commit that holds the work; of several, the last.", repeat: true },
    { name: "file", value: "path", summary: "A file that was touched or read as evidence.", repeat: true },
    {
      name: "test",
      value: "text",
      summary: 'A command that was run, and its result: "bun test: 12 pass".',
      repeat: true,
    },
    { name: "command", value: "line", summary: "Another command that was run.", repeat: true },
    { name: "pr", value: "id", summary: "A pull request.", repeat: true },
    { name: "issue", value: "id", summary: "An issue.", repeat: true },
    { name: "ref", value: "text", summary: "Any other pointer.", repeat: true },
    { name: "no-changes", value: "reason", summary: "Done without a change, and why none was needed." },
    {
      name: "json-file",
      value: "file",
      summary: "All of it as JSON, in the fields of the update block; - is standard input.",
    },
  ],
  examples: [
    { line: 'overseer work report --status done --summary "ISO dates parse" --commit 3f2a1c9', why: "claim it" },
    {
      line: 'overseer work report --status blocked --blocker "no key for the mail API"',
      why: "say early what is in the way",
    },
  ],
  async run(call, parts) {
    const fields = await readReportFields(call, parts.readText);
    const reported = await takeReport(await parts.world(), fields);
    if (call.json) return call.out.json(presentReport(reported));
    call.out.line(
      `Reported ${reported.goalId}/${reported.workNodeId}${reported.status ? `: ${reported.status}` : ""}.`,
    );
    if (reported.claim) call.out.line(CLAIMS[reported.claim.kind]);
    if (reported.questionId)
      call.out.line(`A person is asked (${reported.questionId}); the answer comes as a message.`);
    if (!reported.changed) call.out.remark("The handoff says nothing new.");
  },
};

const CLAIMS = {
  claimed: "Your claim stands; Overseer checks the commit and lands it. You can end your turn.",
  standing: "The same was claimed before and still stands.",
  part: "It is a part of your task and is done when that has landed; report the task when all of it is.",
  fenced: "Your attempt has ended; this changed nothing.",
  no_changes: "Nothing was changed, so the work ended without a result.",
  done: "It is done.",
} as const;

/** Everything that was given, from the file and from the flags, which go first. */
export async function readReportFields(call: Call, readText: Parts["readText"]): Promise<Record<string, unknown>> {
  const file = call.text("json-file");
  const given = file === undefined ? {} : fieldsOf(await readText(file), file);
  return { ...given, ...reportFields(call) };
}

function reportFields(call: Call): Record<string, unknown> {
  const evidence = some({
    filesTouched: many(call, "file"),
    testsRun: many(call, "test"),
    commandsRun: many(call, "command"),
    commits: many(call, "commit"),
    prs: many(call, "pr"),
    issues: many(call, "issue"),
    externalRefs: many(call, "ref"),
  });
  const ask = call.text("ask");
  const blocked = some({ kind: call.text("kind"), needs: call.text("needs") });
  return some({
    goalId: call.text("goal"),
    workNodeId: call.optionalArg("node"),
    status: call.text("status"),
    summary: call.text("summary"),
    currentState: call.text("state"),
    nextActions: many(call, "next"),
    knownBlockers: many(call, "blocker"),
    decisions: many(call, "decision")?.map(parseDecision),
    openQuestions: many(call, "question"),
    question: ask === undefined ? undefined : { text: ask, options: call.list("option") },
    blocked: Object.keys(blocked).length > 0 ? blocked : undefined,
    evidence: Object.keys(evidence).length > 0 ? evidence : undefined,
    noChanges: call.text("no-changes"),
  });
}

/** What was given; the rest was not spoken of. */
function some(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function many(call: Call, option: string): readonly string[] | undefined {
  const given = call.list(option);
  return given.length > 0 ? given : undefined;
}

function parseDecision(text: string): { decision: string; rationale: string } {
  const at = text.indexOf(" because ");
  return at > 0
    ? { decision: text.slice(0, at), rationale: text.slice(at + " because ".length) }
    : { decision: text, rationale: "" };
}

/** The fields of the block, with or without the block's own key around them. */
function fieldsOf(text: string, file: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const message = `${file} is not JSON: ${messageOf(error)}.`;
    throw new OverseerError("usage", "UPDATE_NOT_JSON", message, "Give one JSON object.", { cause: error });
  }
  const inner = typeof value === "object" && value !== null && "overseerUpdate" in value ? value.overseerUpdate : value;
  if (typeof inner === "object" && inner !== null && !Array.isArray(inner)) return inner as Record<string, unknown>;
  throw new OverseerError(
    "usage",
    "UPDATE_INVALID",
    `${file} holds no object.`,
    "Give the fields of the update block.",
  );
}
