/**
 * The secret of one attempt (FENCE-1): made when its agent is started, given to it by environment, and known to everybody
 * else by its hash alone, which lies in the attempt's policy file. Who claims to be an attempt shows it. It keeps agents
 * apart that mean no harm or know no better; a process of the same user can read another's environment, which only a
 * sandbox ends. Where an agent asks its runner it does not show the secret but signs with it: whoever took the place of
 * the runner's socket learns nothing by listening.
 */
import { isSameSecret } from "./same-secret.ts";

/** The name it has in an agent's environment. */
export const TOKEN_VARIABLE = "OVERSEER_TOKEN";

/** The environment variable that tells an agent where its runner answers. */
export const SOCKET_VARIABLE = "OVERSEER_SOCKET";

/** The one that tells what the runner starts for its agent which of the agent's requests it carries out. */
export const REQUEST_VARIABLE = "OVERSEER_REQUEST";

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

/** What only a holder of the secret can write under this text. */
export function signWith(token: string, text: string): string {
  return new Bun.CryptoHasher("sha256", token).update(text).digest("hex");
}

export function isSignedWith(token: string, text: string, signature: string): boolean {
  return isSameSecret(signature, signWith(token, text));
}
