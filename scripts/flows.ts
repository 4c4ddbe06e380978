/**
 * Counts the files that a flow passes through, so that a house that grows layers notices.
 *
 * How it is counted: the nodes are the top-level declarations of `src` (functions, classes, constants), and a declaration
 * leads to every other one that its body names (imports are followed by name, tests and types are not). A flow is a list
 * of legs, each from one declaration to another; between two legs the work is handed over through the store, a file or a
 * process. A declaration is on the flow when a leg can reach its end through it, and the flow passes through every file
 * that has one. What is only asked on the way (a query, a clock, a sentence) leads nowhere and does not count, nor do the
 * commands' menu and the wiring of a process.
 *
 *   bun scripts/flows.ts [name]     prints the flows, or the files of one; test/flows.test.ts holds the maxima
 */
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** `file#declaration`, below src. */
type Place = `${string}.ts#${string}`;
interface Leg {
  readonly from: Place;
  /** What happens on it, in order: each thing that is written, decided or moved. */
  readonly to: readonly Place[];
}

const REPORT: Leg = {
  from: "cli/commands/work-report.ts#reportCommand",
  to: [
    "act/checks/claimed-work.ts#readClaimedWork",
    "git/claim-refs.ts#keepClaimed",
    "domain/landing/report-done.ts#claimDone",
    "domain/plans/settle.ts#settleDecision",
  ],
};
const CHECK: Leg = {
  from: "engine/actions/check.ts#default",
  to: [
    "git/check-worktree.ts#prepareCheckWorktree",
    "domain/model/check.ts#judgeCheck",
    "domain/landing/report-done.ts#afterChecks",
  ],
};
/** The ordinary way: nothing conflicts, nothing was taken back, there is no remote. */
const LAND: Leg = {
  from: "engine/actions/land.ts#default",
  to: [
    "domain/model/merge.ts#dueInQueue",
    "git/landing.ts#mergeInto",
    "domain/landing/overreach.ts#overreach",
    "git/claim-refs.ts#keepStaged",
    "domain/landing/after-landing.ts#prepareLanding",
    "act/checks/claim-store.ts#decideClaim",
    "act/landing/lock.ts#inLandingTurn",
    "git/fast-forward.ts#moveForward",
    "domain/landing/after-landing.ts#afterLanding",
    "domain/model/merge.ts#recordFate",
  ],
};

/** Each part that is handed on through the store, a file or another process is a leg of its own. */
export const FLOWS: Readonly<Record<string, readonly Leg[]>> = {
  sling: [
    {
      from: "cli/commands/sling.ts#default",
      to: [
        "act/settings/stand-on-settings.ts#standOnSettings",
        "act/landing/target-branch.ts#landingTip",
        "domain/agents/admission.ts#admit",
        "act/sling/worktree-place.ts#hideWorktrees",
        "git/worktrees.ts#addWorktree",
        "domain/briefing/overlay.ts#renderOverlay",
        "act/sling/sling.ts#launch",
      ],
    },
    {
      from: "runtimes/claude-code/launch.ts#makeClaudeCodeRuntime",
      to: ["runtimes/claude-code/settings.ts#hookSettings"],
    },
    {
      from: "runner/main.ts#runnerMain",
      to: ["runner/launch-file.ts#readOrders", "runner/attempt-record.ts#AttemptRecord", "runner/child.ts#startChild"],
    },
  ],
  "tool call to nudge": [
    {
      from: "runner/hooks/routes.ts#hookRoutes",
      to: [
        "runtimes/hook-signals.ts#hookSignals",
        "act/hooks/record.ts#record",
        "domain/signals/reflex.ts#decideSteering",
        "act/hooks/record-steering.ts#recordSteering",
      ],
    },
    {
      from: "engine/lanes.ts#reconciler",
      to: [
        "domain/tick/liveness.ts#judgeLiveness",
        "domain/tick/ladder.ts#mayIntervene",
        "domain/tick/ladder.ts#climb",
        "domain/briefing/nudge-text.ts#nudgeText",
      ],
    },
    { from: "engine/lanes.ts#reconciler", to: ["domain/model/action.ts#takeAction"] },
    { from: "engine/actions/index.ts#REGISTRY", to: ["engine/actions/deliver.ts#default"] },
    {
      from: "runner/hooks/routes.ts#hookRoutes",
      to: [
        "act/hooks/answer-moment.ts#somethingWaits",
        "domain/inbox/mailing.ts#handOver",
        "domain/inbox/injection.ts#renderInjection",
      ],
    },
  ],
  "done to landed": [
    REPORT,
    {
      from: "engine/lanes.ts#reconciler",
      to: [
        "domain/landing/may-land.ts#claimInSnapshot",
        "domain/tick/decide.ts#moveClaim",
        "domain/model/action.ts#takeAction",
      ],
    },
    CHECK,
    LAND,
  ],
};

const SRC = join(import.meta.dir, "..", "src");

/** The files of each flow. Throws when a declaration that a leg names is gone, or a leg does not reach its end. */
export function countFlows(): Map<string, string[]> {
  const graph = readGraph();
  return new Map(
    Object.entries(FLOWS).map(([name, legs]) => [
      name,
      [...new Set(legs.flatMap((leg) => filesOn(graph, leg)))].sort(),
    ]),
  );
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** The files of every way from the start of a leg to one of the things that happen on it. */
function filesOn(graph: Graph, { from, to }: Leg): string[] {
  for (const place of [from, ...to]) {
    if (!graph.has(place)) throw new Error(`There is no ${place}: say in scripts/flows.ts where the flow goes now.`);
  }
  const down = reach(graph, from);
  const lost = to.find((place) => !down.has(place));
  if (lost) throw new Error(`${from} does not lead to ${lost}: say in scripts/flows.ts where the flow goes now.`);
  const up = reach(turnAround(graph), ...to);
  return [...down].filter((place) => up.has(place)).map((place) => place.slice(0, place.indexOf("#")));
}

function reach(graph: Graph, ...from: string[]): Set<string> {
  const seen = new Set(from);
  for (const place of seen) for (const next of graph.get(place) ?? []) seen.add(next);
  return seen;
}

function turnAround(graph: Graph): Graph {
  const back = new Map<string, Set<string>>([...graph.keys()].map((place) => [place, new Set()]));
  for (const [place, names] of graph) for (const name of names) back.get(name)?.add(place);
  return back;
}

function readGraph(): Graph {
  const graph = new Map<string, Set<string>>();
  for (const file of new Bun.Glob("**/*.ts").scanSync(SRC)) {
    if (!file.endsWith(".test.ts") && !file.endsWith(".d.ts")) readFile(file, graph);
  }
  return graph;
}

const TO_JS = new Bun.Transpiler({ loader: "ts" });

function readFile(file: string, graph: Map<string, Set<string>>): void {
  // Without types and comments; a declaration begins at the start of its line.
  const text = TO_JS.transformSync(readFileSync(join(SRC, file), "utf8"));
  const lines = text.replaceAll(/^import \{[^}]*\}/gm, (list) => list.replaceAll("\n", " ")).split("\n");
  const names = new Map<string, string>();
  const bodies = new Map<string, string[]>();
  let body: string[] = [];
  for (const line of lines) {
    const from = IMPORT.exec(line)?.groups;
    if (from) readImport(from.what ?? "", resolveImport(file, from.path ?? ""), names);
    const own = DECLARATION.exec(line)?.[1];
    const name = line.startsWith("export default ") ? "default" : own;
    if (name !== undefined) {
      body = bodies.get(name) ?? [];
      bodies.set(name, body);
      names.set(own ?? name, `${file}#${name}`);
    }
    if (!line.startsWith("import ")) body.push(line);
  }
  for (const [name, own] of bodies) graph.set(`${file}#${name}`, findNamed(own.join("\n"), names));
}

/** At the top, or by `require` where a hook needs it. */
const IMPORT = /^(?:import| *(?:const|let|var)) (?<what>.*) (?:from|= require\() ?"(?<path>[#.][^"]*)"\)?;$/;
const DECLARATION = /^(?:export )?(?:default )?(?:async )?(?:function\*?|class|const|let|var) (\w+)/;

function resolveImport(file: string, path: string): string {
  return path.startsWith("#") ? path.slice(1) : normalize(join(dirname(file), path));
}

/** `{ a, b as c }`, `d` or `* as e`, each under the name by which it is known here. */
function readImport(what: string, path: string, names: Map<string, string>): void {
  const space = /^\* as (\w+)$/.exec(what)?.[1];
  if (space !== undefined) names.set(space, `${path}#*`);
  const listed = /\{(.*)\}/.exec(what)?.[1]?.split(",") ?? [];
  for (const one of listed) {
    const [name = "", own = name] = one.trim().split(" as ");
    names.set(own, `${path}#${name}`);
  }
  const whole = /^(\w+)/.exec(what)?.[1];
  if (whole !== undefined) names.set(whole, `${path}#default`);
}

const QUOTED = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;

/** Every declaration that this text names; a member of something (`x.land`, `{ land: … }`) and a word in quotes is none. */
function findNamed(text: string, names: ReadonlyMap<string, string>): Set<string> {
  const bare = text.replaceAll("...", " ").replaceAll(QUOTED, '""');
  const found = new Set<string>();
  for (const [, name = "", member] of bare.matchAll(/(?<![.\w$])([A-Za-z_$][\w$]*)(?!:)(?:\.(\w+))?/g)) {
    const place = names.get(name);
    if (place?.endsWith("#*")) found.add(`${place.slice(0, -1)}${member}`);
    else if (place !== undefined) found.add(place);
  }
  return found;
}

if (import.meta.main) {
  const wanted = Bun.argv[2];
  for (const [name, files] of countFlows()) {
    if (wanted !== undefined && wanted !== name) continue;
    console.log(`${name}: ${files.length} files${wanted === undefined ? "" : `\n  ${files.join("\n  ")}`}`);
  }
}
