/**
 * Processes that stand in our own worktree and that nobody of ours is the parent of (PROC-1): what an agent or a check
 * started with a bare environment and in a session of its own, and left behind when its runner was killed. Which of them
 * may be ended is decided here, and it is decided narrowly: a person's shell, editor or server that merely stands there
 * is shown and left alone.
 */

export interface SeenProcess {
  readonly pid: number;
  /** The kernel's start stamp; only compared. */
  readonly start: string;
  readonly parent: number;
  readonly session: number;
  readonly command: string;
}

export interface StandingProcess extends SeenProcess {
  /** The worktree it stands in, or has a file of open. */
  readonly place: string;
  /** Its session has a terminal. */
  readonly terminal: boolean;
  /** Its environment holds what only a person's own session gives. */
  readonly personal: boolean;
}

/** Who has worked in a place. */
export interface Tenant {
  /** `builder-1#47`, or "a check". */
  readonly label: string;
  readonly over: boolean;
  /** The start stamp of its runner: what is older is not its own. Null where that is not known. */
  readonly since: string | null;
}

export interface Stray extends StandingProcess {
  /** Who is taken to have started it; null when nobody of ours. */
  readonly tenant: string | null;
  readonly ends: boolean;
  /** Why it stays, or why it may go, as a clause. */
  readonly because: string;
}

/** A variable of any of these names is given by a login, a desktop, an editor or a service, and passed to no agent. */
export const PERSONAL_VARIABLES: readonly string[] = [
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XDG_SESSION_ID",
  "DBUS_SESSION_BUS_ADDRESS",
  "SSH_CONNECTION",
  "SSH_TTY",
  "TMUX",
  "STY",
  "TERM_PROGRAM",
  "INVOCATION_ID",
  "VSCODE_PID",
  "TERM_SESSION_ID",
];

/** Who takes over orphans: the first process, the manager of a user's session, the small inits of containers. */
const REAPERS = /(?:^|\/)(?:init|systemd(?: --user)?|tini|dumb-init|docker-init|catatonit|launchd|s6-svscan)(?:\s|$)/;

export function judgeStrays(
  standing: readonly StandingProcess[],
  table: ReadonlyMap<number, SeenProcess>,
  tenants: (place: string) => readonly Tenant[],
): Stray[] {
  const judged = new Map<number, Stray>();
  for (const one of standing) judged.set(one.pid, judgeOne(one, table, standing, tenants));
  // What belongs to one that stays, stays with it.
  for (let changed = true; changed; ) {
    changed = false;
    for (const one of judged.values()) {
      const above = [judged.get(one.parent), judged.get(one.session)].find((other) => other && !other.ends);
      if (!one.ends || !above || above.pid === one.pid) continue;
      judged.set(one.pid, { ...one, ends: false, because: `it belongs to pid ${above.pid}, which stays` });
      changed = true;
    }
  }
  return [...judged.values()];
}

function judgeOne(
  one: StandingProcess,
  table: ReadonlyMap<number, SeenProcess>,
  standing: readonly StandingProcess[],
  tenants: (place: string) => readonly Tenant[],
): Stray {
  const own = tenants(one.place).filter(({ since }) => isNotOlder(one.start, since));
  const tenant = own.reduce<Tenant | undefined>(
    (last, next) => (last && isNotOlder(last.since ?? "", next.since) ? last : next),
    undefined,
  );
  const stays = (because: string): Stray => ({ ...one, tenant: tenant?.label ?? null, ends: false, because });
  if (one.terminal) return stays("it is on a terminal");
  if (one.personal) return stays("it belongs to a person's session");
  const stands = (pid: number) => standing.some((other) => other.pid === pid);
  const leader = table.get(one.session);
  if (leader && leader.pid !== one.pid && !stands(leader.pid)) return stays(`pid ${leader.pid} leads its session`);
  const parent = table.get(one.parent);
  if (parent && parent.pid !== 1 && !stands(parent.pid) && !REAPERS.test(parent.command)) {
    return stays(`pid ${parent.pid} started it and is running`);
  }
  if (!tenant) return stays("it is older than any agent that worked here");
  if (!tenant.over) return stays(`${tenant.label} is at work here`);
  return { ...one, tenant: tenant.label, ends: true, because: `${tenant.label} has ended` };
}

/** Stamps count up since the machine was started; what cannot be compared is not known to be younger. */
function isNotOlder(start: string, since: string | null): boolean {
  if (since === null || !/^\d+$/.test(start) || !/^\d+$/.test(since)) return false;
  return BigInt(start) >= BigInt(since);
}

/** As people read it. */
export function strayLine({ pid, command, place, tenant, because }: Stray): string {
  const plain = command.replace(/[^\P{Cc}]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
  const what = plain.length > 60 ? `${plain.slice(0, 60)}…` : plain;
  return `pid ${pid} (${what}) in ${place}${tenant === null ? "" : `, left by ${tenant}`}: ${because}`;
}
