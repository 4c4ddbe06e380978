/**
 * Every word we say to tmux, as pure functions, so that they can be read and tested as text. Three rules hold here:
 * a target is `=name:` or an id tmux minted, never a bare name (tmux matches prefixes); whatever a caller brings
 * (arguments, environment, text) travels by stdin, so it appears in no process listing and meets no message limit
 * (16 KB on a tmux command line); and each act on a session is guarded inside the server, so that looking and doing
 * cannot be torn apart by a restart or by a person who attaches in between.
 */
import type { OpenRequest, TerminalKey } from "./terminal.ts";
import type { TerminalName } from "./terminal-name.ts";

/** The identity of one pane, as far as the server can check it. */
export interface PaneIdentity {
  readonly name: TerminalName;
  readonly sessionId: string;
  readonly sessionCreated: number;
  readonly paneId: string;
  readonly pid: number;
}

/** How much of what scrolled away a pane keeps, and so the most that a peek can show. */
export const HISTORY_LINES = 10_000;
export const DEFAULT_SIZE = { columns: 200, rows: 50 } as const;

/**
 * In the environment of the server itself, `0@<state directory>`: what it starts for whoever talks to its socket is not
 * started by a person (control/caller.ts).
 */
export const SERVER_MARK = "OVERSEER_TERMINALS";

/** Our own server, without anybody's tmux.conf; `-u` because our pipes carry UTF-8 whatever the locale says. */
export function serverArguments(socketPath: string): string[] {
  return ["-u", "-S", socketPath, "-f", "/dev/null"];
}

export function exactTarget(name: TerminalName): string {
  return `=${name}:`;
}

export function attachArguments(name: TerminalName): string[] {
  return ["attach-session", "-t", exactTarget(name)];
}

// ---- Listing

const LIST_FIELDS = [
  "session_id",
  "session_created",
  "pane_id",
  "pane_pid",
  "session_attached",
  "pane_dead",
  "pane_dead_status",
  "session_name",
] as const;

const PANE_FORMAT = LIST_FIELDS.map((field) => `#{${field}}`).join("|");

/** One call shows every pane of the server. */
export function listArguments(): string[] {
  return ["list-panes", "-a", "-F", PANE_FORMAT];
}

export interface PaneRow {
  readonly sessionId: string;
  readonly sessionCreated: number;
  readonly paneId: string;
  readonly pid: number;
  readonly attached: number;
  readonly dead: boolean;
  readonly deadStatus: number | null;
  /** Unchecked: a person can make sessions on our server too. */
  readonly sessionName: string;
}

/** Rows that do not read as a pane are left out: a line tmux did not write in our format is nobody of ours. */
export function parsePaneRows(stdout: string): PaneRow[] {
  const rows: PaneRow[] = [];
  for (const line of stdout.split("\n")) {
    const [sessionId, created, paneId, pid, attached, dead, deadStatus, ...name] = line.split("|");
    if (!sessionId?.startsWith("$") || !paneId?.startsWith("%") || !isCount(created) || !isCount(pid)) continue;
    rows.push({
      sessionId,
      sessionCreated: Number(created),
      paneId,
      pid: Number(pid),
      attached: isCount(attached) ? Number(attached) : 0,
      dead: dead === "1",
      deadStatus: isCount(deadStatus) ? Number(deadStatus) : null,
      sessionName: name.join("|"),
    });
  }
  return rows;
}

function isCount(text: string | undefined): text is string {
  return text !== undefined && /^[0-9]+$/.test(text);
}

// ---- Opening

/** Reads its commands from stdin: see `openScript`. */
export function openArguments(): string[] {
  return ["start-server", ";", "source-file", "-"];
}

/**
 * What our own fresh server must be told, and an old one may be told again. The prefix table keeps only leaving,
 * scrolling and the prefix itself: a slip of the fingers must not rename, kill or split an agent's session.
 * `exit-empty` stays on: a server without sessions ends, and no server counts as an empty list.
 */
const SERVER_OPTIONS: readonly (readonly string[])[] = [
  ["set-option", "-s", "exit-empty", "on"],
  ["set-option", "-s", "escape-time", "25"],
  ["set-option", "-g", "default-terminal", "screen-256color"],
  ["set-option", "-g", "update-environment", ""],
  ["set-option", "-g", "destroy-unattached", "off"],
  ["set-option", "-g", "history-limit", String(HISTORY_LINES)],
  ["set-option", "-g", "status-left-length", "60"],
  ["set-option", "-g", "status-left", " overseer #{session_name} "],
  ["set-option", "-g", "status-right", " leave: C-b d "],
  ["set-option", "-g", "window-status-format", ""],
  ["set-option", "-g", "window-status-current-format", ""],
  ["set-option", "-g", "remain-on-exit", "off"],
  ["set-option", "-g", "automatic-rename", "off"],
  ["set-option", "-g", "allow-rename", "off"],
  ["unbind-key", "-a", "-T", "prefix"],
  ["bind-key", "-T", "prefix", "d", "detach-client"],
  ["bind-key", "-T", "prefix", "[", "copy-mode"],
  ["bind-key", "-T", "prefix", "PPage", "copy-mode", "-u"],
  ["bind-key", "-T", "prefix", "C-b", "send-prefix"],
];

/**
 * The commands that make the session, for stdin. The working directory is not among them: `-c` would expand `#{…}` and
 * `%d` in a path, so it is the directory the tmux client runs in. PATH is the client's too (tmux prefers it to `-e`).
 */
export function openScript(request: OpenRequest): string {
  const { columns, rows } = request.size ?? DEFAULT_SIZE;
  const variables = Object.entries(request.env).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
  const commands: (readonly string[])[] = [
    ...SERVER_OPTIONS,
    ["set-environment", "-gu", "PATH"],
    ["set-environment", "-gu", SERVER_MARK],
    // tmux sets SHELL in a pane from this option; it refuses what is no shell, and then the first word stands.
    ["set-option", "-g", "default-shell", "/bin/sh"],
    ...(request.env.SHELL === undefined ? [] : [["set-option", "-g", "default-shell", request.env.SHELL]]),
    [
      ...["new-session", "-d", "-s", request.name, "-x", String(columns), "-y", String(rows)],
      ...variables,
      ...["-P", "-F", PANE_FORMAT, "--"],
      ...withoutShell(request.argv),
    ],
  ];
  return commands.map((words) => `${words.map(quoteWord).join(" ")}\n`).join("");
}

/** tmux hands a command of a single word to a shell; more than one word it runs as they are. */
function withoutShell(argv: readonly string[]): readonly string[] {
  return argv.length === 1 ? ["/bin/sh", "-c", 'exec "$0"', ...argv] : argv;
}

/**
 * One word of tmux's command language. Control characters become octal because tmux joins lines at a backslash even
 * inside quotes, and `~` because it expands it even there.
 */
export function quoteWord(word: string): string {
  let text = "";
  for (const character of word) {
    const code = character.charCodeAt(0);
    if (code < 0x20 || code === 0x7f || character === "~") text += `\\${code.toString(8).padStart(3, "0")}`;
    else if (character === "\\" || character === '"' || character === "$") text += `\\${character}`;
    else text += character;
  }
  return `"${text}"`;
}

// ---- Acting on one pane

/** What the server says about a pane before it acts: `free`, `attached`, `exited`, or `gone` when it is not that one. */
export type PaneVerdict = "free" | "attached" | "exited" | "gone";

/** True inside the server only for that very pane of that very session of that very server. */
export function identityFormat(pane: PaneIdentity): string {
  const asked = "#{session_name}|#{session_id}|#{session_created}|#{pane_id}|#{pane_pid}";
  const expected = [pane.name, pane.sessionId, pane.sessionCreated, pane.paneId, pane.pid].join("|");
  return `#{==:${asked},${expected}}`;
}

export function verdictFormat(pane: PaneIdentity): string {
  return `#{?${identityFormat(pane)},#{?pane_dead,exited,#{?session_attached,attached,free}},gone}`;
}

export function parseVerdict(line: string | undefined): PaneVerdict {
  return line === "free" || line === "attached" || line === "exited" ? line : "gone";
}

/** Prints the verdict on the first line, then the screen and up to `lines` of what scrolled away. */
export function captureArguments(pane: PaneIdentity, lines: number): string[] {
  return [
    ...sayVerdict(pane),
    ...[";", "if-shell", "-F", "-t", pane.paneId, identityFormat(pane)],
    `capture-pane -p -J -t ${pane.paneId} -S -${lines}`,
  ];
}

/** The text comes by stdin into a buffer of its own, which is gone afterwards in either case. */
export function pasteArguments(pane: PaneIdentity, buffer: string): string[] {
  return [
    ...["load-buffer", "-b", buffer, "-", ";"],
    ...sayVerdict(pane),
    ...[";", "if-shell", "-F", "-t", pane.paneId, freeFormat(pane)],
    `paste-buffer -p -r -d -b ${buffer} -t ${pane.paneId}`,
    `delete-buffer -b ${buffer}`,
  ];
}

/** By code where a key is one byte: some tmux versions take the name `Enter` and press nothing. */
const KEY_WORDS: Readonly<Record<TerminalKey, string>> = {
  Enter: "-H 0d",
  Escape: "-H 1b",
  Tab: "-H 09",
  "C-c": "-H 03",
  "C-d": "-H 04",
  Up: "Up",
  Down: "Down",
};

/** Leaves copy mode first, where a key would go to tmux instead of to the program. */
export function keyArguments(pane: PaneIdentity, key: TerminalKey): string[] {
  return [
    ...sayVerdict(pane),
    ...[";", "if-shell", "-F", "-t", pane.paneId, freeFormat(pane)],
    `copy-mode -q -t ${pane.paneId} ; send-keys -t ${pane.paneId} ${KEY_WORDS[key]}`,
  ];
}

export function killArguments(pane: PaneIdentity): string[] {
  return [
    ...["if-shell", "-F", "-t", pane.paneId, identityFormat(pane)],
    // Quoted because this string is parsed again, where `$0` would be a variable.
    `kill-session -t '${pane.sessionId}'`,
  ];
}

function sayVerdict(pane: PaneIdentity): string[] {
  return ["display-message", "-p", "-t", pane.paneId, verdictFormat(pane)];
}

function freeFormat(pane: PaneIdentity): string {
  return `#{==:${verdictFormat(pane)},free}`;
}
