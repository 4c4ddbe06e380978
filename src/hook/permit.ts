/**
 * The permit before writing tools, as a program of its own because it fails the other way than the recording hooks. Its
 * rules are the policy file it is started with; what it answers is act/hooks/answer-permit.ts. An answer is always
 * printed and the exit is always 0: a shell that sees anything else prints the refusal itself (its settings).
 */

import { answerPermit, describePermitFailure, isCallName, policyIn } from "#act/hooks/answer-permit.ts";
import { lifeOf } from "#act/hooks/life.ts";
import { objectIn, type Payload } from "#act/hooks/payload.ts";
import { linkTargetByNode, resolverOnDisk } from "#act/hooks/resolve-on-disk.ts";
import { dialectNamed } from "#runtimes/dialects.ts";
import type { HookDialect } from "#runtimes/hook-dialect.ts";
import { addressIn, askOnce } from "#store/open.ts";
import { type Libc, openLibc } from "#sys/libc.ts";
import { readNow } from "#sys/read-now.ts";
import { readPayload } from "./read-payload.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Readers seldom wait at all; one that has to is given this long before it counts as not knowing. */
const BUSY_MS = 2_000;

/** The refusal to print; undefined when there is nothing against the call. Never rejects. */
export async function permitByCommand(
  policyFile: string,
  spoken: string | undefined,
  env: Env,
): Promise<string | undefined> {
  const dialect = dialectNamed(spoken);
  try {
    const libc = openLibc();
    const rules = readNow(policyFile);
    const payload = await readPayload(libc);
    if (rules?.includes('"kind":"remedy"')) return permitRemedy(payload, rules, dialect, libc);
    return await answerPermit(payload, {
      dialect,
      policy: policyIn(rules),
      attempt: env.OVERSEER_ATTEMPT ? Number(env.OVERSEER_ATTEMPT) : undefined,
      resolve: resolverOnDisk(libc?.linkTarget ?? linkTargetByNode),
      life: ({ state, attempt }) =>
        lifeOf({ attempt, ask: (query, busyMs) => askOnce(addressIn(state), query, busyMs) }, BUSY_MS),
      noteFenced({ state, attempt }) {
        const { tryRecordFenced } = require("#act/hooks/fenced.ts") as typeof import("#act/hooks/fenced.ts");
        return tryRecordFenced(state, attempt, "it wanted to change something after its end");
      },
      mark: ({ heard }, call) => heard === undefined || leaveMark(libc, heard, call),
    });
  } catch (error) {
    return dialect.deny(describePermitFailure(error));
  }
}

/** A remediating agent has no attempt, and rules of its own. Loaded only for one. */
function permitRemedy(
  payload: Payload | undefined,
  rules: string,
  dialect: HookDialect,
  libc: Libc | undefined,
): string | undefined {
  const { answerRemedyPermit } =
    require("#act/hooks/answer-remedy-permit.ts") as typeof import("#act/hooks/answer-remedy-permit.ts");
  const { readRemedyPolicy } =
    require("#domain/permit/remedy-permit.ts") as typeof import("#domain/permit/remedy-permit.ts");
  const policy = readRemedyPolicy(objectIn(rules));
  if (!policy)
    return dialect.deny("The rules of this remediation are missing, so it may change nothing; end your turn now.");
  return answerRemedyPermit(payload, {
    dialect,
    policy,
    resolve: resolverOnDisk(libc?.linkTarget ?? linkTargetByNode),
    mark: (call) => leaveMark(libc, policy.heard, call),
  });
}

/** A link, because it takes one call and nothing else; what it is called is all it says. Left already is left too. */
function leaveMark(libc: Libc | undefined, directory: string, call: string): boolean {
  if (!isCallName(call)) return true;
  const path = `${directory}/${call}`;
  if (libc?.makeLink(path, "heard")) return true;
  if ((libc?.linkTarget ?? linkTargetByNode)(path) !== undefined) return true;
  if (libc) return false;
  const { symlinkSync } = require("node:fs") as typeof import("node:fs");
  symlinkSync("heard", path);
  return true;
}
