/**
 * Ties an agent's CLI to its runner: it does not outlive it. Hooks by HTTP go to a port of the runner's, and whoever took
 * that port after the runner had been killed would be believed: nothing in what they ask proves who answers. So a CLI asks
 * by HTTP only where the kernel ends it in the same moment. What it had written stays in its worktree, and its burial
 * keeps it as that of any other death.
 */
import type { Launch, Runtime } from "#runtimes/runtime.ts";
import type { Exec } from "#sys/exec.ts";

/** The words before a command that tie it; it keeps its process number. Null where there is no such tool (macOS, busybox). */
export type Tie = readonly string[] | null;

export async function findTie(exec: Pick<Exec, "run">): Promise<Tie> {
  const tool = process.platform === "linux" ? Bun.which("setpriv") : null;
  if (tool === null) return null;
  const tie = [tool, "--pdeathsig", "KILL", "--"];
  // The one of busybox has the name and not the option.
  const { code } = await exec.run([...tie, "true"]);
  return code === 0 ? tie : null;
}

/** The runtime as it is, but for what its agents are started with. */
export function tieAgents(runtime: Runtime, tie: Tie): Runtime {
  const { screen } = runtime;
  return {
    ...runtime,
    launch: (request) => tieLaunch(runtime.launch(request), tie),
    ...(screen
      ? { screen: { ...screen, launch: (request, prompt) => tieLaunch(screen.launch(request, prompt), tie) } }
      : {}),
  };
}

function tieLaunch(launch: Launch, tie: Tie): Launch {
  const [command = ""] = launch.argv;
  // What is not there fails as it does without us, in words about itself.
  const isThere = Bun.which(command, { PATH: launch.env.PATH ?? "", cwd: launch.cwd }) !== null;
  return tie === null || !isThere ? launch : { ...launch, argv: [...tie, ...launch.argv] };
}
