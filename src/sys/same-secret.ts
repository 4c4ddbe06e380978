/**
 * Compares what somebody showed with a secret, in a time that does not tell how much of it was right. Not by node:crypto:
 * loading that is a fifth of a runner's start, for this one function.
 */
export function isSameSecret(shown: string, secret: string): boolean {
  let difference = shown.length ^ secret.length;
  for (let at = 0; at < shown.length; at += 1) difference |= shown.charCodeAt(at) ^ (secret.charCodeAt(at) || 0);
  return difference === 0;
}
