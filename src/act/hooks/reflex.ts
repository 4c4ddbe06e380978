/**
 * The reflex in the agent's own hook: at the end of a step, one sentence when the rules have one, and whatever an
 * overseer on another machine has left for it. Loaded only when reflex-gate.ts lets it. It fails open: what cannot be
 * judged now is judged after the next step.
 */
import type { Pulse } from "#domain/signals/pulse.ts";
import { beat } from "#domain/signals/pulse.ts";
import type { Steering } from "#domain/signals/reflex.ts";
import { decideSteering } from "#domain/signals/reflex.ts";
import type { ReflexFile } from "#domain/signals/reflex-file.ts";
import { REFLEX_FILE, withKnownWindow } from "#domain/signals/reflex-file.ts";
import { sentenceIn, steeringFile } from "#domain/signals/salute.ts";
import type { HookDialect, HookFact } from "#runtimes/hook-dialect.ts";
import { stepSignals } from "#runtimes/hook-signals.ts";
import { readNow } from "#sys/read-now.ts";
import type { HookDesk } from "./desk.ts";
import { objectIn } from "./payload.ts";

/** What the agent is to read with its next message, one text each; mostly nothing. */
export async function steer(fact: HookFact, dialect: HookDialect, desk: HookDesk): Promise<string[]> {
  const file = objectIn(readNow(`${desk.directory}/${REFLEX_FILE}`)) as unknown as ReflexFile | undefined;
  if (file?.v !== 1) return [];
  const said = file.salute.shared === null ? undefined : fromElsewhere(file, file.salute.shared);
  const own = file.steers ? await ownWord(fact, dialect, desk, file) : undefined;
  return [said, own].filter((text) => text !== undefined);
}

async function ownWord(
  fact: HookFact,
  dialect: HookDialect,
  { state, attempt, interactive, withLog }: HookDesk,
  file: ReflexFile,
): Promise<string | undefined> {
  const at = Date.now();
  // Of a driven agent the stream tells the calls, but it may tell them after this hook: what is known here counts now.
  const fresh = interactive ? [] : stepSignals(dialect, fact, at);
  const judgePulse = (pulse: Pulse): Steering | undefined =>
    decideSteering(withKnownWindow(unseen(pulse, fresh).reduce(beat, pulse), file), file.rules);
  // Of hooks that run side by side only one speaks.
  const steering = await withLog((log) => log.steer(attempt, at, judgePulse));
  if (!steering) return undefined;
  const { recordSteering } = require("#act/hooks/record-steering.ts") as typeof import("./record-steering.ts");
  await recordSteering(state, attempt, steering, at);
  return steering.text;
}

/** Those of the signals that the pulse does not have yet. */
function unseen(pulse: Pulse, signals: ReturnType<typeof stepSignals>): ReturnType<typeof stepSignals> {
  const known = new Map((pulse.course?.calls ?? []).map((call) => [call.id, call]));
  // What the course has forgotten on purpose (waiting, bookkeeping) the list of all calls still has.
  const ended = new Set(pulse.calls.filter((call) => call.ok !== null).map((call) => call.id));
  return signals.filter(({ kind, source }) => {
    if (ended.has(source)) return false;
    return kind === "tool.started" ? !known.has(source) : known.get(source)?.failed !== false;
  });
}

/** Taken by renaming it, so that of several hooks one has it. */
function fromElsewhere(file: ReflexFile, shared: string): string | undefined {
  const { agent, attempt } = file.unit;
  const path = steeringFile(shared, agent);
  if (readNow(path) === undefined) return undefined;
  const fs: typeof import("node:fs") = require("node:fs");
  const taken = `${path}.${attempt}.taken`;
  try {
    fs.renameSync(path, taken);
    const sentence = sentenceIn(objectIn(fs.readFileSync(taken, "utf8")), attempt);
    fs.rmSync(taken, { force: true });
    return sentence;
  } catch {
    return undefined; // another hook has it, or the other side is gone
  }
}
