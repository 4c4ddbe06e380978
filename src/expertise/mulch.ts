/**
 * mulch, a person's own program (npm `@os-eco/mulch-cli`), which keeps expertise in `.mulch/` of a repository. It is asked by
 * `query` and `search`, whose answers are JSON: what it prints for agents holds orders of its own, and its `prime` runs commands
 * that a file of the repository names. Called with a list of words, for a short time, with a bound on what it may print.
 */
import { type ExpertiseItem, fitBudget, fitsPaths } from "#domain/learnings/expertise.ts";
import { OverseerError } from "#errors.ts";
import type { Exec, ExecResult } from "#sys/exec.ts";
import { type Expertise, type ExpertiseAnswer, isDomainName, type NewExpertise, problemOf } from "./expertise.ts";

export interface MulchParts {
  readonly exec: Exec;
  readonly env: Readonly<Record<string, string>>;
  /** The checkout whose `.mulch/` is meant. */
  readonly cwd: string;
}

const PATIENCE_MS = 3_000;
const MOST_BYTES = 4 * 1024 * 1024;
const LONGEST_NAME = 100;

export function makeMulchExpertise(parts: MulchParts): Expertise {
  const ask = (words: readonly string[], stdin?: string) => runMulch(parts, words, stdin);
  return {
    name: "mulch",
    async prime({ domains, paths, budgetBytes }) {
      const answered = await ask(["query", "--all", "--sort-by-score", "--json"]);
      if (!answered.ok) return answered;
      const all = itemsIn(answered.value, "records");
      if (all === undefined) return garbage;
      const isFree = domains.length === 0 && paths.length === 0;
      const fits = ({ domain }: ExpertiseItem) => isFree || domains.includes(domain) || fitsPaths(domain, paths);
      return { ok: true, value: fitBudget(all.filter(fits), budgetBytes) };
    },
    async record(item) {
      if (!isDomainName(item.domain)) return { ok: false, problem: `"${item.domain}" is no name of a domain` };
      const record = { ...fieldsOf(item), tags: ["overseer", item.provenance] };
      const answered = await ask(["record", item.domain, "--stdin", "--json"], JSON.stringify(record));
      return answered.ok ? { ok: true, value: item.domain } : answered;
    },
    async query(words) {
      // A word that looks like an option is one of those that are looked for.
      const answered = await ask(["search", "--json", "--", words]);
      if (!answered.ok) return answered;
      const found = itemsIn(answered.value, "matches");
      return found === undefined ? garbage : { ok: true, value: found };
    },
  };
}

const garbage = { ok: false, problem: "mulch answered with something that cannot be read" } as const;

function fieldsOf({ kind, text, because }: NewExpertise): Readonly<Record<string, string>> {
  if (kind === "failure") return { type: kind, description: text, resolution: because ?? "" };
  if (kind === "decision") return { type: kind, title: text, rationale: because ?? "" };
  return { type: kind, content: text };
}

async function runMulch(
  { exec, env, cwd }: MulchParts,
  words: readonly string[],
  stdin: string | undefined,
): Promise<ExpertiseAnswer<Record<string, unknown>>> {
  let result: ExecResult;
  try {
    // Who asks, and with which token, is nothing for it.
    const its = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("OVERSEER_")));
    const options = { cwd, env: its, timeoutMs: PATIENCE_MS, maxBytes: MOST_BYTES };
    result = await exec.run(["mulch", ...words], { ...options, ...(stdin === undefined ? {} : { stdin }) });
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    return { ok: false, problem: problemOf(error), missing: error.code === "PROGRAM_MISSING" };
  }
  if (result.timedOut)
    return { ok: false, problem: `mulch did not answer within ${PATIENCE_MS / 1_000} s`, waited: true };
  const value = parseObject(result.stdout) ?? parseObject(result.stderr);
  if (value === undefined) return garbage;
  if (result.code === 0 && value.success !== false) return { ok: true, value };
  const said = typeof value.error === "string" ? value.error : `it ended with ${result.code ?? result.signal}`;
  return { ok: false, problem: `mulch: ${said.replace(/\s+/g, " ").slice(0, 300).replace(/\.$/, "")}` };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined; // no JSON, or without a bottom
    throw error;
  }
}

/** Undefined for an answer of another shape; a record that says nothing is left out. */
function itemsIn({ domains }: Record<string, unknown>, list: "records" | "matches"): ExpertiseItem[] | undefined {
  if (!Array.isArray(domains)) return undefined;
  const items: ExpertiseItem[] = [];
  for (const one of domains as unknown[]) {
    const { domain, [list]: records } = Object(one) as Record<string, unknown>;
    if (typeof domain !== "string" || !Array.isArray(records)) return undefined;
    for (const record of records as unknown[])
      items.push(...toItems(domain, Object(record) as Record<string, unknown>));
  }
  return items;
}

/** In the order in which its types have them: what it is, and what about it. */
const TEXTS = ["name", "title", "content", "description", "rationale", "resolution"] as const;

function toItems(domain: string, record: Record<string, unknown>): ExpertiseItem[] {
  const texts = TEXTS.flatMap((name) =>
    typeof record[name] === "string" && record[name] !== "" ? [String(record[name])] : [],
  );
  if (texts.length === 0) return [];
  return [{ id: nameIn(record.id), domain, kind: nameIn(record.type), text: texts.join(": ") }];
}

/** Whoever wrote the record may have put anything there. */
function nameIn(value: unknown): string {
  return typeof value === "string" && value.length <= LONGEST_NAME ? value : "";
}
