/**
 * Who did it. Every event names one: a person at a keyboard, Overseer itself acting by a rule, or an agent speaking
 * through its report. Kept as text (`human:ada`, `overseer`, `agent:scout-1#47`) so that the log reads by itself.
 */
export type Actor = "overseer" | `human:${string}` | `agent:${string}`;

/** When and by whom something is decided; handed to every rule that writes events. */
export interface Moment {
  /** Wall clock, ms. */
  readonly now: number;
  readonly actor: Actor;
}

/** As a person would say it. */
export function nameOfActor(actor: Actor): string {
  if (actor === "overseer") return "Overseer";
  const [kind, ...rest] = actor.split(":");
  const name = rest.join(":");
  return kind === "agent" ? `agent ${name}` : name;
}

/** True for a form that `Actor` allows; whatever is read from outside is checked with this. */
export function isActor(text: string): text is Actor {
  return text === "overseer" || /^(human|agent):[^\s:][^\n]{0,80}$/.test(text);
}
