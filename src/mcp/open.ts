/**
 * Opens the server for whoever started it: an agent, told by the attempt in its environment, or a person's own session.
 * What an agent's process may not be by taking its attempt off, the same look finds out as for every command
 * (control/caller.ts). A person's session speaks as the orchestrator: what is written to it lies in that box.
 */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { z } from "zod";
import { assertCaller } from "#control/caller.ts";
import { isSetUp } from "#control/set-up.ts";
import { ORCHESTRATOR_ADDRESS } from "#domain/model/protocol.ts";
import { OverseerError } from "#errors.ts";
import { systemExec } from "#sys/exec.ts";
import { findRoot, type Root } from "#sys/root.ts";
import { ownProgram } from "#sys/self.ts";
import { findWorkingDirectory } from "#sys/working-directory.ts";
import { type ServerParts, serve } from "./server.ts";
import type { Caller } from "./tools.ts";

type Env = Readonly<Record<string, string | undefined>>;

const FOR_AGENTS =
  "Overseer supervises you. These tools do what the 'overseer' commands of your assignment do; use either. Long answers end with a word for 'read'.";
const FOR_PERSONS =
  "Overseer runs a fleet of coding agents in this repository. sling or do puts agents to work, mail and status tell how they get on, review and accept land what they made. Long answers end with a word for 'read'. Land, answer and stop only what the user would want you to.";
const NOT_HERE = "Overseer is not set up in this directory ('overseer init' does that); it offers no tools here.";

const NOT_LED =
  "No session leads the Overseer fleet of this repository ('overseer lead on' lets yours); it offers no tools here.";

const LEAD_IS_OFF =
  "No session leads the Overseer fleet of this repository any more ('overseer lead off' was said): nothing was done. 'overseer lead on' lets yours again.";

/** Resolves when its client has gone. */
export async function openServer(
  words: readonly string[],
  env: Env,
  version: string,
  transport: Transport,
): Promise<void> {
  const { root: flag, spawns, lead } = readWords(words);
  const isAgent = !!env.OVERSEER_ATTEMPT;
  const root = await findRootHere(flag, env);
  if (!isAgent && root) await assertPersonHere(root, env);
  const parts = {
    ...{ version, exec: systemExec(), program: ownProgram() },
    env: environmentOf(env, isAgent, flag === undefined ? undefined : root),
  };
  // The plugin is there in every session of the person's, an agent's among them, and means none but those that lead.
  const offers = root !== undefined && (!lead || (!isAgent && (await isLeadOn(parts))));
  const caller: Caller | null = !offers ? null : !isAgent ? "person" : spawns ? "spawner" : "agent";
  const told = isAgent ? FOR_AGENTS : FOR_PERSONS;
  const instructions = offers ? told : root === undefined ? NOT_HERE : NOT_LED;
  const mayChange = lead && offers ? async () => ((await isLeadOn(parts)) ? undefined : LEAD_IS_OFF) : undefined;
  const server = await serve({ ...parts, caller, instructions, mayChange }, transport);
  await new Promise<void>((resolve) => {
    server.onclose = () => resolve();
    // The library does not notice that its client has gone.
    process.stdin.on("end", () => resolve());
    process.stdin.on("close", () => resolve());
  });
}

interface ServerWords {
  readonly root: string | undefined;
  readonly spawns: boolean;
  /** Only where sessions lead. */
  readonly lead: boolean;
}

/** Throws for a word that it does not know, as every command does. */
function readWords(words: readonly string[]): ServerWords {
  // Started by bin/overseer, it is told its own name first.
  const rest = words[0] === "mcp" ? words.slice(1) : [...words];
  let root: string | undefined;
  const flags = { spawns: false, lead: false };
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--root") root = rest.shift();
    else if (word.startsWith("--root=")) root = word.slice("--root=".length);
    else if (word === "--spawns") flags.spawns = true;
    else if (word === "--lead") flags.lead = true;
    else throw unknownWord(word);
  }
  return { root, ...flags };
}

function unknownWord(word: string): OverseerError {
  const isOption = word.startsWith("-");
  const message = isOption ? `overseer mcp has no option ${word}.` : `overseer mcp takes no "${word}".`;
  return new OverseerError(
    "usage",
    isOption ? "UNKNOWN_OPTION" : "TOO_MANY_ARGUMENTS",
    message,
    "See: overseer mcp --help",
  );
}

/** Undefined where Overseer is not set up; an editor opens directories of all kinds. */
async function findRootHere(flag: string | undefined, env: Env): Promise<Root | undefined> {
  try {
    const given = { ...(flag === undefined ? {} : { flag }), env: env as Record<string, string> };
    const root = await findRoot({ cwd: findWorkingDirectory() ?? "/", ...given });
    return isSetUp(root) ? root : undefined;
  } catch (error) {
    if (error instanceof OverseerError && error.code === "NOT_A_REPOSITORY" && flag === undefined) return undefined;
    throw error;
  }
}

/** Throws NOT_THE_PERSON. */
async function assertPersonHere(root: Root, env: Env): Promise<void> {
  await assertCaller(
    {
      env,
      root: async () => root,
      // Both are asked of attempts, and this process names none.
      attemptIn: async () => undefined,
      noteFenced: async () => undefined,
    },
    "mcp",
  );
}

async function isLeadOn({ exec, program, env }: Pick<ServerParts, "exec" | "program" | "env">): Promise<boolean> {
  const { code, stdout } = await exec.run([...program, "lead", "status", "--json"], { env });
  return code === 0 && LEADS.safeParse(JSON.parse(stdout)).success;
}

const LEADS = z.object({ on: z.literal(true) });

function environmentOf(env: Env, isAgent: boolean, named: Root | undefined): Record<string, string> {
  // The server itself is run without a compiler (bin/overseer), which is not meant for what it starts.
  const given = Object.entries(env).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[0] !== "BUN_JSC_useJIT",
  );
  return {
    ...Object.fromEntries(given),
    ...(isAgent ? {} : { OVERSEER_AGENT: ORCHESTRATOR_ADDRESS }),
    ...(named ? { OVERSEER_ROOT: named.project } : {}),
  };
}
