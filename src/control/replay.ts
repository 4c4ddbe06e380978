/**
 * `replay`: the reflex over recorded work as it lies on disk, of whatever agent. It touches neither the store nor any
 * agent; what it needs of the repository is only how strict its roles are, and where there is none the built-in ones
 * serve. Every file below the given places is read or named with the reason why not.
 */
import { resolve } from "node:path";
import { BUILT_IN_ROLES, findRole, readRole } from "#config/roles.ts";
import type { Config } from "#config/schema.ts";
import { digest } from "#domain/core/similarity.ts";
import type { Role } from "#domain/model/role.ts";
import type { Fired, Replayed, StepOfCall, Tally } from "#domain/signals/reflex-replay.ts";
import { Replay, tally } from "#domain/signals/reflex-replay.ts";
import type { ReflexRules } from "#domain/signals/reflex-rules.ts";
import { rulesFor } from "#domain/signals/reflex-rules.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { messageOf, OverseerError, systemCode } from "#errors.ts";
import {
  type FileReport,
  isPartOfSession,
  isSessionFile,
  LONGEST_LINE_MB,
  readSession,
} from "#runtimes/read-session.ts";
import type { SessionAbout } from "#runtimes/session-format.ts";
import { SESSION_FORMATS } from "#runtimes/session-formats.ts";
import type { FileFacts, Files } from "#sys/files.ts";
import { redact } from "#telemetry/redact.ts";

/** How strict somebody is: the reflex' settings and the roles it knows. */
/** A longer line of a session is counted as unreadable. */
export const READS_LINES_UP_TO_MB = LONGEST_LINE_MB;

export interface Strictness {
  readonly reflex: Config["reflex"];
  readonly roles: ReadonlyMap<string, Role>;
}

export interface ReplayInput extends Strictness {
  readonly files: Files;
  /** Files or directories; directories are gone through to the bottom. */
  readonly places: readonly string[];
  /** The role for sessions that name none. */
  readonly role: string;
  /** Told before each file, and how much is still to come. */
  readonly progress?: (done: ReadProgress) => void;
}

export interface ReadProgress {
  readonly files: number;
  readonly of: number;
  readonly bytes: number;
  readonly ofBytes: number;
}

/** A sentence that would have been said; its id names it for a label. */
export interface SaidSentence extends Fired {
  readonly id: string;
}

export interface ReplayedSession extends Omit<Replayed, "fired"> {
  readonly file: string;
  /** Which of the sessions in its file; empty for the file's own. */
  readonly key: string;
  readonly runtime: string;
  readonly sub: boolean;
  readonly role: string;
  readonly fired: readonly SaidSentence[];
}

export interface UnreadFile {
  readonly file: string;
  readonly why: string;
}

/** What was read and what was not. */
export interface ReadingReport {
  readonly files: number;
  readonly bytes: number;
  readonly calls: number;
  /** Files that gave no work of an agent, and why. */
  readonly nothing: readonly UnreadFile[];
  /** Files that are no recorded sessions by their names, by how these end. */
  readonly others: Readonly<Record<string, number>>;
  /** Lines and parts that could not be read, by file, and how many of them are too long to be looked at. */
  readonly broken: readonly { readonly file: string; readonly lines: number; readonly tooLong: number }[];
  readonly lostResults: number;
  readonly openCalls: number;
  /** Files with calls that nothing was made of, and how many. */
  readonly dropped: readonly { readonly file: string; readonly calls: number }[];
  /** Files that broke their reader, which are also among those that gave nothing. */
  readonly faults: readonly UnreadFile[];
}

/** After everything else was shown: a script has to learn that something was not read. */
export function refuseFaults(faults: readonly UnreadFile[]): void {
  const [first] = faults;
  if (first === undefined) return;
  const more = faults.length > 1 ? `, and ${faults.length - 1} more` : "";
  const isOurs = faults.some(({ why }) => why.startsWith(OUR_FAULT));
  const hint = isOurs
    ? "The rest was read. Please report it with that file, if it holds nothing secret."
    : "The rest was read. Change what the file says, or leave it out.";
  throw new OverseerError(
    isOurs ? "internal" : "not-found",
    "SESSION_UNREAD",
    `${first.file} was not read: ${first.why}${more}.`,
    hint,
  );
}

export interface ReplayResult extends ReadingReport {
  readonly traces: readonly ReplayedSession[];
  /** Present when a trace says what there is to be noticed in it. */
  readonly tally: Tally | null;
}

export async function replayTraces(input: ReplayInput): Promise<ReplayResult> {
  const rules = rulesByRole(input, input.role);
  // A role that the caller names has to exist; one that a trace names is that file's trouble.
  rules(null);
  const traces: ReplayedSession[] = [];
  const report = await readPlaces(input, (file) => {
    const { sessions, open } = replayFile(file.name, (role) => [rules(role)]);
    return {
      open,
      finish: () =>
        traces.push(
          ...sessions()
            .map(({ replayed: [one] }) => one)
            .filter(isSession),
        ),
    };
  });
  const labelled = traces.some(({ labels }) => labels !== null);
  return { ...report, traces, tally: labelled ? tally(traces) : null };
}

function isSession(one: ReplayedSession | undefined): one is ReplayedSession {
  return one !== undefined && one.calls > 0;
}

export interface FoundFile {
  readonly path: string;
  /** As it is shown: from the place it was found below. */
  readonly name: string;
}

interface FileTaker {
  readonly open: (about: SessionAbout) => (signal: Parameters<Replay["take"]>[0], ordinal: number) => void;
  readonly finish: (report: FileReport) => void;
}

/** Reads every session below the places, one file at a time, and says what was not read. */
export async function readPlaces(
  { files, places, progress }: Pick<ReplayInput, "files" | "places" | "progress">,
  begin: (file: FoundFile) => FileTaker,
): Promise<ReadingReport> {
  const walk = await findFiles(files, places);
  const ofBytes = walk.found.reduce((sum, { size }) => sum + size, 0);
  const nothing: UnreadFile[] = [...walk.unread];
  const broken: ReadingReport["broken"][number][] = [];
  const faults: UnreadFile[] = [];
  const dropped: ReadingReport["dropped"][number][] = [];
  const sums = { bytes: 0, calls: 0, lostResults: 0, openCalls: 0 };
  for (const [index, file] of walk.found.entries()) {
    progress?.({ files: index, of: walk.found.length, bytes: sums.bytes, ofBytes });
    const taker = begin(file);
    const report = readOneFile(file.path, taker.open);
    if (report.fault) faults.push({ file: file.name, why: report.nothing ?? "" });
    else taker.finish(report);
    if (report.nothing !== null) nothing.push({ file: file.name, why: report.nothing });
    const { broken: lines, tooLong } = report;
    if (lines > 0) broken.push({ file: file.name, lines, tooLong });
    if (report.droppedCalls > 0) dropped.push({ file: file.name, calls: report.droppedCalls });
    sums.bytes += report.bytes;
    sums.calls += report.calls;
    sums.lostResults += report.lostResults;
    sums.openCalls += report.openCalls;
  }
  progress?.({ files: walk.found.length, of: walk.found.length, bytes: ofBytes, ofBytes });
  return { files: walk.found.length, ...sums, nothing, others: walk.others, broken, dropped, faults };
}

/** One file that breaks takes none of the others along: it gave nothing, and `fault` says that this was not its reader's aim. */
export function readOneFile(path: string, open: FileTaker["open"]): FileReport & { readonly fault: boolean } {
  try {
    return { ...readSession(path, open), fault: false };
  } catch (error) {
    const isRefusal = error instanceof OverseerError;
    const why = isRefusal ? error.message.replace(/\.$/, "") : `${OUR_FAULT} (${messageOf(error).slice(0, 200)})`;
    return { ...UNREAD, nothing: isRefusal ? `it cannot be judged: ${why}` : why, fault: true };
  }
}

const OUR_FAULT = "a fault in overseer";
const UNREAD = {
  ...{ runtime: null, bytes: 0, broken: 0, tooLong: 0, sessions: 0 },
  ...{ calls: 0, lostResults: 0, openCalls: 0, refused: 0, droppedCalls: 0 },
} as const;

interface ReplayedFile {
  readonly open: FileTaker["open"];
  /** Each session under each of the rules, once the file was read. */
  readonly sessions: () => readonly {
    readonly replayed: readonly ReplayedSession[];
    readonly calls: readonly StepOfCall[];
  }[];
}

/** The sessions of one file, each under one or more sets of rules at once. */
export function replayFile(
  file: string,
  rulesOf: (role: string | null) => readonly ReflexRules[],
  keepCalls = false,
): ReplayedFile {
  const begun: { about: SessionAbout; role: string; replays: readonly Replay[]; calls: StepOfCall[] }[] = [];
  return {
    open: (about) => {
      const { key, name, labels = null, may = [] } = about;
      const calls: StepOfCall[] = [];
      const note = keepCalls ? (call: StepOfCall) => calls.push(call) : undefined;
      const all = rulesOf(about.role ?? null);
      const shown = name ?? (key === "" || file.includes(key) ? file : `${file} (${key})`);
      const replays = all.map(
        (rules, at) => new Replay({ name: shown, labels, may }, rules, at === 0 ? note : undefined),
      );
      begun.push({ about, role: all[0]?.role ?? "", replays, calls });
      return (signal, ordinal) => {
        const clean = withoutSecrets(signal);
        for (const one of replays) one.take(clean, ordinal);
      };
    },
    sessions: () =>
      begun.map(({ about, role, replays, calls }) => ({
        replayed: replays.map((one) => describeSession(one.finish(), file, about, role)),
        calls,
      })),
  };
}

/** Before anything is cut: half a key is no key that redaction knows. Live signals come redacted as well. */
function withoutSecrets(signal: Signal): Signal {
  switch (signal.kind) {
    case "said":
      return { ...signal, data: { text: redact(signal.data.text) } };
    case "turn.ended":
      return { ...signal, data: { ...signal.data, text: redact(signal.data.text) } };
    case "api.failed":
      return { ...signal, data: { ...signal.data, detail: redact(signal.data.detail) } };
    case "tool.started":
      return { ...signal, data: { ...signal.data, args: redact(signal.data.args) } };
    case "tool.ended":
      return { ...signal, data: { ...signal.data, result: redact(signal.data.result) } };
    default:
      return signal;
  }
}

function describeSession(one: Replayed, file: string, about: SessionAbout, role: string): ReplayedSession {
  const { key, runtime, sub } = about;
  const fired = one.fired.map((said) => ({ ...said, text: redact(said.text), id: nameSentence(file, key, said) }));
  const readings = one.readings.map((read) => ({ ...read, words: redact(read.words) }));
  return { ...one, fired, readings, file, key, runtime, sub, role };
}

/** The same for the same sentence, from wherever its file is looked at; logs of one name are told apart by their times. */
function nameSentence(file: string, key: string, { anomaly, step, at, call }: Fired): string {
  const name = file.slice(file.lastIndexOf("/") + 1);
  return `say_${digest([name, key, anomaly, step, at, call.id].join(" ")).slice(0, 7)}`;
}

export function readBuiltInRoles(): ReadonlyMap<string, Role> {
  return new Map([...BUILT_IN_ROLES].map(([name, text]) => [name, readRole(`builtin:${name}.yaml`, text, name)]));
}

/** The rules for a role's name; null is the role that stands in for none. */
export function rulesByRole({ roles, reflex }: Strictness, standIn: string): (role: string | null) => ReflexRules {
  const known = new Map<string, ReflexRules>();
  const find = (name: string) => {
    const rules =
      known.get(name) ?? rulesFor(findRole({ byCapability: roles, origins: new Map(), notes: [] }, name), reflex);
    known.set(name, rules);
    return rules;
  };
  // A name that is wrong is told before anything is read.
  find(standIn);
  return (role) => find(role ?? standIn);
}

/** Where this user's agents keep their sessions, as far as the directories exist. */
export async function findSessionHomes(
  files: Files,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const homes = SESSION_FORMATS.flatMap((format) => format.listHomes(env));
  const found = await Promise.all(homes.map(async (path) => ((await files.list(path)) === undefined ? [] : [path])));
  return found.flat();
}

interface Walk {
  readonly found: (FoundFile & { readonly size: number })[];
  readonly unread: UnreadFile[];
  readonly others: Record<string, number>;
  /** A file that is named twice is read once. */
  readonly seen: Set<string>;
}

const NO_REGULAR_FILE = "it is a pipe, a socket or a device, which is not read";

async function findFiles(files: Files, places: readonly string[]): Promise<Walk> {
  const walk: Walk = { found: [], unread: [], others: {}, seen: new Set() };
  for (const place of places) {
    const named = await files.facts(place);
    const path = named?.kind === "symlink" ? await realPathOf(files, place) : place;
    const facts = path === place ? named : await files.facts(path);
    if (facts === undefined) throw nothingThere(place);
    if (facts.kind === "file") takeFile({ path, name: path, size: facts.size }, walk);
    else if (facts.kind !== "directory") walk.unread.push({ file: place, why: NO_REGULAR_FILE });
    else await findBelow(files, path, places.length > 1 ? 0 : path.length + 1, walk);
  }
  return walk;
}

function nothingThere(place: string): OverseerError {
  return new OverseerError(
    "not-found",
    "TRACES_UNKNOWN",
    `There is nothing at ${place}.`,
    "Name a directory or a file with recorded sessions, e.g. .git/overseer/logs or ~/.claude/projects.",
  );
}

async function realPathOf(files: Files, place: string): Promise<string> {
  try {
    return await files.realPath(place);
  } catch (error) {
    if (systemCode(error) === "ENOENT") throw nothingThere(place);
    throw error;
  }
}

function takeFile(file: Walk["found"][number], { found, seen }: Walk): void {
  const whole = resolve(file.path);
  if (seen.has(whole)) return;
  seen.add(whole);
  found.push(file);
}

/** The names in a directory; one that this user may not look into is told and passed by. */
async function listBelow(files: Files, path: string, shown: string, walk: Walk): Promise<readonly string[]> {
  try {
    return (await files.list(path)) ?? [];
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    walk.unread.push({ file: shown, why: `the directory cannot be read (${code})` });
    return [];
  }
}

async function lookAt(files: Files, path: string, shown: string, walk: Walk): Promise<FileFacts | undefined> {
  try {
    return await files.facts(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    walk.unread.push({ file: shown, why: `it cannot be read (${code})` });
    return undefined;
  }
}

async function findBelow(files: Files, path: string, shownFrom: number, walk: Walk): Promise<void> {
  for (const name of await listBelow(files, path, path.slice(shownFrom) || path, walk)) {
    const below = `${path}/${name}`;
    const facts = await lookAt(files, below, below.slice(shownFrom), walk);
    if (facts?.kind === "directory") await findBelow(files, below, shownFrom, walk);
    else if (facts?.kind === "file") addFile(below, below.slice(shownFrom), facts.size, walk);
    else if (facts !== undefined) {
      const why = facts.kind === "symlink" ? "it is a symlink, which is not followed" : NO_REGULAR_FILE;
      walk.unread.push({ file: below.slice(shownFrom), why });
    }
  }
}

function addFile(path: string, shown: string, size: number, walk: Walk): void {
  if (!isSessionFile(path)) {
    const end = /\.[^./]{1,12}$/.exec(path)?.[0] ?? "without an ending";
    walk.others[end] = (walk.others[end] ?? 0) + 1;
  } else if (path.endsWith("/tools.ndjson"))
    walk.unread.push({ file: shown, why: "it repeats events.ndjson beside it" });
  else if (!isPartOfSession(path)) takeFile({ path, name: shown, size }, walk);
}
