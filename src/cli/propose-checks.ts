/**
 * The conversation about checks that a repository has and the configuration does not, for `init` and `config checks`: what
 * was found, whether to run it, how it ended, whether to keep it. Where nobody can be asked nothing is run and nothing is
 * written, unless that was asked for in so many words.
 */
import type { CheckProposal, ProposedChecks, TriedCheck } from "#control/upkeep/propose-checks.ts";
import { adoptChecks, findProposal, LONGEST_TRIAL_MS, tryChecks } from "#control/upkeep/propose-checks.ts";
import type { World } from "#control/world.ts";
import { OverseerError } from "#errors.ts";
import { askYes } from "./ask-yes.ts";
import type { Call } from "./command.ts";
import { shortSpan } from "./short-time.ts";
import { alignRows, breakSentences, inert } from "./text.ts";

/**
 * `ask`: as a person at the terminal says, step by step. `keep`: run them and keep what passes. `try`: run them and write
 * nothing.
 */
export type ChecksWish = "ask" | "keep" | "try";

export async function proposeChecks(call: Call, world: World, wish: ChecksWish): Promise<ProposedChecks> {
  const proposal = await findProposal(world);
  const nothing: ProposedChecks = { ...proposal, tried: null, kept: [], hold: null };
  if (proposal.found.length === 0) {
    tellNone(call, proposal);
    return nothing;
  }
  if (!(await isWanted(call, proposal, wish))) return nothing;
  const tried = await runUntilStopped(call, world, proposal);
  const passed = tried.filter(({ verdict }) => verdict === "pass");
  tellTried(call, proposal, tried);
  if (passed.length === 0 || !(await isKept(call, passed, wish))) return { ...nothing, tried };
  const { hold, path } = await adoptChecks(world, passed);
  const kept = passed.map(({ name }) => name);
  if (!call.json) {
    const are = kept.length === 1 ? "is your check" : "are your checks";
    say(
      call,
      "line",
      `${joinNames(kept)} ${are} now, in ${inert(path)}; work counts as done, and lands, only if ${kept.length === 1 ? "it passes" : "they pass"}.`,
    );
    if (hold) say(call, "remark", `${hold.message} ${hold.hint}`);
  }
  return { ...nothing, tried, kept, hold };
}

/** Ctrl-C ends what runs, which is in a process group of its own; a second one ends us as well. */
async function runUntilStopped(call: Call, world: World, proposal: CheckProposal): Promise<TriedCheck[]> {
  const stop = new AbortController();
  const { signal } = stop;
  const end = () => stop.abort();
  process.once("SIGINT", end);
  const begins = ({ name, command }: { readonly name: string; readonly command: string }) =>
    call.out.remark(`Running ${inert(name)}: ${inert(command)} (at most ${shortSpan(LONGEST_TRIAL_MS)})`);
  try {
    const tried = await tryChecks(world, proposal, { begins, signal });
    if (!signal.aborted) return tried;
  } finally {
    process.off("SIGINT", end);
  }
  const hint = "'overseer config checks' tries them again.";
  throw new OverseerError("conflict", "CHECKS_STOPPED", "The checks were stopped; nothing was written.", hint);
}

function say({ out }: Call, how: "line" | "remark", text: string): void {
  out[how](breakSentences(out, text).join("\n"));
}

function joinNames(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function tellNone(call: Call, { configured }: CheckProposal): void {
  if (call.json) return;
  if (configured.length > 0)
    say(call, "line", `No check was found beside those that are configured: ${joinNames(configured)}.`);
  else
    say(
      call,
      "remark",
      `No check is configured, and none was found here. Name yours: overseer config set checks.tests "<command>"`,
    );
}

/** Lists them, and asks where that is still open. */
async function isWanted(call: Call, { branch, found }: CheckProposal, wish: ChecksWish): Promise<boolean> {
  if (wish !== "ask") return true;
  const rows = found.map(({ name, command, from, inCi }) => [
    `  ${name}`,
    inert(command),
    `${inert(from)}${inCi ? ", and CI runs it" : ""}`,
  ]);
  const about = ["This repository has checks that Overseer could hold work against:", ...alignRows(rows)];
  const wanted = await askYes(
    call,
    about,
    `Run ${found.length === 1 ? "it" : "each"} once on ${inert(branch)} now, in a worktree of its own?`,
    "yes",
  );
  if (wanted !== true && !call.json) {
    const names = found.map(({ name, command }) => `${name} (${inert(command)})`);
    const has = wanted === undefined ? `This repository has checks that are not configured: ${joinNames(names)}. ` : "";
    say(
      call,
      "remark",
      `${has}'overseer config checks' runs each once and asks whether to keep it; in a script, 'overseer config checks --yes' keeps what passes.`,
    );
  }
  return wanted === true;
}

function tellTried(call: Call, { branch, setup }: CheckProposal, tried: readonly TriedCheck[]): void {
  if (call.json) return;
  const rows = tried.map(({ name, verdict, why, durationMs, command }) => [
    `  ${name}`,
    verdict === "pass"
      ? `passed in ${shortSpan(durationMs)}`
      : inert(`${verdict === "fail" ? "failed" : "did not run"}${why === null ? "" : `: ${why}`}`),
    inert(command),
  ]);
  for (const line of alignRows(rows)) call.out.line(line);
  const others = tried.filter(({ verdict }) => verdict !== "pass");
  for (const { name, command, logPath, verdict } of others) {
    const log = logPath === "" ? "" : ` What it said: ${inert(logPath)}`;
    const how = verdict === "fail" ? `does not pass on ${inert(branch)} as it is` : `could not run on ${inert(branch)}`;
    const later = `overseer config set checks.${name} "${inert(command)}"`;
    say(call, "remark", `${name} ${how}, so it is not proposed: nothing could land. Once it passes: ${later}.${log}`);
  }
  if (others.length > 0 && setup !== null) {
    say(
      call,
      "remark",
      `They ran in a fresh worktree. If they miss what the project installs: overseer config set worktree.setup "${setup}", then overseer config checks`,
    );
  }
}

async function isKept(call: Call, passed: readonly TriedCheck[], wish: ChecksWish): Promise<boolean> {
  if (wish !== "ask") return wish === "keep";
  const names = passed.map(({ name }) => name);
  const one = passed.length === 1;
  const kept = await askYes(
    call,
    [],
    `Make ${joinNames(names)} ${one ? "your check" : "your checks"}, so that only work that passes lands?`,
    "yes",
  );
  return kept === true;
}
