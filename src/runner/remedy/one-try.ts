/**
 * One life of a remediating agent's CLI: started, given its prompt, listened to until its turn ends. That end is what the
 * protocol says (RUN-1), neither an exit nor a silence. A CLI that leaves before, or whose turn fails, has crashed. One that
 * made a call its permit was not asked about is ended at once: nobody would judge what it does next either (HOOK-3).
 */
import { REMEDY_MARK, RUNNER_MARK } from "#act/attempt-files.ts";
import { messageOf } from "#errors.ts";
import { type Child, startChild } from "#runner/child.ts";
import { PermitEar } from "#runner/permit-ear.ts";
import type { Launch, Runtime } from "#runtimes/runtime.ts";
import type { Clock } from "#sys/clock.ts";
import { endTree } from "#sys/process-tree.ts";
import type { Processes, ProcessIdentity } from "#sys/processes.ts";
import type { RemedyTranscript } from "./transcript.ts";

export type TryEnd =
  | { readonly kind: "finished" }
  | { readonly kind: "crashed"; readonly why: string }
  | { readonly kind: "unguarded"; readonly why: string }
  | { readonly kind: "stopped"; readonly why: string };

export interface TryParts {
  readonly runtime: Runtime;
  readonly processes: Processes;
  readonly clock: Clock;
  readonly transcript: RemedyTranscript;
  /** Resolves with the reason when somebody wants it to end. */
  readonly stopped: Promise<string>;
}

export interface TryRequest {
  readonly launch: Launch;
  /** Where the permit leaves its marks below. */
  readonly directory: string;
  readonly prompt: string;
  /** What everything it starts carries in its environment. */
  readonly mark: string;
}

/** How long a CLI may take to leave after its turn, and everything of it after SIGTERM. */
const LEAVES_WITHIN_MS = 2_000;
const GRACE_MS = 500;

export async function runTry(parts: TryParts, request: TryRequest): Promise<TryEnd> {
  const { promise: ended, resolve: end } = Promise.withResolvers<TryEnd>();
  const child = start(parts, request, end);
  if (typeof child === "string") return { kind: "crashed", why: child };
  void parts.stopped.then((why) => end({ kind: "stopped", why }));
  void child.exited.then(({ code, signal }) => {
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    end({ kind: "crashed", why: `its CLI ended ${how} in the middle of its turn` });
  });
  await child.write(parts.runtime.render({ id: crypto.randomUUID(), text: request.prompt }));
  const outcome = await ended;
  if (outcome.kind === "finished") {
    child.closeInput();
    await Promise.race([child.exited, parts.clock.sleep(LEAVES_WITHIN_MS)]);
    // It first and at once: one that outlived its tool would go on to its next call.
  } else parts.processes.signal(child.identity, "SIGKILL");
  await endProcesses(parts, [child.identity], request.mark);
  // What it had said is still in the pipe.
  await Promise.race([child.exited, parts.clock.sleep(LEAVES_WITHIN_MS)]);
  return outcome;
}

/** The sentence why it could not be started, where it could not. */
function start(parts: TryParts, { launch, directory }: TryRequest, end: (how: TryEnd) => void): Child | string {
  const { runtime, clock, transcript } = parts;
  const ear = new PermitEar(directory);
  const reader = runtime.reader(1);
  try {
    return startChild(launch, parts.processes, {
      line(text) {
        const at = clock.now();
        for (const part of runtime.tell(text)) transcript.tell(part, at);
        for (const signal of reader.read(text, at)) {
          if (signal.kind === "tool.ended" && ear.wasMissed(signal.source, signal.data)) {
            end({ kind: "unguarded", why: `it ran ${signal.data.tool} and the permit hook was not asked` });
          }
          if (signal.kind !== "turn.ended") continue;
          const { ok, reason } = signal.data;
          end(ok ? { kind: "finished" } : { kind: "crashed", why: `its turn failed (${reason})` });
        }
      },
      error: (text) => transcript.tell({ kind: "noise", text }, clock.now()),
    });
  } catch (error) {
    return `its CLI could not be started: ${messageOf(error)}`;
  }
}

/** Ends what descends from these and from us, and all that carries the mark: tools run in sessions of their own. */
export async function endProcesses(
  { processes, clock, transcript }: Pick<TryParts, "processes" | "clock" | "transcript">,
  roots: readonly ProcessIdentity[],
  mark: string,
): Promise<void> {
  const self = processes.self();
  const { left } = await endTree(
    { processes, clock },
    {
      roots: [...roots, self],
      mark: { name: REMEDY_MARK, value: mark },
      apart: { name: RUNNER_MARK, value: "" },
      spare: [self.pid],
    },
    GRACE_MS,
  );
  if (left.length > 0) transcript.write("still running", left.map(({ pid }) => pid).join(", "), clock.now());
}
