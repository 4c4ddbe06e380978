/**
 * Writing to agents and people: mail, answers, nudges. Sending is one commit with its recipients checked in it, then a
 * hint to whoever runs them.
 */

import type { World } from "#control/world.ts";
import { assertAllowed } from "#control/world.ts";
import type { Moment } from "#domain/core/actor.ts";
import { refuseOversized } from "#domain/core/bounds.ts";
import { refuse } from "#domain/core/refusal.ts";
import { type Address, addressOf, badAddress, membersOf, nobodyIn, OVERSEER_ADDRESS } from "#domain/inbox/addresses.ts";
import type { Route } from "#domain/inbox/mailing.ts";
import { queueEvent, routeTo } from "#domain/inbox/mailing.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptLabel, isLiving } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { Letter, MailPriority, MailType, Message, NudgeSeverity } from "#domain/model/message.ts";
import { isUnseen } from "#domain/model/message.ts";
import { PERSON_ADDRESS } from "#domain/model/protocol.ts";
import type { Question } from "#domain/model/question.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { openQuestions } from "#store/assignments.ts";
import { attemptByNumber, livingAttempts } from "#store/attempts.ts";
import {
  holderOfLast,
  lastByName,
  livingNames,
  livingParentOfLast,
  messagesByIds,
  nodeOfLast,
} from "#store/messages.ts";
import { wakeProcess } from "#sys/wake-process.ts";
import { LOOK_EVERY_MS, messageNamed, noteInLog, type Speaker, speaker, threadOf } from "./speaker.ts";

export interface MailInput {
  readonly to: string;
  readonly subject: string;
  readonly body: string;
  readonly type?: MailType;
  readonly priority?: MailPriority;
  readonly thread?: string;
}

export interface Sent {
  readonly messageId: string;
  /** Whose box it lies in now. */
  readonly to: string;
  readonly attempt: number | null;
  readonly threadId: string;
  /** Said when it went elsewhere than it was addressed. */
  readonly note: string | null;
  readonly status: Message["status"];
}

/** Sends mail to an agent, a group, the person or the orchestrator. One message for each recipient. */
export async function send(world: World, input: MailInput): Promise<readonly Sent[]> {
  const body = await checkBody(world, input.body);
  const thread = input.thread === undefined ? null : await threadOf(world, input.thread);
  return deliver(world, input.to, (messageId, from) => ({
    messageId,
    kind: "mail",
    from,
    to: input.to,
    subject: oneLine(input.subject),
    body,
    type: input.type ?? "status",
    priority: input.priority ?? "normal",
    ...(thread === null ? {} : { threadId: thread }),
  }));
}

export interface ReplyInput {
  readonly body: string;
  readonly subject?: string;
  readonly type?: MailType;
  readonly priority?: MailPriority;
}

/** Answers whoever sent it, in the same thread. */
export async function reply(world: World, id: string, input: ReplyInput): Promise<readonly Sent[]> {
  const original = await messageNamed(world, id);
  const body = await checkBody(world, input.body);
  const subject = input.subject ?? (/^re: /i.test(original.subject) ? original.subject : `Re: ${original.subject}`);
  const to = answerTo(original, speaker(world).name);
  return deliver(world, to, (messageId, from) => ({
    messageId,
    kind: "mail",
    from,
    to,
    subject: oneLine(subject),
    body,
    type: input.type ?? "status",
    priority: input.priority ?? original.priority,
    threadId: original.threadId ?? original.messageId,
  }));
}

/** Who gave an instruction is written with its number and kind; the answer goes to the name. */
function answerTo(original: Message, own: string): string {
  const from = original.from === own ? original.agent : original.from;
  if (from === OVERSEER_ADDRESS) {
    throw new OverseerError(
      "conflict",
      "NO_REPLY",
      `${original.messageId} is from Overseer itself, which does not read mail.`,
      "Write to the recipient directly: overseer mail send --to <name> …",
    );
  }
  if (from.startsWith("human:")) return PERSON_ADDRESS;
  return from.replace(/^agent:/, "").replace(/#\d+$/, "");
}

/** A word to an agent at work, with the tone it is meant in. It expires when nobody saw it in time. */
export async function nudge(
  world: World,
  word: string,
  input: { readonly text: string; readonly severity: NudgeSeverity },
): Promise<Sent> {
  const body = await checkBody(world, input.text);
  const { resolveAgent } = await import("#control/names.ts");
  const meant = await resolveAgent(await world.reader(), word);
  const { inbox } = await world.config();
  const expiresAt = world.clock.now() + inbox.nudgeExpiry;
  const store = await world.writer();
  const messageId = world.ids.next("m_");
  const from = speaker(world).name;
  const attempt = orThrow(
    await store.commit({
      at: world.clock.now(),
      reads: { attempt: attemptByNumber(meant.attempt), living: livingNames() },
      decide: ({ attempt, living }): Decision<Attempt> => {
        if (!attempt || !isLiving(attempt)) {
          return refuse(
            "conflict",
            "AGENT_ENDED",
            `${attemptLabel(meant)} has ended; only running agents can be nudged.`,
            living.length > 0 ? `At work are: ${living.slice(0, 12).join(", ")}.` : "'overseer agents' lists them.",
          );
        }
        const letter: Letter = {
          messageId,
          kind: "nudge",
          from,
          body,
          tone: input.severity,
          expiresAt,
        };
        return accept([queueEvent(attempt, letter, world.actor, "asked-for")], attempt);
      },
    }),
  );
  wakeRunnerOf(attempt);
  return { messageId, to: attempt.agent, attempt: attempt.attempt, threadId: messageId, note: null, status: "queued" };
}

type LetterOf = (messageId: string, from: string) => Letter;

async function deliver(world: World, typed: string, letterOf: LetterOf): Promise<readonly Sent[]> {
  const address = addressOf(typed) ?? (await findAddressOfTask(world, typed));
  if (!address) assertAllowed(badAddress(typed));
  const sent =
    address?.kind === "group"
      ? await toGroup(world, address.group, letterOf)
      : [await toOne(world, address?.name ?? "", address?.kind === "person", letterOf)];
  await noteInLog(
    world,
    sent.map((one) => `sent mail ${one.messageId} to ${one.to}`),
  );
  return sent;
}

/** `T1` and `goal_x/T1` are no names of agents; whoever works on it is meant. Undefined where it is no task either. */
async function findAddressOfTask(world: World, typed: string): Promise<Address | undefined> {
  const { resolveAgent } = await import("#control/names.ts");
  try {
    return { kind: "agent", name: (await resolveAgent(await world.reader(), typed)).agent };
  } catch (error) {
    if (error instanceof OverseerError && (error.kind === "not-found" || error.kind === "usage")) return undefined;
    throw error;
  }
}

/** Its runner may look by itself only after a while. */
function wakeRunnerOf(box: Route["box"]): void {
  const runner = "runner" in box ? (box as Attempt).runner : null;
  if (runner) wakeProcess(runner.pid);
}

async function toOne(world: World, name: string, person: boolean, letterOf: LetterOf): Promise<Sent> {
  const own = speaker(world);
  const letter = letterOf(world.ids.next("m_"), own.name);
  const route = (await toLiving(world, own, name, person, letter)) ?? (await toWhoeverGoesOn(world, own, name, letter));
  wakeRunnerOf(route.box);
  return toSent(route, letter);
}

/** By far the most: one look, one write. Undefined, with nothing written, when there is more to find out. */
async function toLiving(
  world: World,
  own: Speaker,
  name: string,
  person: boolean,
  letter: Letter,
): Promise<Route | undefined> {
  const store = await world.writer();
  const asks = person && letter.type === "question" && own.attempt > 0;
  // What questions are is dear to load, and few letters are any.
  const asking = asks
    ? { ...(await import("#domain/reports/answer.ts")), questionId: world.ids.next("q_"), moment: momentOf(world) }
    : undefined;
  return orThrow(
    await store.commit({
      at: world.clock.now(),
      reads: {
        ...(own.attempt > 0 ? { own: attemptByNumber(own.attempt) } : {}),
        ...(person ? {} : { last: lastByName(name) }),
        ...(asks ? { open: openQuestions() } : {}),
      },
      decide: (seen: Looked): Decision<Route | undefined> => {
        const fenced = refuseFencedSender(seen.own, own);
        if (fenced) return fenced;
        if (asking && seen.own) return askByMail(asking, seen.own, seen.open ?? [], name, letter);
        const box = person ? { agent: name } : seen.last;
        if (!box || ("status" in box && !isLiving(box))) return accept([], undefined);
        return accept([queueEvent(box, letter, world.actor, "sent")], { box, note: null });
      },
    }),
  );
}

interface Looked {
  readonly own?: Attempt | undefined;
  readonly last?: Attempt | undefined;
  readonly open?: readonly Question[];
}

interface Asking extends Pick<typeof import("#domain/reports/answer.ts"), "askPerson"> {
  readonly questionId: string;
  readonly moment: Moment;
}

/** A person's inbox may lie unread for long; a question in it waits where people are reminded, and so does its asker. */
function askByMail(
  { askPerson, questionId, moment }: Asking,
  asker: Attempt,
  open: readonly Question[],
  name: string,
  letter: Letter,
): Decision<Route> {
  const { goalId, workNodeId: nodeId, assignmentId } = asker;
  const text = letter.subject ? `${letter.subject}\n\n${letter.body}` : letter.body;
  const asked = askPerson(open, { questionId, goalId, nodeId, assignmentId, text, options: [] }, moment);
  if (!asked.ok) return asked;
  const note = `Asked as ${asked.value.questionId}; you will get the answer as a message.`;
  const box = { agent: name };
  return accept([queueEvent(box, letter, moment.actor, "sent"), ...asked.events], { box, note });
}

function momentOf(world: World): Moment {
  return { now: world.clock.now(), actor: world.actor };
}

async function toWhoeverGoesOn(world: World, own: Speaker, name: string, letter: Letter): Promise<Route> {
  const store = await world.writer();
  return orThrow(
    await store.commit({
      at: world.clock.now(),
      reads: {
        own: attemptByNumber(own.attempt),
        last: lastByName(name),
        holder: holderOfLast(name),
        parent: livingParentOfLast(name),
        node: nodeOfLast(name),
        livingNames: livingNames(),
      },
      decide: ({ own: sender, ...known }): Decision<Route> => {
        const fenced = refuseFencedSender(sender, own);
        if (fenced) return fenced;
        const routed = routeTo(name, known);
        if (!routed.ok) return routed;
        return accept([queueEvent(routed.value.box, letter, world.actor, "sent")], routed.value);
      },
    }),
  );
}

async function toGroup(world: World, group: string, letterOf: LetterOf): Promise<Sent[]> {
  const own = speaker(world);
  const store = await world.writer();
  // Ids are made before the decision, which may run twice; how many are needed is only known inside.
  const ids: string[] = [];
  const idAt = (index: number) => {
    ids[index] ??= world.ids.next("m_");
    return ids[index] ?? "";
  };
  const members = orThrow(
    await store.commit({
      at: world.clock.now(),
      reads: { own: attemptByNumber(own.attempt), living: livingAttempts() },
      decide: ({ own: sender, living }): Decision<readonly Attempt[]> => {
        const fenced = refuseFencedSender(sender, own);
        if (fenced) return fenced;
        const found = membersOf(group, living, own.name);
        if (found.length === 0) return nobodyIn(group, living);
        const thread = idAt(0);
        const letters = found.map((one, index) => {
          const letter = letterOf(idAt(index), own.name);
          return queueEvent(
            one,
            { ...letter, threadId: letter.threadId ?? (index === 0 ? null : thread) },
            world.actor,
            "sent",
          );
        });
        return accept(letters, found);
      },
    }),
  );
  for (const box of members) wakeRunnerOf(box);
  return members.map((box, index) => ({
    ...toSent({ box, note: null }, letterOf(idAt(index), own.name)),
    threadId: idAt(0),
  }));
}

function refuseFencedSender(sender: Attempt | undefined, own: Speaker): Decision<never> | undefined {
  if (own.attempt === 0 || (sender && isLiving(sender))) return undefined;
  return refuse(
    "conflict",
    "ATTEMPT_FENCED",
    `Attempt #${own.attempt} has ended and can no longer send mail.`,
    "Nothing to do: another attempt has taken over, or it was stopped.",
  );
}

function toSent({ box, note }: Route, letter: Letter): Sent {
  const attempt = "attempt" in box ? box.attempt : null;
  const threadId = letter.threadId ?? letter.messageId;
  return { messageId: letter.messageId, to: box.agent, attempt, threadId, note, status: "queued" };
}

/** Throws for one that is empty, or that would not be stored whole: its sender can still say it shorter. */
async function checkBody(world: World, body: string): Promise<string> {
  if (body.trim() === "") {
    throw new OverseerError("usage", "BODY_EMPTY", "The message is empty.", 'Say it: --body "…".');
  }
  const { store } = await world.config();
  assertAllowed(refuseOversized({ "The message": body }, { field: store.caps.instruction, list: 1 }));
  return body;
}

function oneLine(subject: string): string {
  const line = subject.replace(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

/** Waits until all of these were seen (RCPT-1). Throws when one never will be, or was not in time. */
export async function awaitSeen(world: World, sent: readonly Sent[], timeoutMs: number): Promise<readonly Sent[]> {
  const store = await world.reader();
  const ids = sent.map((one) => one.messageId);
  for (const until = world.clock.now() + timeoutMs; ; ) {
    const { now } = await store.read({ now: messagesByIds(ids) });
    const lost = now.find((one) => one.status === "expired" || one.status === "dead_lettered");
    if (lost) {
      const message = `${lost.messageId} will not be seen: ${lost.endReason ?? lost.status}.`;
      throw new OverseerError(
        "unconfirmed",
        "NEVER_SEEN",
        message,
        "Write to a running agent: 'overseer agents' lists them.",
      );
    }
    const unseen = now.filter(isUnseen);
    if (unseen.length === 0) return sent.map((one) => ({ ...one, status: "seen" }));
    if (world.clock.now() >= until) {
      const which = unseen.map((one) => `${one.messageId} (${one.status}, ${one.agent})`).join(", ");
      throw new OverseerError(
        "unconfirmed",
        "NOT_SEEN_YET",
        `Not seen yet: ${which}.`,
        `It stays in the inbox and is delivered when possible; check with 'overseer mail read ${unseen[0]?.messageId}'.`,
      );
    }
    await world.clock.sleep(LOOK_EVERY_MS);
  }
}
