/** What became of a report of done, as sentences; the part of `why` that speaks of claims, checks and landings. */
import { nameOfActor } from "#domain/core/actor.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import { shellWord } from "#domain/core/shell-words.ts";
import type { LandedSubmodule } from "#domain/model/claim.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { MergeTier } from "#domain/model/merge.ts";

/** One event as a sentence; undefined for what only an engineer would miss. */
export function claimSentence(event: EventOf, it: string): string | undefined {
  const who = nameOfActor(event.actor);
  switch (event.type) {
    case "work.claimed":
      return event.data.branch === null
        ? `${who} reported ${it} done without a change: "${withoutFullStop(event.data.noChangeReason ?? "")}".`
        : `${who} reported ${it} done with commit ${short(event.data.commit)} on ${event.data.branch}.`;
    case "work.checked":
      return event.data.verdict === "pass"
        ? `${event.data.checks.join(", ")} passed on commit ${short(event.data.commit)}.`
        : `No check is configured, so commit ${short(event.data.commit)} is taken on its author's word.`;
    case "work.returned":
      return describeReturned(event, who);
    case "work.taken_back":
      return `${who} took ${it} back${sayingWhy(event.data.reason)}: what landed on ${event.data.target} as ${short(event.data.landed)} is out of it again${event.data.commit === null ? "; nothing of it was left there" : ` by commit ${short(event.data.commit)}`}.`;
    case "work.given_anew":
      return `${who} gave the same work anew, as ${event.data.as}.`;
    case "check.finished":
      return describeCheck(event.data);
    case "landing.landed":
      return event.data.already
        ? `Commit ${short(event.data.commit)} was already in ${event.data.target}.`
        : `${who} landed commit ${short(event.data.commit)} on ${event.data.target} as ${short(event.data.to)}.${(event.data.submodules ?? []).map(describeUnpushed).join("")}`;
    case "landing.refused":
      return `${who} did not land commit ${short(event.data.commit)} on ${event.data.target}: ${withoutFullStop(event.data.detail)}${files(event.data.files)}.`;
    case "landing.index_mended":
      return `A git in the checkout of ${event.data.target} wrote an index from before this landing back after it, which staged what had landed as taken out; Overseer put that right${files(event.data.files)}.`;
    case "landing.undone":
      return `Commit ${short(event.data.commit)}, the next one on ${event.data.target}, has files as they were before this landing${files(event.data.files)}. If nobody meant that: git revert ${short(event.data.commit)}.`;
    case "landing.waiting":
      return `Landing commit ${short(event.data.commit)} waits: ${withoutFullStop(event.data.detail)}${files(event.data.files)}.`;
    case "landing.prepared":
      return `Overseer merged it with ${event.data.target} as ${short(event.data.to)}, ${MET[event.data.tier ?? "clean-merge"]}; that is to become ${event.data.target}.`;
    case "landing.approved":
      return `${who} let ${event.data.takenBack === "own" ? "only the author's own commits of " : ""}commit ${short(event.data.commit)} land${event.data.reason ? `, saying "${withoutFullStop(event.data.reason)}"` : ""}.`;
    default:
      return queueSentence(event) ?? modelSentence(event);
  }
}

/** A person's no is theirs and has no rounds; what a check found has. */
function describeReturned({ data }: EventOf<"work.returned">, who: string): string {
  const { commit, round, reason, words } = data;
  if (words !== undefined) return `${who} sent commit ${short(commit)} back${sayingWhy(words)}.`;
  return `The report did not hold${round > 0 ? ` (round ${round})` : ""}: ${withoutFullStop(reason)}.`;
}

function sayingWhy(reason: string | null): string {
  return reason ? `, saying "${withoutFullStop(reason)}"` : "";
}

/** What a person has to do about a submodule whose commit is only here. */
function describeUnpushed({ path, commit, ref, brought, problem }: LandedSubmodule): string {
  const id = commit.slice(0, 10);
  const [dir, said] = [shellWord(path), `The submodule ${path} is now at ${id}, which no remote of it has`];
  if (ref === null)
    return ` ${said}, and it could not be kept: ${withoutFullStop(problem ?? "")}. Push it from the agent's worktree.`;
  const push = `For others, push it: git -C ${dir} push <remote> ${commit}:refs/heads/<branch>.`;
  if (brought)
    return ` ${said}; it is in your repository of it, and 'git submodule update ${dir}' checks it out. ${push}`;
  const why = problem === undefined ? "" : ` (${withoutFullStop(problem)})`;
  return ` ${said}; it is kept as ${ref}${why}. After 'git submodule update --init ${dir}', which does not find it: git -C ${dir} fetch "$PWD" ${ref}:${ref} && git submodule update ${dir}. ${push}`;
}

/** How two sides came together, as the end of a sentence. */
const MET: Readonly<Record<MergeTier, string>> = {
  "clean-merge": "without a conflict",
  "auto-resolve": "with its conflict resolved mechanically",
  author: "with its conflict resolved by its author",
  "ai-resolve": "with its conflict resolved by a model",
  reimagine: "with the change made again on top of the target by a model",
  person: "with its conflict resolved by a person",
};

/** Its way through the queue of its target. */
function queueSentence(event: EventOf): string | undefined {
  switch (event.type) {
    case "merge.queued":
      if (event.data.takesBack)
        return `${nameOfActor(event.actor)} wants it out of ${event.data.target} again${sayingWhy(event.data.takesBack.reason)}; the revert went into the queue.`;
      return `${event.data.branch} went into the queue for ${event.data.target}.`;
    case "merge.testing":
      return event.data.size === 1
        ? "The merged result is checked."
        : `It is checked together with ${event.data.size - 1} more (${event.data.batch}).`;
    case "merge.waiting":
      return event.data.detail === null
        ? "It is its turn in the queue again."
        : `In the queue it waits until ${isoTime(event.data.notBefore)}: ${withoutFullStop(event.data.detail)}.`;
    case "merge.parked":
      return `The queue continues without it until a person has decided: ${withoutFullStop(event.data.detail)}.`;
    case "merge.landed":
      return `It came into the target ${MET[event.data.tier]}.`;
    case "merge.ended":
      return `It left the queue ${event.data.to === "refused" ? "without landing" : "as no longer wanted"}: ${withoutFullStop(event.data.detail)}.`;
    case "merge.resolved":
      return `How ${event.data.path} was resolved (${event.data.tier}) is remembered for the same conflict.`;
    default:
      return undefined;
  }
}

function modelSentence(event: EventOf): string | undefined {
  if (event.type !== "model.asked") return undefined;
  const { purpose, tries, ok, problems, prompt, promptHash, ownPrompt } = event.data;
  const why = problems[0] === undefined ? "no reason is known" : withoutFullStop(problems[0]);
  if (tries === 0) return `No model was asked (${purpose}): ${why}.`;
  const often = tries === 1 ? "" : `, ${tries} times`;
  const by = ownPrompt ? ` with your own prompt ${prompt} (hash ${promptHash})` : "";
  return ok
    ? `A model was asked (${purpose}${often})${by}, and its answer holds.`
    : `A model was asked (${purpose}${often})${by}, and its answer was refused: ${why}.`;
}

/**
 * Whether the queue's event says no more than what was said about the landing in the same breath: both are written in
 * one commit, for two readers.
 */
export function repeatsLanding(event: EventOf, before: EventOf | undefined): boolean {
  if (event.type === "merge.landed") return event.data.tier === "clean-merge" && before?.type === "landing.landed";
  if (event.type !== "merge.waiting" && event.type !== "merge.parked" && event.type !== "merge.ended") return false;
  return (
    (before?.type === "landing.waiting" || before?.type === "landing.refused") &&
    before.at === event.at &&
    before.data.detail === event.data.detail
  );
}

function describeCheck(receipt: EventOf<"check.finished">["data"]): string {
  const { name, verdict, why, commit } = receipt;
  const on = `on commit ${short(commit)}`;
  if (verdict === "pass") return `The check ${name} passed ${on}.`;
  return `The check ${name} ${verdict === "fail" ? "failed" : "did not run"} ${on}: ${why ?? "unknown"}.`;
}

function files(names: readonly string[]): string {
  if (names.length === 0) return "";
  const shown = names.slice(0, 5).join(", ");
  return ` (${shown}${names.length > 5 ? ` and ${names.length - 5} more` : ""})`;
}

function short(commit: string): string {
  return commit.slice(0, 10);
}

function withoutFullStop(text: string): string {
  return text.trim().replace(/\.+$/, "");
}
