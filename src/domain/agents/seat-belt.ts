/**
 * What an agent may call of our own command line (POL-1): look, report, talk, and sling where its role allows. It is a
 * seat belt against an agent that steers the fleet by mistake, not a wall; who it is that calls, caller.ts judges.
 */

/** Commands an agent may run; a list names the only subcommands it may. */
const FOR_AGENTS: Readonly<Record<string, true | readonly string[]>> = {
  status: true,
  why: true,
  events: true,
  agents: true,
  peek: true,
  metrics: true,
  health: true,
  diagnoses: true,
  stats: true,
  prime: true,
  mail: true,
  hook: true,
  log: true,
  completions: true,
  /** What it offers an agent is no more than this list. */
  mcp: true,
  config: ["show", "get", "explain", "schema", "example"],
  learnings: ["list", "search", "show", "add"],
  expertise: true,
  /** Whether it may is its role's to say; asked inside the claim. */
  sling: true,
  goal: ["list", "show"],
  work: ["list", "show", "report"],
  ask: true,
  questions: ["list"],
  worktree: ["list"],
};

/** A sentence that refuses the command, or undefined when an agent may run it. */
export function refuseToAgents(command: string, sub: string): string | undefined {
  const rule = FOR_AGENTS[command];
  if (rule === true) return undefined;
  const called = sub ? `${command} ${sub}` : command;
  if (rule?.includes(sub) || (rule && sub === "")) return undefined;
  return `Agents may not run 'overseer ${called}'; only people and Overseer itself may.`;
}
