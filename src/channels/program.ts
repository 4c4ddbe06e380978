/** Starts a program that the settings name, and tells what came of it instead of throwing. */
import { splitCommandLine } from "#domain/core/argv.ts";
import { messageOf } from "#errors.ts";
import type { ChannelParts, NoticeOutcome } from "./channel.ts";
import { ANSWER_BYTES, notSent } from "./channel.ts";

export async function runProgram(
  line: string | null,
  stdin: string,
  { root, programEnv, exec, timeoutMs }: ChannelParts,
): Promise<{ readonly ok: true; readonly said: string } | { readonly ok: false; readonly outcome: NoticeOutcome }> {
  const argv = splitCommandLine(line ?? "");
  if (argv.length === 0) return { ok: false, outcome: notSent("no program is configured") };
  try {
    const done = await exec.run(argv, { cwd: root.project, env: programEnv, stdin, timeoutMs, maxBytes: ANSWER_BYTES });
    if (done.timedOut) return { ok: false, outcome: notSent(`it took longer than ${timeoutMs} ms`) };
    if (done.code === 0) return { ok: true, said: done.stdout };
    const why = done.stderr.trim().split("\n")[0] ?? "";
    return { ok: false, outcome: notSent(`it ended with ${done.signal ?? done.code}: ${why}`) };
  } catch (error) {
    return { ok: false, outcome: notSent(messageOf(error)) };
  }
}
