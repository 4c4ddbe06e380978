/**
 * Hooks as the runner answers them. Both routes answer whatever happens, each in its own direction: a recording hook lets
 * pass, the permit refuses. What is answered is the same as where hooks are commands (act/hooks).
 */
import { answerMoment } from "#act/hooks/answer-moment.ts";
import { answerPermit, NOT_UNDERSTOOD, type PermitDesk } from "#act/hooks/answer-permit.ts";
import { tryRecordFenced } from "#act/hooks/fenced.ts";
import { lifeOf } from "#act/hooks/life.ts";
import { LONGEST_PAYLOAD, objectIn } from "#act/hooks/payload.ts";
import { linkTargetByNode, resolverOnDisk } from "#act/hooks/resolve-on-disk.ts";
import { isHookMoment } from "#domain/permit/hook-moments.ts";
import { messageOf } from "#errors.ts";
import type { PermitEar } from "#runner/permit-ear.ts";
import type { SocketRoute, Unanswered } from "#runner/socket/routes.ts";
import type { HookDialect } from "#runtimes/hook-dialect.ts";
import type { RunnerDesk } from "./desk.ts";

/** Hooks of one step come together; more at once than an agent has sub-agents are none of its own making. */
const AT_ONCE = 32;
/** Readers seldom wait at all; the runner is not held up for longer by one that has to. */
const BUSY_MS = 1_000;

export interface HookRouteParts {
  readonly dialect: HookDialect;
  readonly desk: RunnerDesk;
  readonly ear: Pick<PermitEar, "hear">;
  /** Of the token in the settings of the agent's CLI. */
  readonly secretHash: string;
  readonly problem: (text: string) => void;
  /** Told of every call. */
  readonly rest: () => void;
}

export function hookRoutes(parts: HookRouteParts): { readonly hook: SocketRoute; readonly permit: SocketRoute } {
  const { dialect, desk, ear, secretHash, problem, rest } = parts;
  const { policy, attempt } = desk;
  const common = { way: "any", maxBytes: LONGEST_PAYLOAD, atOnce: AT_ONCE, secretHash } as const;
  const permit: PermitDesk = {
    ...{ dialect, policy, attempt },
    resolve: resolverOnDisk(linkTargetByNode),
    life: () => lifeOf(desk, BUSY_MS),
    noteFenced: () => tryRecordFenced(desk.state, attempt, "it wanted to change something after its end"),
    mark(_policy, call) {
      ear.hear(call);
      return true;
    },
  };
  return {
    hook: {
      ...common,
      async answer({ rest: [moment = ""], body }) {
        rest();
        if (!isHookMoment(moment)) return say(undefined);
        const payload = objectIn(body) ?? {};
        try {
          return say(await answerMoment({ moment, payload, fact: dialect.read(payload), dialect }, desk));
        } catch (error) {
          // HOOK-3: a hook never breaks its agent, also when not even the spool could be written.
          problem(`${moment} could not be answered: ${messageOf(error)}`);
          return say(undefined);
        }
      },
      refuse: () => say(undefined),
    },
    permit: {
      ...common,
      async answer({ body }) {
        rest();
        return say(await answerPermit(objectIn(body), permit));
      },
      refuse: (why) => say(dialect.deny(REFUSALS[why])),
    },
  };
}

const REFUSALS: Readonly<Record<Unanswered, string>> = {
  "not-the-agent": "Whoever asked did not show the secret of this attempt, so nothing may be changed.",
  "other-attempt": "These are the rules of another attempt, so nothing may be changed; end your turn now.",
  "too-big": NOT_UNDERSTOOD,
  "too-slow": "What the call says did not arrive in time, so it was not made; try once more.",
  "too-many": "Too many calls wait for their permit, so this one was not made; make fewer at once.",
  failed: "Overseer's permit failed, so nothing may be changed; say so in your report.",
};

/** Nothing to say is an empty answer: the CLI takes it as no opinion. */
function say(words: string | undefined): Response {
  return new Response(words ?? "", { headers: { "content-type": "application/json" } });
}
