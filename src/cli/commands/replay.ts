/** `overseer replay`: what the reflex would have said to recorded work, how right that is, and what other limits would change. */

import { resolve } from "node:path";
import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { printDifference } from "#cli/replay/difference-text.ts";
import { labelByKeys } from "#cli/replay/label-keys.ts";
import { showProgress } from "#cli/replay/progress.ts";
import { printSaid } from "#cli/replay/said-text.ts";
import { printScore } from "#cli/replay/score-text.ts";
import { plural } from "#cli/text.ts";
import { roleSources } from "#config/places.ts";
import { loadRoles } from "#config/roles.ts";
import { type Config, schema } from "#config/schema.ts";
import { presentPlain } from "#control/present.ts";
import { findSessionHomes, type ReplayInput, readBuiltInRoles, refuseFaults, replayTraces } from "#control/replay.ts";
import { compareStore, compareTranscripts, type Limiting, loadOtherConfig } from "#control/replay-config.ts";
import { findSentence, labelSentence, listJudged, listSentences, type ShownSentence } from "#control/replay-label.ts";
import { scoreLabels } from "#control/replay-score.ts";
import type { World } from "#control/world.ts";
import { OverseerError } from "#errors.ts";
import { systemFiles } from "#sys/files.ts";

const command: Command<Parts> = {
  name: "replay",
  summary: "Run the reflex over recorded work and show what it says.",
  details: `Without --traces it reads the sessions that your own agents left behind (Claude Code, Codex, Gemini CLI,
Copilot CLI, OpenCode, pi), where their directories exist. It only reads: nothing is changed, no agent hears anything.
Files that gave nothing are named with the reason, and lines that could not be read are counted. See docs/replay.md.`,
  options: [
    {
      name: "traces",
      value: "dir",
      summary: "A directory or a file with recorded sessions.",
      repeat: true,
    },
    { name: "role", value: "role", summary: "Assume this role for sessions that name none (default builder)." },
    { name: "all", summary: "Show every sentence, miss and unread file, not only some." },
    {
      name: "score",
      value: "file",
      summary: "Score the rules against these labels: precision, recall, false alarms, how early.",
    },
    {
      name: "label",
      value: "file",
      summary: "Say of each sentence whether it was right; labels are appended to this file.",
    },
    { name: "file", value: "file", summary: "With --label: the session file that the sentence is about." },
    { name: "right", value: "id", summary: "With --label: this sentence was right.", repeat: true },
    { name: "wrong", value: "id", summary: "With --label: this sentence was wrong.", repeat: true },
    {
      name: "config",
      value: "file",
      summary: "Compare with these limits: what would have been done differently, and when.",
    },
  ],
  examples: [
    { line: "overseer replay", why: "what would have been said to your own agents, where and why" },
    { line: "overseer replay --traces .git/overseer/logs", why: "run the reflex over this repository's agents" },
    { line: "overseer replay --config stricter.yaml", why: "this repository's agents under other limits" },
  ],
  async run(call, parts) {
    refuseAtOdds(call);
    if (call.text("score") !== undefined) await runScore(call, parts);
    else if (call.text("label") !== undefined) await runLabel(call, parts);
    else if (call.text("config") !== undefined) await runCompare(call, parts);
    else {
      const result = await replayTraces(await inputOf(call, parts));
      if (call.json) call.out.json(presentPlain(result));
      else printSaid(call, result);
      refuseFaults(result.faults);
    }
  },
};

/** What would be passed over in silence otherwise. */
function refuseAtOdds(call: Call): void {
  const ways = ["score", "label", "config"].filter((name) => call.text(name) !== undefined);
  if (ways.length > 1) {
    const both = ways.map((name) => `--${name}`).join(" and ");
    throw new OverseerError("usage", "OPTIONS_APART", `${both} do not go together.`, "Run replay once for each.");
  }
  const judged = ["file", "right", "wrong"].filter(
    (name) => call.text(name) !== undefined || call.list(name).length > 0,
  );
  if (judged.length > 0 && call.text("label") === undefined) {
    const hint = "Add --label <file>, which the labels are written to; --traces names what is read.";
    throw new OverseerError("usage", "LABEL_FILE_MISSING", `--${judged[0]} is about a label.`, hint);
  }
  const twice = call.list("right").find((id) => call.list("wrong").includes(id));
  if (twice !== undefined) {
    const hint = "Name it with one of --right and --wrong.";
    throw new OverseerError("usage", "LABEL_TWICE", `${twice.slice(0, 40)} cannot be right and wrong.`, hint);
  }
}

async function runScore(call: Call, parts: Parts): Promise<void> {
  const { reflex, roles } = await limitsHere(parts);
  const result = await scoreLabels({
    files: systemFiles(),
    labels: call.text("score") ?? "",
    places: call.list("traces").map(withoutSlash),
    reflex,
    roles,
    role: roleOf(call),
    progress: showProgress(isWatched(call)),
  });
  if (call.json) call.out.json(presentPlain(result));
  else printScore(call, result);
  refuseFaults(result.faults);
}

async function runLabel(call: Call, parts: Parts): Promise<void> {
  const labels = call.text("label") ?? "";
  const judged = { right: call.list("right"), wrong: call.list("wrong") };
  const named = judged.right.length + judged.wrong.length > 0;
  if (!named && !call.out.interactive) {
    const hint = "Say --right <id> or --wrong <id>, or run it on a terminal to be asked.";
    throw new OverseerError("usage", "LABEL_MISSING", "Which sentence is to be labelled?", hint);
  }
  const judgedBefore = await listJudged(systemFiles(), labels);
  const file = call.text("file");
  const input = await inputOf(call, parts, file === undefined ? undefined : [file]);
  const result = await replayTraces(input);
  const sentences = listSentences(result.traces);
  const [only, ...more] = input.places;
  const isDirectory = only !== undefined && more.length === 0 && (await input.files.list(only)) !== undefined;
  const base = isDirectory ? resolve(only) : process.cwd();
  const judge = (sentence: ShownSentence, isRight: boolean) =>
    labelSentence(input.files, labels, base, sentence, isRight);
  if (!named) {
    const open = sentences.filter(({ id }) => !judgedBefore.has(id));
    const before = sentences.length - open.length;
    if (before > 0) call.out.line(`${plural(before, "sentence")} labelled before, left out.`);
    const count = await labelByKeys(call, open, judge);
    call.out.line(`${plural(count, "label")} added to ${labels}.`);
    return;
  }
  const found = [
    ...judged.right.map((id) => [findSentence(sentences, id), true] as const),
    ...judged.wrong.map((id) => [findSentence(sentences, id), false] as const),
  ];
  let added = 0;
  for (const [sentence, isRight] of found) if (await judge(sentence, isRight)) added += 1;
  if (call.json) call.out.json(presentPlain({ labels, added }));
  else
    call.out.line(
      `${plural(added, "label")} added to ${labels}${added < found.length ? "; the rest was said before" : ""}.`,
    );
}

async function runCompare(call: Call, parts: Parts): Promise<void> {
  const files = systemFiles();
  const other = await loadOtherConfig(files, call.text("config") ?? "");
  const world = await worldHere(parts);
  const now = await limitsHere(parts);
  const then: Limiting = { ...now, config: other, reflex: other.reflex };
  const fromStore = world !== undefined && call.list("traces").length === 0;
  const result = fromStore
    ? await compareStore(await world.reader(), now, then, world.clock.now())
    : await compareTranscripts(await inputOf(call, parts), then);
  if (call.json) call.out.json(presentPlain(result));
  else printDifference(call, result);
  if (!call.json && world === undefined && call.list("traces").length === 0)
    call.out.remark("There is no repository here, so your own sessions were read; --traces <dir> names others.");
  refuseFaults(result.read?.faults ?? []);
}

async function inputOf(call: Call, parts: Parts, named: readonly string[] = call.list("traces")): Promise<ReplayInput> {
  const files = systemFiles();
  const places = named.length > 0 ? named.map(withoutSlash) : await findSessionHomes(files, parts.machine().env);
  if (places.length === 0) {
    const hint = "Say where they are: `overseer replay --traces <dir>`.";
    throw new OverseerError("not-found", "TRACES_MISSING", "No sessions of an agent were found for this user.", hint);
  }
  const { reflex, roles } = await limitsHere(parts);
  return { files, places, reflex, roles, role: roleOf(call), progress: showProgress(isWatched(call)) };
}

function withoutSlash(path: string): string {
  return path.replace(/(?<=.)\/+$/, "");
}

function roleOf(call: Call): string {
  return call.text("role") ?? "builder";
}

function isWatched(call: Call): boolean {
  return !call.json && call.out.interactive;
}

/** The repository one stands in; elsewhere none. Settings that are wrong are told. */
async function worldHere(parts: Parts): Promise<World | undefined> {
  try {
    return await parts.world();
  } catch (error) {
    if (!(error instanceof OverseerError) || error.kind === "config") throw error;
    return undefined;
  }
}

/** How strict the repository one stands in is; elsewhere as strict as one without any settings. */
async function limitsHere(parts: Parts): Promise<Limiting> {
  const world = await worldHere(parts);
  if (world === undefined) return plainLimits(schema.parse({}));
  const { config, files } = await world.settings();
  const roles = await loadRoles(files, roleSources(world.root, config));
  return { config, reflex: config.reflex, roles: roles.byCapability };
}

function plainLimits(config: Config): Limiting {
  return { config, reflex: config.reflex, roles: readBuiltInRoles() };
}

export default command;
