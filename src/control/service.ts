/**
 * The guard as a service of this user: the unit file that systemd or launchd reads is written, looked at and taken back, and
 * systemctl is asked where it answers. What it says belongs to domain/guard/service-unit.ts. A file that we did not write, or
 * that somebody has changed since, is never touched.
 */
import { shellCommand } from "#domain/core/shell-words.ts";
import {
  type ReadUnit,
  readUnit,
  refuseUnfit,
  renderUnit,
  type ServiceManager,
  type ServicePlan,
  serviceName,
  unitFileName,
} from "#domain/guard/service-unit.ts";
import { messageOf, OverseerError, orThrow, systemCode } from "#errors.ts";
import { assertHomeAllowed } from "#sys/isolation.ts";
import { nameOf, parentOf } from "#sys/paths.ts";
import { type GuardStatus, readGuard } from "./guard.ts";
import type { World } from "./world.ts";

export interface ServiceOrder {
  /** Whose unit; that of this machine where nobody says. */
  readonly manager?: ServiceManager;
  /** What `overseer` is, absolute. */
  readonly program: string;
  /** What the guard is told. */
  readonly words: readonly string[];
}

export interface InstalledService {
  readonly manager: ServiceManager;
  readonly path: string;
  /** False where the same text was there already. */
  readonly changed: boolean;
  /** The service manager has been told, and runs it. */
  readonly started: boolean;
  /** Commands that are left to the person, with what each is for. */
  readonly next: readonly NextCommand[];
  /** What else there is to know. */
  readonly remarks: readonly string[];
}

export interface NextCommand {
  readonly line: string;
  readonly why: string;
}

export interface RemovedService {
  /** The file that is gone; null where none was there. */
  readonly path: string | null;
  /** The service manager has been told. */
  readonly stopped: boolean;
  readonly next: readonly NextCommand[];
}

export interface ServiceStatus {
  readonly installed: boolean;
  readonly manager: ServiceManager | null;
  readonly path: string | null;
  readonly root: string;
  /** What the guard is told; empty where none is installed. */
  readonly words: readonly string[];
  /** The file was changed since it was written, or is not ours at all: why it is left alone. */
  readonly problem: string | null;
  /** As the service manager says; null where it does not answer. */
  readonly active: boolean | null;
  readonly enabled: boolean | null;
  readonly guard: GuardStatus | null;
}

/** What a guard needs of a login to find the same settings and programs as its person. */
const PASSED = ["PATH", "LANG", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR"];
const SYSTEMCTL_MS = 15_000;
/** Stopping waits for the daemon to end in order. */
const STOP_MS = 150_000;

/** What `install` would write. Changes nothing. */
export async function planService(
  world: World,
  order: ServiceOrder,
): Promise<{ readonly path: string; readonly text: string }> {
  const manager = order.manager ?? (await findManager(world));
  const plan = makePlan(world, manager, order);
  const refused = refuseUnfit(plan);
  if (refused) orThrow(refused);
  return { path: unitPath(world, manager), text: renderUnit(plan) };
}

/** Writes the unit, tells the service manager where it answers, and says what is left to do. Repeatable. */
export async function installService(world: World, order: ServiceOrder): Promise<InstalledService> {
  const manager = order.manager ?? (await findManager(world));
  const { path, text } = await planService(world, { ...order, manager });
  const there = await readPlace(world, path);
  if (there.kind === "foreign") throw there.refusal;
  if (there.kind === "own" && there.unit.edited) throw refuseEdited(path);
  const changed = there.kind === "none" || there.text !== text;
  if (changed) await writeUnit(world, path, text);
  const guard = readGuard(world);
  const watches = guard?.alive === true;
  const told = manager === "systemd" && (await tellSystemd(world, nameOf(path), watches));
  const remarks = watches
    ? [
        `A guard already watches here (pid ${guard.pid}); the service begins with the next login or boot, or after 'overseer guard stop'.`,
      ]
    : [];
  return { manager, path, changed, started: told && !watches, next: listNext(manager, path, told), remarks };
}

/** Takes back the very file that `install` wrote, and nothing else. */
export async function removeService(world: World): Promise<RemovedService> {
  const found = await findInstalled(world);
  if (!found) return { path: null, stopped: false, next: [] };
  const { manager, path, place } = found;
  if (place.kind === "foreign") throw place.refusal;
  if (place.unit.edited) throw refuseEdited(path);
  const unit = nameOf(path);
  const stopped = manager === "systemd" && (await systemctl(world, ["disable", "--now", unit], STOP_MS)).ok;
  await forgetLink(world, path);
  await world.files.removeUnlessFull(path);
  if (stopped) await systemctl(world, ["daemon-reload"]);
  const next =
    manager === "systemd"
      ? [{ line: "systemctl --user daemon-reload", why: "so that systemd forgets it" }]
      : [{ line: `launchctl bootout gui/$(id -u)/${serviceName(world.root.project)}`, why: "ends it, where it runs" }];
  return { path, stopped, next: stopped ? [] : next };
}

export async function readService(world: World): Promise<ServiceStatus> {
  const guard = readGuard(world);
  const found = await findInstalled(world);
  const nobody = { root: world.root.project, words: [], problem: null, active: null, enabled: null, guard };
  if (!found) return { installed: false, manager: null, path: null, ...nobody };
  const { manager, path, place } = found;
  const known = { installed: place.kind === "own", manager, path };
  if (place.kind === "foreign") return { ...nobody, ...known, problem: place.refusal.message };
  const problem = place.unit.edited ? "Somebody has changed it since it was written." : null;
  const asked = manager === "systemd" ? await askSystemd(world, nameOf(path)) : { active: null, enabled: null };
  return { ...nobody, ...known, ...asked, words: place.unit.words, problem };
}

/** The one of this machine. */
async function findManager(world: World): Promise<ServiceManager> {
  if (process.platform === "darwin") return "launchd";
  if (await isSystemdBooted(world)) return "systemd";
  throw new OverseerError(
    ...(["environment", "NO_SERVICE_MANAGER", "Neither systemd nor launchd runs this machine."] as const),
    "Say --systemd or --launchd to write the file all the same; or run 'overseer up --guarded' when the machine starts.",
  );
}

/** As sd_booted(3) finds out. */
async function isSystemdBooted(world: World): Promise<boolean> {
  return (await world.files.facts("/run/systemd/system"))?.kind === "directory";
}

function makePlan(world: World, manager: ServiceManager, { program, words }: ServiceOrder): ServicePlan {
  const env = Object.fromEntries(PASSED.flatMap((name) => (world.env[name] ? [[name, world.env[name]]] : [])));
  const { project: root, state } = world.root;
  return {
    ...{ manager, root, program, words, env },
    envFile: `${configHome(world)}/overseer/service.env`,
    output: `${state}/logs/guard.out`,
  };
}

function unitPath(world: World, manager: ServiceManager): string {
  const directory =
    manager === "systemd" ? `${configHome(world)}/systemd/user` : `${homeOf(world)}/Library/LaunchAgents`;
  assertHomeAllowed(directory);
  return `${directory}/${unitFileName(manager, world.root.project)}`;
}

function configHome(world: World): string {
  const { XDG_CONFIG_HOME: named } = world.env;
  return named?.startsWith("/") ? named : `${homeOf(world)}/.config`;
}

/** Not asked of the user database: a service manager goes by the variable, too. */
function homeOf({ env }: World): string {
  if (env.HOME?.startsWith("/")) return env.HOME;
  throw new OverseerError(
    ...(["environment", "NO_HOME", "HOME is not set to a directory, so nobody can say whose service it is."] as const),
    "Set HOME, or log in as the user whose service it is to be.",
  );
}

type Place =
  | { readonly kind: "none" }
  | { readonly kind: "own"; readonly unit: ReadUnit; readonly text: string }
  | { readonly kind: "foreign"; readonly refusal: OverseerError };

async function readPlace({ files, root }: World, path: string): Promise<Place> {
  const facts = await files.facts(path);
  if (!facts) return { kind: "none" };
  const refuse = (what: string) => {
    const hint = `Look at it, move it away (mv ${shellCommand([path])} …), then try again.`;
    return {
      kind: "foreign",
      refusal: new OverseerError("conflict", "UNIT_FOREIGN", `${path} ${what}; it is left alone.`, hint),
    } as const;
  };
  if (facts.kind === "symlink") return refuse("is a link that Overseer did not make");
  if (facts.kind !== "file") return refuse("is no file");
  const text = (await files.read(path)) ?? "";
  const unit = readUnit(text);
  if (!unit) return refuse("was not written by 'overseer service install'");
  if (unit.root !== root.project) return refuse(`belongs to another repository, ${unit.root}`);
  return { kind: "own", unit, text };
}

function refuseEdited(path: string): OverseerError {
  return new OverseerError(
    ...(["conflict", "UNIT_EDITED", `${path} was changed since it was written; it is left alone.`] as const),
    `Move it away (mv ${shellCommand([path])} …), then try again; lines of your own belong into a drop-in ('systemctl --user edit ${nameOf(path)}').`,
  );
}

async function findInstalled(world: World) {
  for (const manager of ["systemd", "launchd"] as const) {
    const path = unitPath(world, manager);
    const place = await readPlace(world, path);
    if (place.kind !== "none") return { manager, path, place };
  }
  return undefined;
}

async function writeUnit({ files }: World, path: string, text: string): Promise<void> {
  try {
    await files.makeDir(parentOf(path));
    await files.write(path, text, { mode: 0o600 });
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    const message = `${path} cannot be written: ${messageOf(error)}`;
    const hint = `Look whether ${parentOf(path)} is a directory of yours; 'overseer service install --print' shows the text.`;
    throw new OverseerError("environment", "UNIT_NOT_WRITTEN", message, hint, { cause: error });
  }
}

/** What `systemctl enable` makes, where it was made and systemctl does not answer any more. */
async function forgetLink({ files }: World, path: string): Promise<void> {
  const link = `${parentOf(path)}/default.target.wants/${nameOf(path)}`;
  if ((await files.facts(link))?.kind === "symlink") await files.removeUnlessFull(link);
}

/** True where it has been told everything. */
async function tellSystemd(world: World, unit: string, watches: boolean): Promise<boolean> {
  if (!(await systemctl(world, ["daemon-reload"])).ok) return false;
  return (await systemctl(world, ["enable", ...(watches ? [] : ["--now"]), unit])).ok;
}

async function askSystemd(world: World, unit: string): Promise<Pick<ServiceStatus, "active" | "enabled">> {
  const says = async (verb: string, yes: string) => {
    const { ok, text } = await systemctl(world, [verb, unit]);
    return ok || /^[a-z-]+$/.test(text) ? text === yes : null;
  };
  return { active: await says("is-active", "active"), enabled: await says("is-enabled", "enabled") };
}

/** A machine without it, or one where it does not answer, is no failure: then the person is told what to run. */
async function systemctl(
  { exec, env }: World,
  words: readonly string[],
  timeoutMs = SYSTEMCTL_MS,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  try {
    const { code, stdout } = await exec.run(["systemctl", "--user", ...words], { env, timeoutMs });
    return { ok: code === 0, text: stdout.trim() };
  } catch (error) {
    if (error instanceof OverseerError && error.code === "PROGRAM_MISSING") return { ok: false, text: "" };
    throw error;
  }
}

function listNext(manager: ServiceManager, path: string, told: boolean): NextCommand[] {
  if (manager === "launchd")
    return [
      { line: `launchctl bootstrap gui/$(id -u) ${shellCommand([path])}`, why: "begins it, now and at every login" },
    ];
  const linger = { line: "loginctl enable-linger", why: "lets it run while you are not logged in, and after a reboot" };
  if (told) return [linger];
  return [
    { line: "systemctl --user daemon-reload", why: "has systemd read it" },
    { line: `systemctl --user enable --now ${nameOf(path)}`, why: "begins it, now and after every reboot" },
    linger,
  ];
}
