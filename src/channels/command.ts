/** A program of the user's, started with the notice as JSON on its standard input; its words are arguments, not shell. */
import { splitCommandLine } from "#domain/core/argv.ts";
import { messageOf } from "#errors.ts";
import type { Channel } from "./channel.ts";
import { ANSWER_BYTES, notSent, readAcknowledgement } from "./channel.ts";

export const command: Channel = {
  name: "command",
  isConfigured: (settings) => settings.command !== null,
  async send(notice, { settings, root, programEnv, exec }) {
    const argv = splitCommandLine(settings.command ?? "");
    if (argv.length === 0) return notSent("no program is configured");
    try {
      const done = await exec.run(argv, {
        cwd: root.project,
        env: programEnv,
        stdin: `${JSON.stringify(notice)}\n`,
        timeoutMs: settings.timeout,
        maxBytes: ANSWER_BYTES,
      });
      if (done.timedOut) return notSent(`it took longer than ${settings.timeout} ms`);
      if (done.code === 0) return readAcknowledgement(done.stdout);
      return notSent(`it ended with ${done.signal ?? done.code}: ${done.stderr.trim().split("\n")[0] ?? ""}`);
    } catch (error) {
      return notSent(messageOf(error));
    }
  },
};
