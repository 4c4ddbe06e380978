/**
 * `overseer config`: what is set, what can be set, and what it means. It only reads. The schema and its libraries are
 * loaded when one of these runs and not with the menu, because most commands never need them.
 */

import type { Call, Command } from "#cli/command.ts";
import { inert } from "#cli/text.ts";
import type { KeyExplanation } from "#config/explain.ts";
import type { LoadedConfig } from "#config/load.ts";
import type { Config } from "#config/schema.ts";
import { presentPlain } from "#control/present.ts";
import type { SettingsChange } from "#control/trust.ts";

/** What these commands need to be handed. */
export interface ConfigParts {
  /** The effective configuration and the file it comes from; `text` is absent when there is no file. */
  loadConfig(): Promise<LoadedConfig>;
  /** Takes the settings as they are now, by this person's word. */
  acceptSettings(): Promise<SettingsChange>;
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
    { line: "overseer config explain reconcile.idleAfter", why: "One key." },
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
  if (children) return [`${key}: ${description}`, ...children.flatMap((child) => ["", ...explanationLines(child)])];
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

const command: Command<ConfigParts> = {
  name: "config",
  summary: "Show, explain and document the configuration.",
  details:
    "The configuration is .overseer/config.yaml. Every key has a default, unknown keys are refused, and a running " +
    "daemon applies a changed file at its next tick.",
  subcommands: [show, explain, schema, example, accept],
};

export default command;
