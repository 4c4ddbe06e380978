/**
 * `overseer config`: what is set, what can be set, what it means, and changing it. The schema and its libraries are
 * loaded when one of these runs and not with the menu, because most commands never need them.
 */

import type { Call, Command } from "#cli/command.ts";
import { openEditorOf } from "#cli/editor.ts";
import { inert } from "#cli/text.ts";
import type { KeyExplanation, KeyValue } from "#config/explain.ts";
import type { LoadedConfig } from "#config/load.ts";
import type { Config } from "#config/schema.ts";
import type { SettingsEdit } from "#control/edit-settings.ts";
import { presentPlain } from "#control/present.ts";
import type { SettingsChange } from "#control/trust.ts";
import type { World } from "#control/world.ts";
import { OverseerError } from "#errors.ts";

/** What these commands need to be handed. */
export interface ConfigParts {
  /** The effective configuration and the file it comes from; `text` is absent when there is no file. */
  loadConfig(): Promise<LoadedConfig>;
  /** Takes the settings as they are now, by this person's word. */
  acceptSettings(): Promise<SettingsChange>;
  world(): Promise<World>;
}

const show: Command<ConfigParts> = {
  name: "show",
  summary: "Print the configuration in effect, and mark what differs from the defaults.",
  examples: [{ line: "overseer config show --json", why: "The same for scripts, with the changed keys listed." }],
  async run(call, parts) {
    const [{ configYaml }, { asWritten }] = await Promise.all([import("#config/render.ts"), import("#config/keys.ts")]);
    const { noticesOf } = await import("#config/load.ts");
    const loaded = await parts.loadConfig();
    const { config, text, path, hold } = loaded;
    const notices = await noticesOf(loaded);
    if (call.json) {
      const changed = await listChangedKeys(config);
      const exists = text !== undefined;
      const shown = { path, exists, hold: hold ?? null, notices, changed, config: asWritten(config) };
      return call.out.json(presentPlain(shown));
    }
    if (hold) call.out.remark(`${hold.message} ${hold.hint}`);
    else
      call.out.remark(
        text === undefined ? `There is no ${path}: these are the defaults.` : `From ${path} and the defaults.`,
      );
    for (const notice of notices) call.out.remark(notice);
    for (const line of configYaml(config).trimEnd().split("\n")) call.out.line(line);
  },
};

/** Keys whose value is not the default, each with both; entries of the user's own making have no default. */
async function listChangedKeys(config: Config) {
  const { asWritten, valuesOf } = await import("#config/keys.ts");
  return valuesOf(asWritten(config)).filter((key) => !Bun.deepEquals(key.value, key.default));
}

const explain: Command<ConfigParts> = {
  name: "explain",
  summary: "Explain a key: meaning, allowed values, current value and its source.",
  args: [{ name: "key", summary: "A key or a group, such as reconcile.tickEvery or guard.", optional: true }],
  examples: [
    { line: "overseer config explain recovery.silentAfter", why: "One key." },
    { line: "overseer config explain recovery", why: "What follows when an agent is stuck, with your figures." },
    { line: "overseer config explain guard", why: "All keys of a group." },
  ],
  async run(call, parts) {
    const { explainKey, listKeys } = await import("#config/explain.ts");
    const name = call.optionalArg("key");
    if (name === undefined) {
      printAll(
        call,
        listKeys().map((key) => explainKey(key)),
      );
      return;
    }
    const explanation = explainKey(name, await parts.loadConfig());
    if (call.json) call.out.json(presentPlain(explanation));
    else for (const line of explanationLines(explanation)) call.out.line(line);
  },
};

const get: Command<ConfigParts> = {
  name: "get",
  summary: "Print the value of a key, for scripts; of a group, all its values.",
  args: [{ name: "key", summary: "A key or a group, such as agents.maxConcurrent or landing." }],
  examples: [
    { line: "overseer config get landing.mode", why: "The value in effect, and nothing else on standard output." },
  ],
  async run(call, parts) {
    const { explainKey, listKeyValues } = await import("#config/explain.ts");
    const name = call.arg("key");
    const loaded = await parts.loadConfig();
    const values = await Promise.all(listKeyValues(name, loaded).map((one) => fillFromRules(one, parts)));
    if (call.json) return call.out.json(presentPlain(values));
    const [only] = values;
    if (only && only.key === name) {
      call.out.line(formatValue(only.value));
      // On the other stream, so that a script still reads the value and nothing else.
      if (only.source === "default") call.out.remark(`That is the default. ${explainKey(name).description}`);
      return;
    }
    for (const { key, value } of values) call.out.line(`${key}: ${formatValue(value)}`);
    if (values.length === 0) call.out.remark(`Nothing is set below ${inert(name)}.`);
  },
};

/** Where the file leaves open how work lands, what runs decides it; null would be no answer. */
async function fillFromRules(one: KeyValue, { world }: ConfigParts): Promise<KeyValue> {
  if (one.value !== null || (one.key !== "landing.mode" && one.key !== "landing.strategy")) return one;
  const { readLandingRules } = await import("#control/edit-settings.ts");
  const { mode, strategy } = await readLandingRules(await world());
  return { ...one, value: one.key === "landing.mode" ? mode : strategy };
}

const set: Command<ConfigParts> = {
  name: "set",
  summary: "Set a key in config.yaml; comments and order stay as they are.",
  details:
    "The value is checked before anything is written, and the file is replaced in one step. A list is written '[a, b]', a group '{command: npm test, timeout: 2m}', no value null. A running daemon applies it at its next tick.",
  args: [
    { name: "key", summary: "Such as agents.maxConcurrent, or checks.tests for a check's command." },
    { name: "value", summary: "As it would stand in the file.", rest: true },
  ],
  examples: [
    { line: "overseer config set agents.maxConcurrent 8", why: "At most eight agents at once." },
    { line: 'overseer config set checks.tests "npm test"', why: "Nothing lands unless the tests pass." },
  ],
  async run(call, parts) {
    const { setSetting } = await import("#control/edit-settings.ts");
    const key = call.arg("key");
    const value = call.restArgs().join(" ");
    tellEdit(call, await setSetting(await parts.world(), key, value), `${inert(key)} is ${inert(value)} now`);
  },
};

const edit: Command<ConfigParts> = {
  name: "edit",
  summary: "Edit config.yaml in $VISUAL or $EDITOR, and check it before it counts.",
  details:
    "You edit a draft. It replaces the file only if it can be used; otherwise it is kept, and the next 'overseer config edit' opens it again, unless config.yaml was changed meanwhile.",
  examples: [{ line: "EDITOR=nano overseer config edit", why: "With an editor of your choice." }],
  async run(call, parts) {
    const { editSettings } = await import("#control/edit-settings.ts");
    const world = await parts.world();
    const outcome = await editSettings(world, openEditorOf(world, "overseer config edit"));
    tellEdit(call, outcome, `${inert(outcome.path)} is changed`);
  },
};

function tellEdit(call: Call, { path, changed, hold, oldDraft }: SettingsEdit, said: string): void {
  if (call.json) {
    call.out.json(presentPlain({ path, changed, hold, oldDraft }));
    return;
  }
  call.out.line(changed ? `${said}; a running daemon applies it at its next tick.` : "Nothing was changed.");
  if (oldDraft !== null)
    call.out.remark(`A draft from before config.yaml was changed was not opened; it is kept in ${inert(oldDraft)}.`);
  if (hold) call.out.remark(`${hold.message} ${hold.hint}`);
}

function printAll(call: Call, keys: readonly KeyExplanation[]): void {
  if (call.json) call.out.json(presentPlain(keys));
  else {
    for (const { key, description, notBuilt } of keys) {
      call.out.line(`${key}: ${description}${notBuilt === undefined ? "" : " Not built yet."}`);
    }
  }
}

function explanationLines(explanation: KeyExplanation): string[] {
  const { key, description, children } = explanation;
  const told = explanation.timeline?.map((sentence) => `  ${sentence}`) ?? [];
  if (children)
    return [`${key}: ${description}`, ...told, ...children.flatMap((child) => ["", ...explanationLines(child)])];
  const facts: [string, string | undefined][] = [
    ["value", "value" in explanation ? `${formatValue(explanation.value)} (${explanation.source})` : undefined],
    ["default", "default" in explanation ? formatValue(explanation.default) : "none, it must be given"],
    ["takes", explanation.type],
    ["allowed", explanation.allowed?.join(", ")],
    ["note", explanation.notBuilt],
  ];
  return [
    `${key}: ${description}`,
    ...facts.flatMap(([name, fact]) => (fact === undefined ? [] : [`  ${name.padEnd(8)}${fact}`])),
  ];
}

function formatValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

const schema: Command<ConfigParts> = {
  name: "schema",
  summary: "Print the JSON Schema of config.yaml, for completion and checks in editors.",
  examples: [{ line: "overseer config schema > overseer.schema.json", why: "Point your editor's YAML support at it." }],
  async run(call) {
    const { jsonSchema } = await import("#config/explain.ts");
    call.out.json(presentPlain(jsonSchema()));
  },
};

const example: Command<ConfigParts> = {
  name: "example",
  summary: "Print a documented config.yaml with every key at its default.",
  async run(call) {
    const { exampleYaml } = await import("#config/render.ts");
    if (call.json) call.out.json(presentPlain({ text: exampleYaml() }));
    else for (const line of exampleYaml().trimEnd().split("\n")) call.out.line(line);
  },
};

const prompt: Command<ConfigParts> = {
  name: "prompt",
  summary: "Print a text with which models are asked, or list them all.",
  details:
    "Each is yours to change: put it into .overseer/prompts/<id>.md, and it is used instead of the built-in one; delete it and run 'overseer config accept' to have that again. Words in double braces are filled in; all of them have to stay. Every use is recorded with the hash of its text, and 'overseer why' says when it was your own.",
  args: [{ name: "id", summary: "Which one; without it, all of them are listed.", optional: true }],
  options: [{ name: "built-in", summary: "The built-in text, also where you have your own." }],
  examples: [
    {
      line: "mkdir -p .overseer/prompts && overseer config prompt plan-goal --built-in > .overseer/prompts/plan-goal.md",
      why: "Begin your own from the built-in one.",
    },
  ],
  async run(call, parts) {
    const { findPromptById, hashPrompt, loadPrintedPrompt, MODEL_PROMPTS } = await import("#config/model-prompts.ts");
    const world = await parts.world();
    const { files } = await world.settings();
    const id = call.optionalArg("id");
    const chosen = id === undefined ? MODEL_PROMPTS : [findPromptById(id)];
    const found = await Promise.all(
      chosen.map((one) => (call.has("built-in") ? one : loadPrintedPrompt(files, world.root, one))),
    );
    const rows = found.map((one) => ({ id: one.id, own: one.own === true, hash: hashPrompt(one), text: one.text }));
    if (call.json) return call.out.json(presentPlain(id === undefined ? rows : { ...rows[0] }));
    if (id !== undefined) for (const line of found[0]?.text.trimEnd().split("\n") ?? []) call.out.line(inert(line));
    else
      for (const { id: name, own, hash } of rows) call.out.line(`${name}  ${own ? "your own" : "built in"}  ${hash}`);
  },
};

const accept: Command<ConfigParts> = {
  name: "accept",
  summary: "Accept the settings as they are, although files are missing, empty or truncated.",
  details: `A file of .overseer/ that disappears (a stash, a checkout of an older branch, an editor that truncates
first) does not mean that you want the defaults: the previous settings stay in effect and nothing is started, checked
or landed. This command says that you do. Settings that came with git and were never confirmed are not accepted; see
'overseer trust'.`,
  examples: [{ line: "overseer config accept", why: "You deleted a role or emptied config.yaml on purpose." }],
  async run(call, parts) {
    const change = await parts.acceptSettings();
    if (call.json) return call.out.json(presentPlain({ accepted: true, ...change }));
    const { gone, changed } = change;
    if (gone.length > 0) call.out.line(`Gone, on purpose: ${inert(gone.join(", "))}`);
    if (changed.length > 0) call.out.line(`Changed, on purpose: ${inert(changed.join(", "))}`);
    call.out.line("The settings are now in effect; a running daemon applies them at its next tick.");
  },
};

const checks: Command<ConfigParts> = {
  name: "checks",
  summary: "Find the checks that this repository has, run each once, and configure those that pass.",
  details: `Looks at what is committed on the branch that work lands on: package scripts, Makefile, justfile, pytest, cargo, go,
gradle, maven and others, with CI files as evidence. What publishes, deploys, serves or watches is never among them. On a
terminal it lists what it found, runs each once in a worktree of its own, for at most five minutes, and asks before anything
is written. In a script nothing is run without --yes or --dry-run. What fails on the branch as it is would let nothing land,
so it is told and not kept.`,
  options: [
    { name: "yes", summary: "Run them, and configure those that pass, without asking." },
    { name: "dry-run", summary: "Run them and say how each ended; nothing is written." },
  ],
  examples: [
    { line: "overseer config checks", why: "Found, tried, and yours to accept." },
    { line: "overseer config checks --json", why: "What there is, for scripts; nothing is run." },
  ],
  async run(call, parts) {
    const { proposeChecks } = await import("#cli/propose-checks.ts");
    const wish = call.has("dry-run") ? "try" : call.has("yes") ? "keep" : "ask";
    const proposed = await proposeChecks(call, await parts.world(), wish);
    if (call.json) call.out.json(presentPlain({ ...proposed }));
    if (wish !== "keep" || proposed.tried === null || proposed.kept.length > 0) return;
    const message = `None of them passes on ${inert(proposed.branch)} as it is; nothing was written.`;
    const hint = 'Fix what they name, or name another command: overseer config set checks.tests "<command>"';
    throw new OverseerError("conflict", "NO_CHECK_PASSED", message, hint);
  },
};

const command: Command<ConfigParts> = {
  name: "config",
  summary: "Show, change and explain the configuration.",
  details:
    "The configuration is .overseer/config.yaml. Every key has a default, unknown keys are refused, and a running " +
    "daemon applies a changed file at its next tick.",
  subcommands: [show, get, set, edit, checks, explain, schema, example, prompt, accept],
};

export default command;
