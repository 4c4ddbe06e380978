/** Does whoever listens on a socket answer? One that is frozen still has its connections taken, by the kernel. */
export async function isSocketAnswered(path: string, withinMs: number): Promise<boolean> {
  try {
    // No such way is known there, and saying so is an answer.
    const answer = await fetch("http://attempt/", { unix: path, signal: AbortSignal.timeout(withinMs) });
    await answer.body?.cancel();
    return true;
  } catch (error) {
    // Nobody listens, there is no such file, or nothing came in time: all the same to whoever would ask there.
    if (error instanceof Error) return false;
    throw error;
  }
}
