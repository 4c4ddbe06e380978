/**
 * The entry for agents' commands: asks the agent's runner, and prints what it answers (runner/verbs/client.ts). What
 * answers from the program alone runs here. The rest of the program is loaded only then, because agents call this often.
 */
import { printer } from "#cli/print.ts";
import { asksRunner, readsInput } from "#domain/agents/verbs.ts";
import { askRunner, type VerbAnswer } from "#runner/verbs/client.ts";
import { SOCKET_VARIABLE, TOKEN_VARIABLE } from "#sys/attempt-token.ts";

const words = Bun.argv.slice(2);
const { env } = process;
const attempt = Number(env.OVERSEER_ATTEMPT);
if (asksRunner(words, env)) void ask().then((code) => process.exit(code));
else void runHere();

async function ask(): Promise<number> {
  const out = printer(env);
  const stdin = readsInput(words) ? await Bun.stdin.text() : undefined;
  const answer = await askRunner({
    ...{ attempt, words, stdin },
    socket: env[SOCKET_VARIABLE] ?? "",
    agent: env.OVERSEER_AGENT,
    token: env[TOKEN_VARIABLE],
    cwd: process.cwd(),
    colour: out.colour,
    width: out.width,
    debug: env.OVERSEER_DEBUG === "1",
    async print(to, bytes) {
      await Bun.write(to === "out" ? Bun.stdout : Bun.stderr, bytes);
    },
  });
  return answer.kind === "done" ? answer.code : explain(answer, stdin);
}

async function explain(answer: Exclude<VerbAnswer, { kind: "done" }>, stdin: string | undefined): Promise<number> {
  const { explainUnanswered } = await import("#runner/verbs/unanswered.ts");
  const { readReport } = await import("#cli/spoken-report.ts");
  const readText = (path: string) => (path === "-" ? Promise.resolve(stdin ?? "") : Bun.file(path).text());
  return explainUnanswered(answer, {
    ...{ words, env, attempt, cwd: process.cwd() },
    readReport: () => readReport(words, { readText, out: printer(env), env }),
    async noteEnded(state) {
      const { tryRecordFenced } = await import("#act/hooks/fenced.ts");
      await tryRecordFenced(state, attempt, "it ran a command");
    },
    say: (text) => console.error(text),
  });
}

/** The program's own entry, which lies beside this one. */
async function runHere(): Promise<void> {
  const { ownProgram } = await import("#sys/self.ts");
  const [, entry] = ownProgram();
  if (entry !== undefined) await import(entry);
}
