/** The desktop of whoever runs the daemon: notify-send where there is one, osascript on a Mac. */
import { messageOf, OverseerError } from "#errors.ts";
import type { Channel, ChannelParts, NoticeOutcome } from "./channel.ts";
import { notSent, renderNotice, SENT } from "./channel.ts";

/** Title and text are arguments of the script, never part of it. */
const SCRIPT = ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"];
/** A desktop shows a few lines. */
const MOST_SIGNS = 1_000;

export const desktop: Channel = {
  kind: "desktop",
  async send(notice, _to, parts) {
    const { title, body } = renderNotice(notice);
    const [head, text] = [title.slice(0, 200), body.slice(0, MOST_SIGNS)];
    const onLinux = ["notify-send", "--app-name=Overseer", "--", head, text];
    const onMac = ["osascript", ...SCRIPT.flatMap((line) => ["-e", line]), head, text];
    return (
      (await show(onLinux, parts)) ?? (await show(onMac, parts)) ?? notSent("no notify-send and no osascript here")
    );
  },
};

/** Undefined where there is no such program. */
async function show(
  argv: readonly string[],
  { exec, env, root, timeoutMs }: ChannelParts,
): Promise<NoticeOutcome | undefined> {
  try {
    const done = await exec.run(argv, { cwd: root.project, env, timeoutMs });
    if (done.timedOut) return notSent(`it took longer than ${timeoutMs} ms`);
    return done.code === 0 ? SENT : notSent(`${argv[0]}: ${done.stderr.trim().split("\n")[0] ?? done.code}`);
  } catch (error) {
    return isMissing(error) ? undefined : notSent(messageOf(error));
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof OverseerError && error.code === "PROGRAM_MISSING";
}
