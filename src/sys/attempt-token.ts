/**
 * The secret of one attempt (FENCE-1): made when its agent is started, given to it by environment, and known to everybody
 * else by its hash alone, which lies in the attempt's policy file. Who claims to be an attempt shows it. It keeps agents
 * apart that mean no harm or know no better; a process of the same user can read another's environment, which only a
 * sandbox ends. Everything about it is here, so that it can move behind a socket of the attempt's own.
 */

/** The name it has in an agent's environment. */
export const TOKEN_VARIABLE = "OVERSEER_TOKEN";

/** A shape of its own, so that whatever keeps text recognises it and takes it out (telemetry/secret-shapes.ts). */
const PREFIX = "ovtk_";
const BYTES = 24;

export function makeToken(): string {
  return `${PREFIX}${crypto.getRandomValues(new Uint8Array(BYTES)).toHex()}`;
}

/** What may be written down of it. Hooks ask at every call: this is the cheapest way Bun has. */
export function hashOfToken(token: string): string {
  return Bun.SHA256.hash(token, "hex");
}

/** The hash of the secret that a process was given; undefined when it was given none. */
export function tokenHashIn(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const token = env[TOKEN_VARIABLE];
  return token ? hashOfToken(token) : undefined;
}
