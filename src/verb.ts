/**
 * The entry for agents' commands: asks the agent's runner, and prints what it answers (runner/verbs/client.ts). What
 * answers from the program alone runs here. The rest of the program is loaded only then, because agents call this often.
 */
import { printer } from "#cli/print.ts";
import { asksRunner, isReport, isStandardInput, listOwnInputs } from "#domain/agents/verbs.ts";
import { EXIT_CODES } from "#errors.ts";
import { askRunner, type VerbAnswer } from "#runner/verbs/client.ts";
import type { VerbInputs } from "#runner/verbs/wire.ts";
import { SOCKET_VARIABLE, TOKEN_VARIABLE } from "#sys/attempt-token.ts";
import { DIRECTORY_GONE, findWorkingDirectory } from "#sys/working-directory.ts";

const words = Bun.argv.slice(2);
const { env } = process;
const attempt = Number(env.OVERSEER_ATTEMPT);
const salt = crypto.randomUUID();
if (asksRunner(words, env)) void ask().then((code) => process.exit(code));
else void runHere();

async function ask(): Promise<number> {
  const out = printer(env);
  const cwd = findWorkingDirectory();
  // A report says what it has to say wherever it is made.
  if (cwd === undefined && !isReport(words)) return sayGone();
  const inputs = await readInputs(listOwnInputs(words));
  const answer = await askRunner({
    ...{ salt, attempt, words, inputs },
    socket: env[SOCKET_VARIABLE] ?? "",
    agent: env.OVERSEER_AGENT,
    token: env[TOKEN_VARIABLE],
    cwd: cwd ?? "/",
    root: env.OVERSEER_ROOT ?? "",
    colour: out.colour,
    width: out.width,
    interactive: out.interactive,
    debug: env.OVERSEER_DEBUG === "1",
    async print(to, bytes) {
      await Bun.write(to === "out" ? Bun.stdout : Bun.stderr, bytes);
    },
  });
  return answer.kind === "done" ? answer.code : explain(answer, cwd ?? "/", inputs);
}

/** What is not there is for the command to say; to it, it is not there either. */
async function readInputs(paths: readonly string[]): Promise<VerbInputs | undefined> {
  const inputs: Record<string, string> = {};
  let standard: string | undefined;
  for (const path of new Set(paths)) {
    if (isStandardInput(path)) {
      standard ??= await Bun.stdin.text();
      inputs[path] = standard;
    } else if (await Bun.file(path).exists()) inputs[path] = await Bun.file(path).text();
  }
  return paths.length === 0 ? undefined : inputs;
}

function sayGone(): number {
  const { message, hint, kind, code } = DIRECTORY_GONE;
  const asJson = words.includes("--json");
  const out = printer(env);
  if (asJson) out.remark(JSON.stringify({ error: { kind, code, message, hint } }));
  else {
    out.problem(`overseer: ${message}`);
    out.remark(`  hint: ${hint}`);
  }
  return EXIT_CODES[kind];
}

type Unexplained = Exclude<VerbAnswer, { kind: "done" }>;

async function explain(answer: Unexplained, cwd: string, inputs: VerbInputs | undefined): Promise<number> {
  const { explainUnanswered } = await import("#runner/verbs/unanswered.ts");
  const { readReport } = await import("#cli/spoken-report.ts");
  const readText = async (path: string) => inputs?.[path] ?? Bun.file(path).text();
  return explainUnanswered(answer, {
    ...{ salt, words, env, attempt, cwd },
    readReport: () => readReport(words, { readText, out: printer(env), env }),
    async noteEnded(state) {
      const { tryRecordFenced } = await import("#act/hooks/fenced.ts");
      return tryRecordFenced(state, attempt, "it ran a command");
    },
    say: (text) => console.warn(text),
  });
}

/** The program's own entry, which lies beside this one; the single binary never comes here. */
async function runHere(): Promise<void> {
  const { ownProgram } = await import("#sys/self.ts");
  const entry = ownProgram().at(-1);
  if (entry !== undefined) await import(entry);
}
