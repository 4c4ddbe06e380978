/**
 * The tools of the MCP server (MCP-1), in one table: for whom each is, what it takes, and which of our own commands it is.
 * A tool is nothing but words for the command line, so what a command refuses, bounds, fences and records holds here too,
 * and nothing is said twice. Every tool costs each session its tokens: they are few, and their descriptions short; what they may cost
 * together is held by a test.
 */
import { z } from "zod";
import { NUDGE_SEVERITIES } from "#domain/model/message.ts";
import { MAIL_PRIORITIES, MAIL_TYPES, REPORT_STATUSES } from "#domain/model/protocol.ts";
import { BLOCKED_KINDS } from "#domain/model/work.ts";

/** Who is offered a tool: an agent, one of those that may start others, or a person's own session. */
export type Caller = "agent" | "spawner" | "person";

/** One call of our own program. */
export interface CommandWords {
  readonly words: readonly string[];
  /** Its standard input; what may be long goes there. */
  readonly stdin?: string;
}

export interface Tool {
  readonly name: string;
  readonly callers: readonly Caller[];
  readonly description: string;
  readonly input: z.ZodObject;
  /** Whether it only looks, for clients that ask their user before the rest. */
  readonly looks?: true;
  /** What a call has to give besides, in the words of its fields. */
  lacks?(given: Readonly<Record<string, unknown>>): string | undefined;
  /** What was given has passed `input`. */
  toWords(given: Readonly<Record<string, unknown>>): CommandWords;
}

const AGENTS = ["agent", "spawner"] as const;
const EVERYBODY = ["agent", "spawner", "person"] as const;
const PERSON = ["person"] as const;

const text = z.string();
const texts = z.array(z.string()).optional();
const maybe = text.optional();

/** Ties what a tool makes of its input to the shape of that input. */
function define<Shape extends z.ZodRawShape>(
  name: string,
  callers: readonly Caller[],
  description: string,
  shape: Shape,
  toWords: (given: z.infer<z.ZodObject<Shape>>) => CommandWords,
  more: Pick<Tool, "looks" | "lacks"> = {},
): Tool {
  return { name, callers, description, input: z.strictObject(shape), toWords: toWords as Tool["toWords"], ...more };
}

const LOOKS = { looks: true } as const;

export const TOOLS: readonly Tool[] = [
  define(
    "report",
    AGENTS,
    "Report your work. done needs the commit and is checked; blocked needs blockers. What you leave out stays as it was.",
    {
      status: z.enum(REPORT_STATUSES).optional(),
      summary: maybe.describe("What is now true that was not before"),
      commit: maybe,
      currentState: maybe,
      nextActions: texts,
      decisions: texts.describe("this because that"),
      openQuestions: texts,
      knownBlockers: texts,
      evidence: z
        .strictObject({
          filesTouched: texts,
          commandsRun: texts,
          testsRun: texts.describe("command: result"),
          commits: texts,
          prs: texts,
          issues: texts,
          externalRefs: texts,
        })
        .optional(),
      blocked: z.strictObject({ kind: z.enum(BLOCKED_KINDS).optional(), needs: maybe }).optional(),
      question: z.strictObject({ text, options: texts }).optional().describe("A person decides before you go on"),
      noChanges: maybe.describe("Done without a change: why"),
      transcripts: z
        .array(z.strictObject({ sessionKey: text, sessionId: maybe, messageIds: texts, runId: maybe }))
        .optional(),
      workNodeId: maybe.describe("A part of your task"),
      goalId: maybe,
    },
    ({ decisions, ...fields }) => ({
      words: ["work", "report", "--json-file=-"],
      stdin: JSON.stringify({ ...fields, ...(decisions ? { decisions: decisions.map(splitDecision) } : {}) }),
    }),
    {
      lacks: ({ status, commit, noChanges }) =>
        status === "done" && !commit && !noChanges
          ? "done needs commit, the one that holds your work; where nothing had to change, say why in noChanges."
          : undefined,
    },
  ),
  define(
    "ask",
    AGENTS,
    "Ask a person, then end your turn; the answer starts your next one. goOn: keep working meanwhile.",
    { question: text, options: texts, node: maybe, goOn: z.boolean().optional() },
    ({ question, options, node, goOn }) => ({
      words: ["ask", ...many("option", options), ...one("node", node), ...flag("go-on", goOn), "--", question],
    }),
  ),
  define(
    "mail",
    EVERYBODY,
    "check your inbox; read or reply by id; send to an agent, @builders, @all, human or orchestrator; list the past.",
    {
      do: z.enum(["check", "read", "reply", "send", "list"]),
      id: maybe.describe("read, reply"),
      to: maybe.describe("send"),
      subject: maybe,
      body: maybe,
      type: z.enum(MAIL_TYPES).optional(),
      priority: z.enum(MAIL_PRIORITIES).optional(),
    },
    (given) => mailWords(given),
    { lacks: mailLacks },
  ),
  define(
    "wait",
    AGENTS,
    "Say that you wait for mail, then end your turn: what arrives starts the next one. Never poll.",
    { on: texts.describe("Agents you wait for") },
    ({ on }) => ({ words: ["mail", "check", "--wait", ...many("on", on)] }),
  ),
  define(
    "learn",
    EVERYBODY,
    "Say in a sentence what others should know; or find what they found out.",
    {
      text: maybe,
      tags: texts,
      paths: texts,
      fails: maybe.describe("A command that fails"),
      fix: maybe.describe("What to run instead"),
      find: maybe.describe("Words, instead of text"),
    },
    ({ text: said, tags, paths, fails, fix, find }) => ({
      words:
        find === undefined
          ? [
              ...["learnings", "add", ...many("tag", tags), ...many("path", paths)],
              ...[...one("fails", fails), ...one("fix", fix), ...(said === undefined ? [] : ["--", said])],
            ]
          : ["learnings", "search", "--", find],
    }),
    {
      lacks: ({ text: said, fails, find }) =>
        said || fails || find !== undefined ? undefined : "Give text, a sentence to keep, or find, words to look for.",
    },
  ),
  define(
    "sling",
    ["spawner", "person"],
    "Start an agent in its own worktree, on a task of a plan or on a prompt. You hear by mail how it ended.",
    {
      prompt: maybe,
      task: maybe.describe("T1.1 or goal_x/T1.1, instead of a prompt"),
      capability: maybe.describe("builder, scout, reviewer, lead …"),
      name: maybe,
      files: texts.describe("Paths only it may write"),
      spec: maybe.describe("More about the work"),
      runtime: maybe,
      model: maybe,
    },
    ({ prompt, task, capability, name, files, spec, runtime, model }) => ({
      words: [
        ...["sling", ...one("prompt", prompt), ...one("capability", capability), ...one("name", name)],
        ...[...many("files", files), ...one("runtime", runtime), ...one("model", model)],
        ...(spec === undefined ? [] : ["--spec=-"]),
        ...(task === undefined ? [] : ["--", task]),
      ],
      ...(spec === undefined ? {} : { stdin: spec }),
    }),
  ),
  define(
    "status",
    EVERYBODY,
    "Where the fleet stands; with about (goal, task, agent, question), how that got there and what would move it.",
    { about: maybe },
    ({ about }) => ({ words: about === undefined ? ["status"] : ["why", "--", about] }),
    LOOKS,
  ),
  define(
    "do",
    PERSON,
    "Have a model plan what the user wants, in one sentence; accept it with plan.",
    { sentence: text, budget: z.number().positive().optional().describe("US dollars") },
    ({ sentence, budget }) => ({ words: ["do", ...one("budget", budget?.toString()), "--", sentence] }),
  ),
  define(
    "plan",
    PERSON,
    "A goal's proposed plan: show it, accept it (agents begin while the daemon is up), drop it, or again with a remark.",
    { goal: text, do: z.enum(["show", "accept", "drop", "again"]), remark: maybe },
    ({ goal, do: act, remark }) => ({
      words:
        act === "again"
          ? ["goal", "plan", "--with-model", ...one("remark", remark), "--", goal]
          : ["goal", "plan", `--${act}`, ...(act === "drop" ? one("reason", remark) : []), "--", goal],
    }),
  ),
  define(
    "review",
    PERSON,
    "What is reported done and has not landed; of one (agent, task), its diff and checks.",
    { what: maybe, stat: z.boolean().optional().describe("Only which files") },
    ({ what, stat }) => ({ words: ["review", ...flag("stat", stat), ...(what === undefined ? [] : ["--", what])] }),
    LOOKS,
  ),
  define(
    "accept",
    PERSON,
    "Accept finished work and land it. Only where the user wants you to decide.",
    { what: text, commit: maybe.describe("The one that was reviewed"), reason: maybe },
    ({ what, commit, reason }) => ({
      words: ["accept", ...one("commit", commit), ...one("reason", reason), "--", what],
    }),
  ),
  define(
    "reject",
    PERSON,
    "Send finished work back to its agent with what has to change.",
    { what: text, reason: text, commit: maybe },
    ({ what, commit, reason }) => ({
      words: ["reject", ...one("commit", commit), ...one("reason", reason), "--", what],
    }),
  ),
  define(
    "answer",
    PERSON,
    "Answer an agent's question by its number; ask the user first where it is theirs to decide.",
    { question: text, answer: text.describe("An option's number, or words") },
    ({ question, answer }) => ({ words: ["answer", "--", question, answer] }),
  ),
  define(
    "nudge",
    PERSON,
    "A short note to an agent at work.",
    { agent: text, text, severity: z.enum(NUDGE_SEVERITIES).optional() },
    ({ agent, text: note, severity }) => ({ words: ["nudge", ...one("severity", severity), "--", agent, note] }),
  ),
  define(
    "stop",
    PERSON,
    "Stop an agent; its work is kept and its task waits.",
    { agent: text, reason: maybe },
    ({ agent, reason }) => ({ words: ["stop", ...one("reason", reason), "--", agent] }),
  ),
  define(
    "report",
    PERSON,
    "What landed, failed and cost, and what waits for the user.",
    { since: maybe.describe("12h, 2d or a date") },
    ({ since }) => ({ words: ["report", ...one("since", since)] }),
    LOOKS,
  ),
  define("up", PERSON, "Start the daemon, without which nothing moves by itself.", {}, () => ({ words: ["up"] })),
];

export function listToolsFor(caller: Caller): readonly Tool[] {
  return TOOLS.filter(({ callers }) => callers.includes(caller));
}

const MAIL_NEEDS: Readonly<Record<string, readonly string[]>> = {
  read: ["id"],
  reply: ["id", "body"],
  send: ["to", "subject", "body"],
};

function mailLacks(given: Readonly<Record<string, unknown>>): string | undefined {
  const missing = (MAIL_NEEDS[String(given.do)] ?? []).filter((name) => !given[name]);
  return missing.length === 0 ? undefined : `${given.do} needs ${missing.join(" and ")}, too.`;
}

function mailWords(given: {
  readonly do: "check" | "read" | "reply" | "send" | "list";
  readonly id?: string | undefined;
  readonly to?: string | undefined;
  readonly subject?: string | undefined;
  readonly body?: string | undefined;
  readonly type?: string | undefined;
  readonly priority?: string | undefined;
}): CommandWords {
  const { id, to, subject, body, type, priority } = given;
  const named = id === undefined ? [] : ["--", id];
  if (given.do === "check") return { words: ["mail", "check"] };
  if (given.do === "list") return { words: ["mail", "list", ...one("to", to), "--limit=20"] };
  if (given.do === "read") return { words: ["mail", "read", ...named] };
  const said = [
    ...[...one("subject", subject), ...one("type", type), ...one("priority", priority)],
    ...(body === undefined ? [] : ["--file=-"]),
  ];
  const words =
    given.do === "send" ? ["mail", "send", ...one("to", to), ...said] : ["mail", "reply", ...said, ...named];
  return { words, ...(body === undefined ? {} : { stdin: body }) };
}

/** With "=", because a value may begin with a dash. */
function one(option: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`--${option}=${value}`];
}

function many(option: string, values: readonly string[] | undefined): string[] {
  return (values ?? []).map((value) => `--${option}=${value}`);
}

function flag(option: string, given: boolean | undefined): string[] {
  return given === true ? [`--${option}`] : [];
}

function splitDecision(said: string): string | { readonly decision: string; readonly rationale: string } {
  const at = said.indexOf(" because ");
  return at > 0 ? { decision: said.slice(0, at), rationale: said.slice(at + " because ".length) } : said;
}
