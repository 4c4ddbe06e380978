/**
 * The end of the demo's story: what went wrong, what was done about it and why, one paragraph each, made of what the log
 * says and nothing else. What did not happen is not told: an agent of your own may well have no trouble at all.
 */
import type { ToldEvent } from "./narrate.ts";

export interface Story {
  readonly title: string;
  readonly text: string;
}

/** How the claim that failed its checks is called: staged as a lie, or a mistake of somebody's own agent. */
export type ClaimTitle = "The agent that lied" | "The claim that did not hold";

type Teller = (of: EventsOf) => string | undefined;

/** The stories, in the order of their tasks; the daemon's own comes last. */
export function storiesOf(events: readonly ToldEvent[], lied: ClaimTitle): Story[] {
  const nodes = [...new Set(events.flatMap(({ nodeId }) => nodeId ?? []))].toSorted(byNumber);
  const tellers: readonly (readonly [string, Teller])[] = [
    ["The agent that hung", describeHang],
    [lied, describeFalseClaim],
    ["The agent that went in circles", describeSteering],
    ["The agent that died", describeDeath],
    ["The agent that asked", describeQuestion],
    ["The two that collided", describeCollision],
  ];
  const ofNodes = nodes.flatMap((node) => {
    const own = new EventsOf(events.filter(({ nodeId }) => nodeId === node));
    return tellers.flatMap(([title, tell]) => {
      const text = tell(own);
      return text === undefined ? [] : [{ title: `${title} (${node})`, text }];
    });
  });
  const adopted = describeAdoption(new EventsOf(events));
  return adopted === undefined ? ofNodes : [...ofNodes, { title: "The daemon that was killed", text: adopted }];
}

/** The events of one node, or of all, and what one asks about them. */
class EventsOf {
  constructor(private readonly events: readonly ToldEvent[]) {}

  all(type: string): readonly ToldEvent[] {
    return this.events.filter((event) => event.type === type);
  }

  first(type: string, is: (event: ToldEvent) => boolean = () => true): ToldEvent | undefined {
    return this.events.find((event) => event.type === type && is(event));
  }

  after(event: ToldEvent, type: string): ToldEvent | undefined {
    return this.events.find((later) => later.seq > event.seq && later.type === type);
  }
}

const word = (event: ToldEvent | undefined, name: string) => String(event?.data[name] ?? "");

function describeHang(of: EventsOf): string | undefined {
  const nudges = of.all("assignment.nudged").length;
  const moved = of.first("assignment.reassigning");
  if (nudges === 0 && !moved) return undefined;
  const fresh = moved && of.after(moved, "agent.slung");
  const steps = [
    `it was asked ${nudges === 1 ? "once" : `${nudges} times`} for its status`,
    ...(of.first("assignment.resent") ? ["interrupted and told again"] : []),
    ...(fresh ? [`replaced by ${labelOf(fresh)}, which continued from its last commit`] : []),
  ];
  return `nothing was heard of it, so ${joinList(steps)}.`;
}

function describeFalseClaim(of: EventsOf): string | undefined {
  const failed = of.first("check.finished", ({ data }) => data.verdict === "fail");
  const returned = failed && of.after(failed, "work.returned");
  if (!failed || !returned) return undefined;
  const fixed = of.after(returned, "landing.landed") ? ", and fixed it" : "";
  return `it reported done, and the check '${word(failed, "name")}' said otherwise; it was told so${fixed}.`;
}

function describeSteering(of: EventsOf): string | undefined {
  const heard = of.first("agent.steered");
  return heard && `its reflex told it at step ${word(heard, "step")}, without a model: ${word(heard, "fact")}.`;
}

function describeDeath(of: EventsOf): string | undefined {
  const death = of.first("agent.ended", ({ data }) => data.cause === "died");
  if (!death) return undefined;
  const again = of.after(death, "assignment.restarting") ? "; it was started again in the same worktree" : "";
  return `${lowerFirst(word(death, "detail")).replace(/\.$/, "")}${again}.`;
}

function describeQuestion(of: EventsOf): string | undefined {
  const question = of.first("question.asked");
  if (!question) return undefined;
  const id = word(question, "questionId");
  const answer = of.first("question.answered", ({ data }) => data.questionId === id);
  return answer && `it waited for a person, heard “${word(answer, "answer")}”, and continued.`;
}

function describeCollision(of: EventsOf): string | undefined {
  const refused = of.first("landing.refused", ({ data }) => Array.isArray(data.files) && data.files.length > 0);
  if (!refused) return undefined;
  const files = Array.isArray(refused.data.files) ? refused.data.files.join(", ") : "";
  const landed = of.after(refused, "merge.landed");
  const how = landed ? `; both sides were kept (tier: ${word(landed, "tier")})` : "";
  return `another had changed ${files} at the same place; it went back to its author${how}.`;
}

function describeAdoption(of: EventsOf): string | undefined {
  const adopted = of.first("daemon.adopted");
  const agents = Array.isArray(adopted?.data.agents) ? adopted.data.agents.length : 0;
  if (agents === 0) return undefined;
  return `${agents === 1 ? "one agent" : `${agents} agents`} kept running without it, and the next one took them over.`;
}

function labelOf({ agent, attempt }: ToldEvent): string {
  return `${agent}#${attempt}`;
}

function lowerFirst(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

function joinList(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")}, and ${parts.at(-1)}`;
}

/** T2 before T10. */
function byNumber(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}
