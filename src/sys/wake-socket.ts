/**
 * A hint to whoever listens on a socket that there may be news: connect and leave. Nothing is said, so nothing can be
 * misunderstood; nobody being there is an answer too.
 */
export async function wakeSocket(socket: string): Promise<boolean> {
  try {
    const door = await Bun.connect({ unix: socket, socket: { data() {} } });
    door.end();
    return true;
  } catch (error) {
    // ENOENT, ECONNREFUSED: nobody listens. Whoever is told this way also looks by itself every few seconds.
    if (error instanceof Error) return false;
    throw error;
  }
}
