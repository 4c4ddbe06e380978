/**
 * The file by which a service manager of this user runs the guard of one repository: how it is called, what stands in it, and
 * what a file that is there says of itself. Paths and words are escaped as systemd and XML read them; what neither can hold is
 * refused. Pure: nothing is looked up, written or started here.
 */
import { textHash } from "#domain/core/derived-id.ts";
import { type Refused, refuse } from "#domain/core/refusal.ts";

export const SERVICE_MANAGERS = ["systemd", "launchd"] as const;
export type ServiceManager = (typeof SERVICE_MANAGERS)[number];

export interface ServicePlan {
  readonly manager: ServiceManager;
  /** The repository, absolute. */
  readonly root: string;
  /** What `overseer` is, absolute. */
  readonly program: string;
  /** What `overseer guard` is told beside the repository. */
  readonly words: readonly string[];
  /** Variables that the guard and all it starts are to have. */
  readonly env: Readonly<Record<string, string>>;
  /** A file of further variables, such as keys, that need not be there; only systemd reads one. */
  readonly envFile: string;
  /** Where launchd puts what the guard prints; systemd has a journal. */
  readonly output: string;
}

/** What a file of ours says of itself. */
export interface ReadUnit {
  readonly root: string;
  readonly words: readonly string[];
  /** Somebody has changed it since it was written. */
  readonly edited: boolean;
}

/** Readable, and another one for another repository of the same name. */
export function serviceName(root: string): string {
  const name = root.slice(root.lastIndexOf("/") + 1).toLowerCase();
  const short = name.replace(/[^a-z0-9]+/g, "-").slice(0, 32);
  return `overseer-${short.replace(/^-+|-+$/g, "") || "repository"}-${textHash(root)}`;
}

export function unitFileName(manager: ServiceManager, root: string): string {
  return `${serviceName(root)}.${manager === "systemd" ? "service" : "plist"}`;
}

/** What a unit cannot hold: control characters, and bytes that were no text to begin with. */
const UNFIT = /[\p{Cc}\ufffd\ufffe\uffff]/u;

export function refuseUnfit({ manager, root, program, words, env }: ServicePlan): Refused | undefined {
  const isUnfit = (text: string) => UNFIT.test(text) || !text.isWellFormed();
  const say = (what: string, text: string, hint: string) =>
    refuse("usage", "UNFIT_FOR_UNIT", `${what} cannot stand in a unit of ${manager}: ${JSON.stringify(text)}.`, hint);
  const MOVE = "Line ends, control characters and bytes that are no UTF-8 have no place there. Rename the directory.";
  if (isUnfit(root)) return say("The path of this repository", root, MOVE);
  if (isUnfit(program)) return say("The path of the program", program, MOVE);
  // systemd refuses such a program however it is quoted.
  if (manager === "systemd" && /["'\\]/.test(program)) {
    return say("The path of the program", program, "Quotes and backslashes have no place there. Install it elsewhere.");
  }
  const word = words.find(isUnfit);
  if (word !== undefined) {
    return say("An option", word, "Line ends and control characters have no place there. Put the command into a file.");
  }
  const variable = Object.entries(env).find(([, value]) => isUnfit(value));
  return variable && say(`The variable ${variable[0]}`, variable[1], "Set it to something plain, then try again.");
}

/** The whole text. `refuseUnfit` comes first. */
export function renderUnit(plan: ServicePlan): string {
  const body = plan.manager === "systemd" ? renderSystemd(plan) : renderLaunchd(plan);
  const about = { v: 1, root: plan.root, words: plan.words, sum: textHash(body.join("\n")) };
  // Two dashes would end a comment of XML early; JSON may write them otherwise.
  const said = `${MARK} ${JSON.stringify(about).replaceAll("-", "\\u002d")}`;
  const [first = "", ...rest] = body;
  const lines = plan.manager === "systemd" ? [`# ${said}`, first, ...rest] : [first, `<!-- ${said} -->`, ...rest];
  return `${lines.join("\n")}\n`;
}

const MARK = "Written by 'overseer service install':";

/** Undefined for a file that we did not write. */
export function readUnit(text: string): ReadUnit | undefined {
  const lines = text.replace(/\n$/, "").split("\n");
  const at = lines.findIndex((line) => line.includes(MARK));
  const line = lines[at];
  if (line === undefined || at > 1) return undefined;
  const about = parseAbout(line.slice(line.indexOf(MARK) + MARK.length).replace(/ -->$/, ""));
  if (typeof about?.root !== "string" || !Array.isArray(about.words)) return undefined;
  const body = lines.toSpliced(at, 1).join("\n");
  return { root: about.root, words: about.words.map(String), edited: about.sum !== textHash(body) };
}

function parseAbout(text: string): { root?: unknown; words?: unknown; sum?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** How long the guard may take to end the daemon in order. */
const STOP_S = 120;
const AGAIN_S = 10;
/** Exit codes with which it says that only a person can help; begun again, it would fail again (GUARD-5). */
const FINAL_EXITS = [2, 3, 4, 5, 6];

function renderSystemd({ root, program, words, env, envFile }: ServicePlan): string[] {
  const argv = [quoteProgram(program), ...["guard", "--root", root, "--respect-down", ...words].map(quoteWord)];
  return [
    "[Unit]",
    `Description=Overseer's guard of ${root.replaceAll("%", "%%").replaceAll("\\", "/")}`,
    "StartLimitIntervalSec=600",
    "StartLimitBurst=20",
    "",
    "[Service]",
    "Type=simple",
    `ExecStart=${argv.join(" ")}`,
    `WorkingDirectory=${writePath(root)}`,
    ...Object.entries(env).map(([name, value]) => `Environment=${quoteText(`${name}=${value}`)}`),
    `EnvironmentFile=-${writePath(envFile)}`,
    "Restart=on-failure",
    `RestartSec=${AGAIN_S}`,
    `RestartPreventExitStatus=${FINAL_EXITS.join(" ")}`,
    "# Agents outlive the guard and the daemon, and one that runs out of memory takes nobody with it.",
    "KillMode=process",
    "OOMPolicy=continue",
    `TimeoutStopSec=${STOP_S}`,
    "",
    "[Install]",
    "WantedBy=default.target",
  ];
}

/** Between quotes, as Environment= reads it: no dollar sign means anything there. */
function quoteText(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;
}

/** A word of a command line, where variables are put in. */
function quoteWord(text: string): string {
  return quoteText(text).replaceAll("$", "$$$$");
}

/** The first of them: no variable is put in there, so a dollar sign stands for itself. */
const quoteProgram = quoteText;

/** A path that is a whole value: taken as it stands, but for its blanks and a backslash at the end. */
function writePath(path: string): string {
  const safe = /[\s\\]$/.test(path) ? `${path}/` : path;
  return safe.replaceAll("%", "%%");
}

function renderLaunchd({ root, program, words, env, output }: ServicePlan): string[] {
  const text = (value: string) => `<string>${escapeXml(value)}</string>`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    "<dict>",
    `  <key>Label</key>${text(serviceName(root))}`,
    "  <key>ProgramArguments</key>",
    "  <array>",
    ...[program, "guard", "--root", root, "--respect-down", ...words].map((word) => `    ${text(word)}`),
    "  </array>",
    `  <key>WorkingDirectory</key>${text(root)}`,
    "  <key>EnvironmentVariables</key>",
    "  <dict>",
    ...Object.entries(env).map(([name, value]) => `    <key>${escapeXml(name)}</key>${text(value)}`),
    "  </dict>",
    "  <key>RunAtLoad</key><true/>",
    // It knows no exit codes: only a crash is begun again, so that a guard that has stopped stays so.
    "  <key>KeepAlive</key><dict><key>Crashed</key><true/></dict>",
    `  <key>ThrottleInterval</key><integer>${AGAIN_S}</integer>`,
    `  <key>ExitTimeOut</key><integer>${STOP_S}</integer>`,
    "  <key>AbandonProcessGroup</key><true/>",
    `  <key>StandardOutPath</key>${text(output)}`,
    `  <key>StandardErrorPath</key>${text(output)}`,
    "</dict>",
    "</plist>",
  ];
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
