/**
 * Reads the words of a `work report` or an `ask` as the command would, without carrying it out: for an agent whose runner
 * does not answer. What is wrong with the words is said as ever.
 */
import { questionFields } from "#control/reports.ts";
import type { Command } from "./command.ts";
import askCommand, { questionOf } from "./commands/ask.ts";
import { readReportFields, reportCommand } from "./commands/work-report.ts";
import type { Output } from "./output.ts";
import { runCli } from "./run.ts";

type ReadText = (path: string) => Promise<string>;

/** The fields of the update; the exit code when the words were wrong, which has been said then. */
export async function readReport(
  words: readonly string[],
  given: {
    readonly readText: ReadText;
    readonly out: Output;
    readonly env: Readonly<Record<string, string | undefined>>;
  },
): Promise<{ readonly fields: unknown } | { readonly code: number }> {
  let fields: unknown;
  const { subcommands: _none, ...askWords } = askCommand;
  const { subcommands: _neither, ...reportWords } = reportCommand;
  const ask: Command<ReadText> = {
    ...askWords,
    async run(call) {
      fields = questionFields(questionOf(call));
    },
  };
  const report: Command<ReadText> = {
    ...reportWords,
    async run(call, readText) {
      fields = await readReportFields(call, readText);
    },
  };
  const work: Command<ReadText> = { name: "work", summary: "", subcommands: [report] };
  const menu = [ask, work].map((command) => ({
    name: command.name,
    summary: "",
    group: "Agents" as const,
    load: async () => ({ default: command }),
  }));
  const { readText, out, env } = given;
  const code = await runCli(words, { menu, version: "", env, out, parts: () => readText });
  return code === 0 ? { fields } : { code };
}
