/**
 * Programs that answer from a table instead of running, for tests of whoever calls them. A call that the table does
 * not know is a program that is not installed: nothing succeeds by accident. It does not imitate deadlines; a row
 * says `timedOut` when a caller is to see one.
 */
import { OverseerError } from "#errors.ts";
import type { Exec, ExecOptions, ExecResult } from "#sys/exec.ts";

export interface ScriptedAnswer {
  /** Matches a call whose first words are these, or that the function accepts. The first row that matches answers. */
  readonly when: readonly string[] | ((argv: readonly string[], options: ExecOptions) => boolean);
  /** What is not said is an exit with code 0 that printed nothing. */
  readonly answer:
    | Partial<ExecResult>
    | ((argv: readonly string[], options: ExecOptions) => Partial<ExecResult> | Promise<Partial<ExecResult>>);
}

export interface ExecCall {
  readonly argv: readonly string[];
  readonly options: ExecOptions;
}

export interface ScriptedExec extends Exec {
  /** Every call so far, in order, those that found no answer included. */
  readonly calls: readonly ExecCall[];
}

const SUCCESS: ExecResult = { code: 0, signal: null, stdout: "", stderr: "", timedOut: false, truncated: false };

export function makeScriptedExec(table: readonly ScriptedAnswer[]): ScriptedExec {
  const calls: ExecCall[] = [];
  return {
    calls,
    run: async (argv, options = {}) => {
      calls.push({ argv: [...argv], options });
      const row = table.find(({ when }) => (typeof when === "function" ? when(argv, options) : startsWith(argv, when)));
      if (row === undefined) throw unknownCall(argv);
      const answer = typeof row.answer === "function" ? await row.answer(argv, options) : row.answer;
      return { ...SUCCESS, ...answer, ...(answer.signal ? { code: null } : {}) };
    },
  };
}

function startsWith(argv: readonly string[], words: readonly string[]): boolean {
  return words.every((word, index) => argv[index] === word);
}

function unknownCall(argv: readonly string[]): OverseerError {
  const message = `There is no program "${argv[0] ?? ""}" that can be run: no row of the script answers ${JSON.stringify(argv)}.`;
  return new OverseerError("environment", "PROGRAM_MISSING", message, "Add a row for this call to the scripted table.");
}
