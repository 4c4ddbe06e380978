/**
 * What is known in this repository beyond one goal, from every source that is switched on: shown as an agent would get it,
 * searched, and added to. A source that does not answer says why, and the others answer all the same.
 */
import { type ExpertiseFor, openExpertise } from "#act/expertise.ts";
import { type Finding, judgeMulch } from "#domain/health/checkup.ts";
import type { ExpertiseItem, ExpertiseKind, ExpertiseWish } from "#domain/learnings/expertise.ts";
import { OverseerError } from "#errors.ts";
import { type Expertise, type ExpertiseAnswer, isDomainName } from "#expertise/expertise.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { addByHand } from "./learnings.ts";
import { speaker } from "./mail/speaker.ts";
import type { World } from "./world.ts";

/** What one source said. */
export interface ExpertiseFound {
  readonly source: Expertise["name"];
  readonly items: readonly ExpertiseItem[];
  /** Why it said nothing; null where it did. */
  readonly problem: string | null;
}

const SHOWN_BYTES = 16 * 1024;

export async function primeExpertise(
  world: World,
  wish: Omit<ExpertiseWish, "budgetBytes">,
): Promise<readonly ExpertiseFound[]> {
  return askAll(world, (source) => source.prime({ ...wish, budgetBytes: SHOWN_BYTES }));
}

export async function queryExpertise(world: World, words: string): Promise<readonly ExpertiseFound[]> {
  return askAll(world, (source) => source.query(words));
}

export interface ExpertiseWords {
  readonly domain: string;
  readonly kind: ExpertiseKind;
  readonly text: string;
  readonly because: string | undefined;
}

/**
 * Into mulch where that is switched on, else among the learnings. What an agent says is a learning always: in a worktree mulch
 * writes into the main checkout, which is the person's.
 */
export async function recordExpertise(
  world: World,
  { because = "", ...item }: ExpertiseWords,
): Promise<{ readonly source: string; readonly id: string }> {
  if (!isDomainName(item.domain)) {
    const message = `"${item.domain}" is no name of a domain.`;
    throw new OverseerError("usage", "DOMAIN_NAME", message, "Use letters, digits, '.', '-' and '_'.");
  }
  if (item.kind !== "convention" && because === "") {
    const what = item.kind === "failure" ? "what to do instead" : "why it was decided";
    throw new OverseerError("usage", "EXPERTISE_BECAUSE", `A ${item.kind} says ${what}, too.`, "Add --because <text>.");
  }
  const isAgent = speaker(world).attempt > 0;
  const source = (await sources(world)).findLast(({ name }) => !isAgent || name === "own");
  if (source === undefined) {
    const [message, hint] = isAgent
      ? ["What agents record is kept among the learnings, and those are switched off.", "Say it in your report."]
      : ["No source of expertise is switched on.", "Set sync.enabled or mulch.enabled in .overseer/config.yaml."];
    throw new OverseerError("conflict", "EXPERTISE_OFF", message, hint);
  }
  const answer = await source.record({ ...item, because: because || null, provenance: world.actor });
  if (answer.ok) return { source: source.name, id: answer.value };
  const aid = answer.missing ? "Install mulch, or set" : "'mulch doctor' says more; or set";
  const hint = source.name === "mulch" ? `${aid} mulch.enabled: false, and it is kept here.` : "Try again.";
  throw new OverseerError("environment", "EXPERTISE_NOT_KEPT", `It was not kept: ${answer.problem}.`, hint);
}

async function sources(world: World): Promise<readonly Expertise[]> {
  const { attempt } = speaker(world);
  const { own } = await (await world.reader()).read({ own: attemptByNumber(attempt) });
  const whom: ExpertiseFor = {
    node: null,
    checkout: own?.worktree ?? world.root.project,
    add: ({ text, domain }) => addByHand(world, { text, tags: [domain], paths: [] }),
  };
  return openExpertise(world, whom);
}

async function askAll(
  world: World,
  ask: (source: Expertise) => Promise<ExpertiseAnswer<readonly ExpertiseItem[]>>,
): Promise<readonly ExpertiseFound[]> {
  const found: ExpertiseFound[] = [];
  for (const source of await sources(world)) {
    const answer = await ask(source);
    found.push({
      source: source.name,
      items: answer.ok ? answer.value : [],
      problem: answer.ok ? null : answer.problem,
    });
  }
  return found;
}

/** MULCH-1: asked for real, where it is switched on. */
export async function mulchFindings(world: World): Promise<readonly Finding[]> {
  const mulch = (await sources(world)).find(({ name }) => name === "mulch");
  if (mulch === undefined) return [];
  const answer = await mulch.prime({ domains: [], paths: [], budgetBytes: Number.MAX_SAFE_INTEGER });
  return [judgeMulch(answer.ok ? { records: answer.value.length } : answer)];
}
