/**
 * Long answers where a person looks: through their pager (PAGER, else `less -R` where there is one), which they may leave at
 * any line. In a pipe, and without a pager, the lines are printed as they are.
 */
import type { Output } from "./output.ts";

type Env = Readonly<Record<string, string | undefined>>;

export async function pageLines(
  out: Output,
  lines: Iterable<string> | AsyncIterable<string>,
  env: Env = process.env,
): Promise<void> {
  const pager = out.interactive ? choosePager(env, (program) => Bun.which(program) !== null) : undefined;
  if (pager === undefined) {
    for await (const line of lines) out.line(line);
    return;
  }
  const child = Bun.spawn([...pager], {
    stdio: ["pipe", "inherit", "inherit"],
    // As git does it: a short text stays on the screen, colours are shown.
    env: { LESS: "FRX", ...env },
  });
  // Ctrl-C is the pager's; what a person leaves early is not read to its end.
  const ignore = () => undefined;
  process.on("SIGINT", ignore);
  let open = true;
  void child.exited.then(() => {
    open = false;
  });
  try {
    for await (const line of lines) {
      if (!open) break;
      child.stdin.write(`${line}\n`);
      await child.stdin.flush();
    }
    await child.stdin.end();
  } catch (error) {
    if (!isClosedPipe(error)) throw error;
  } finally {
    await child.exited;
    process.off("SIGINT", ignore);
  }
}

/** The words of the pager's command; undefined where none is wanted or there. */
export function choosePager(env: Env, isThere: (program: string) => boolean): readonly string[] | undefined {
  const words = (env.PAGER ?? "less -R").split(/\s+/).filter((word) => word !== "");
  const [program] = words;
  return program === undefined || program === "cat" || !isThere(program) ? undefined : words;
}

function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}
