/**
 * How to start another part of this very program: from the bundle beside it, from the sources of a clone, or from the
 * single binary, whichever this process is. Always by absolute path, so that nothing depends on PATH.
 */
export type Part = "runner" | "scripted-agent" | "hook" | "permit" | "daemon" | "daemon-guard" | "exporter" | "mcp";

const SOURCES: Readonly<Record<Part, string>> = {
  runner: "runner.ts",
  "scripted-agent": "scripted-agent.ts",
  hook: "hook.ts",
  permit: "permit-hook.ts",
  daemon: "daemon.ts",
  "daemon-guard": "daemon-guard.ts",
  exporter: "exporter.ts",
  mcp: "mcp.ts",
};

/**
 * Bun itself would run what a bunfig.toml in the working directory names and take variables from an .env there. Where we
 * work, both are written by agents; the single binary is built without either.
 */
const UNMOVED = ["--config=/dev/null", "--no-env-file"];

/** `main` is Bun.main of this process, `program` its executable. */
export function commandForPart(part: Part, self: { readonly main: string; readonly program: string }): string[] {
  if (self.main.startsWith("/$bunfs/")) return [self.program, `__${part}`];
  const directory = self.main.slice(0, self.main.lastIndexOf("/"));
  if (directory.endsWith("/dist")) return [self.program, ...UNMOVED, `${directory}/${part}.js`];
  const src = self.main.slice(0, self.main.lastIndexOf("/src/") + "/src".length);
  return [self.program, ...UNMOVED, `${src}/${SOURCES[part]}`];
}

export function ownCommand(part: Part): string[] {
  return commandForPart(part, { main: Bun.main, program: process.execPath });
}

/** How to call this very program as a person would, whatever it was started from. */
export function ownProgram(self = { main: Bun.main, program: process.execPath }): string[] {
  if (self.main.startsWith("/$bunfs/")) return [self.program];
  const directory = self.main.slice(0, self.main.lastIndexOf("/"));
  if (directory.endsWith("/dist")) return [self.program, ...UNMOVED, `${directory}/overseer.js`];
  return [self.program, ...UNMOVED, `${self.main.slice(0, self.main.lastIndexOf("/src/") + "/src".length)}/main.ts`];
}

/** Commands with a bundle of their own, as bin/overseer chooses them; the others have the whole program's. */
const SMALL: Readonly<Record<string, string>> = { status: "fast", mail: "mail" };

/** What starts that command of this very program at the least cost, and the variables that make it cheap. */
export function ownCommandFor(
  command: string,
  self = { main: Bun.main, program: process.execPath },
): { readonly argv: string[]; readonly env: Readonly<Record<string, string>> } {
  const whole = ownProgram(self);
  const entry = whole.at(-1) ?? "";
  const small = Object.hasOwn(SMALL, command) ? SMALL[command] : undefined;
  if (small === undefined || !entry.endsWith("/dist/overseer.js")) return { argv: whole, env: {} };
  const cheap: Record<string, string> =
    small === "fast" ? { BUN_JSC_useBaselineJIT: "0", BUN_JSC_forceMiniVMMode: "1" } : { BUN_JSC_useJIT: "0" };
  return { argv: [...whole.slice(0, -1), entry.replace(/overseer\.js$/, `${small}.js`)], env: cheap };
}

/** The directory in which `overseer` itself lies, told from the command of one of its parts. */
export function placeOfProgram(command: readonly string[]): string {
  const [program = ""] = command;
  const entry = command.at(-1) ?? "";
  const above = (path: string) => path.slice(0, path.lastIndexOf("/"));
  return entry.startsWith("__") ? above(program) : `${above(above(entry))}/bin`;
}
