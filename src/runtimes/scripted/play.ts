/**
 * What a scripted agent has in mind: which scripts it was given, how far it is in each, and what a new message does to
 * that. A plain value with pure moves, small enough to be written into every line of a transcript; the scripts
 * themselves are not in it but named by the message that brought them. It knows no process, no stream and no time.
 *
 * A message, in this order: matches a rule of the script in force → its steps come first; brings a script of its own →
 * that is the next task; finds a script half played → continues with it; else is acknowledged. While messages are
 * ignored, none of this happens.
 */
import type { PlainStep, Script, UsageStep } from "./language.ts";
import { findScript, matchesPattern, withoutScripts } from "./language.ts";
import { type Walk, walk } from "./walk.ts";

export interface Frame {
  /** Id of the message whose script this is. */
  readonly script: string;
  /** Set when these are the steps of one of its rules. */
  readonly rule?: number;
  /** Plain steps begun so far. */
  readonly at: number;
  /** Played in a turn of its own: what lies beneath does not continue after it, it still waits. */
  readonly aside?: true;
}

export interface Play {
  /** Innermost last. */
  readonly frames: readonly Frame[];
  /** A script that came while another was played: it starts with the next turn. */
  readonly queued: readonly string[];
  /** Whose rules are in force, also after its last step. */
  readonly script: string | null;
  readonly ignoring: "none" | "content" | "deaf";
  /** What the script has said about its use of tokens so far. */
  readonly usage: Omit<UsageStep, "kind">;
}

export const NOTHING_IN_MIND: Play = { frames: [], queued: [], script: null, ignoring: "none", usage: {} };

/** The scripts heard so far, by the id of their message. */
export type Scripts = ReadonlyMap<string, Script>;

export interface Heard {
  readonly play: Play;
  /** The script this message brought, to be remembered under its id. */
  readonly script?: Script;
  /** What the agent says to it at once. */
  readonly reply?: string;
  /** It changes nothing: no step may be played because of it. */
  readonly ignored?: true;
}

export function hear(before: Play, scripts: Scripts, message: { id: string; text: string; busy: boolean }): Heard {
  if (before.ignoring !== "none") return { play: before, ignored: true };
  const play = message.busy ? before : { ...before, frames: before.frames.filter((frame) => hasStep(frame, scripts)) };
  const rule = matchingRule(play, scripts, message.text);
  if (rule !== undefined) {
    const frame: Frame = message.busy ? rule : { ...rule, aside: true };
    return { play: { ...play, frames: [...play.frames, frame] } };
  }
  const found = findScript(message.text);
  if (found !== undefined && "error" in found) return { play, reply: `I cannot read that script: ${found.error}` };
  if (found !== undefined) return startScript(play, scripts, message, found);
  if (play.frames.length > 0 && !message.busy) return { play };
  return { play, reply: acknowledgement(message.text) };
}

/** What a hook put before the model: no message, so nobody answers it, but the rules of the script see it too. */
export function overhear(play: Play, scripts: Scripts, text: string): Play {
  const rule = play.ignoring === "none" ? matchingRule(play, scripts, text) : undefined;
  return rule === undefined ? play : { ...play, frames: [...play.frames, rule] };
}

/** The next plain step and the mind after beginning it; undefined when this turn has nothing left to do. */
export function nextStep(play: Play, scripts: Scripts): { step: PlainStep; play: Play } | undefined {
  let frames = play.frames;
  while (frames.length > 0) {
    const frame = frames[frames.length - 1];
    const step = frame === undefined ? undefined : walkOf(frame, scripts)?.at(frame.at);
    if (frame !== undefined && step !== undefined) {
      const begun = [...frames.slice(0, -1), { ...frame, at: frame.at + 1 }];
      return { step, play: { ...after(step, play), frames: trimFrames(begun, scripts) } };
    }
    if (frame?.aside === true) return undefined;
    frames = frames.slice(0, -1);
  }
  return undefined;
}

/** When a turn has ended: the script that waits for its own turn, if there is one. */
export function nextScript(play: Play): Play | undefined {
  const [script, ...queued] = play.queued;
  return script === undefined ? undefined : { ...play, queued, script, frames: [{ script, at: 0 }] };
}

function after(step: PlainStep, play: Play): Play {
  if (step.kind === "ignore") return { ...play, ignoring: step.messages };
  if (step.kind !== "usage") return play;
  const { kind: _kind, ...changes } = step;
  return { ...play, usage: { ...play.usage, ...changes } };
}

/** Frames that still have a step (or end the turn by having none): so an empty list means that all is played. */
function trimFrames(frames: readonly Frame[], scripts: Scripts): readonly Frame[] {
  return frames.filter((frame) => frame.aside === true || hasStep(frame, scripts));
}

function hasStep(frame: Frame, scripts: Scripts): boolean {
  return walkOf(frame, scripts)?.at(frame.at) !== undefined;
}

function startScript(play: Play, scripts: Scripts, message: { id: string; busy: boolean }, script: Script): Heard {
  if (isHalfPlayed(play, scripts, script)) return { play };
  if (message.busy) return { play: { ...play, queued: [...play.queued, message.id] }, script };
  return { play: { ...play, script: message.id, frames: [{ script: message.id, at: 0 }] }, script };
}

/** An instruction that is sent again after an interrupt or a restart is no new task: what was done stays done. */
function isHalfPlayed(play: Play, scripts: Scripts, script: Script): boolean {
  const current = play.frames.length === 0 || play.script === null ? undefined : scripts.get(play.script);
  return current !== undefined && JSON.stringify(current.steps) === JSON.stringify(script.steps);
}

function matchingRule(play: Play, scripts: Scripts, text: string): Frame | undefined {
  const script = play.script === null ? undefined : scripts.get(play.script);
  if (play.script === null || script === undefined) return undefined;
  const words = withoutScripts(text);
  const rule = walk(script).rules.findIndex((candidate) => matchesPattern(candidate.pattern, words));
  return rule < 0 ? undefined : { script: play.script, rule, at: 0 };
}

function walkOf(frame: Frame, scripts: Scripts): Walk | undefined {
  const script = scripts.get(frame.script);
  if (script === undefined) return undefined;
  const whole = walk(script);
  if (frame.rule === undefined) return whole;
  const rule = whole.rules[frame.rule];
  return rule === undefined ? undefined : walk({ steps: rule.steps });
}

function acknowledgement(text: string): string {
  const start = text.replace(/\s+/g, " ").trim().slice(0, 80);
  return `Understood: ${start}`;
}
