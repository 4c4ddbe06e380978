/**
 * What can be asked at an attempt's socket: `POST /<route>/<attempt>/<rest>`. A route says who may ask, how much at once,
 * and what somebody hears who may not, because that differs: recording lets pass, the permit refuses, a verb explains.
 */

/** Why a request was not answered by its route. */
export type Unanswered =
  /** It did not show the secret. */
  | "not-the-agent"
  /** It names another attempt. */
  | "other-attempt"
  | "too-big"
  /** What it had to say did not arrive in time. */
  | "too-slow"
  | "too-many"
  /** The route itself failed. */
  | "failed";

export interface SocketCall {
  /** What stands behind the attempt's number in the path. */
  readonly rest: readonly string[];
  readonly headers: Headers;
  readonly body: string;
  /** Aborted when whoever asked has gone away. */
  readonly gone: AbortSignal;
  /** The answer may take as long as it likes; without this, one that is silent for long is cut off. */
  takeTime(): void;
}

export interface SocketRoute {
  /** `unix`: for our own programs only, never by the loopback port. */
  readonly way: "any" | "unix";
  readonly maxBytes: number;
  /** This many are answered at once; the next ones wait, up to a bound. */
  readonly atOnce: number;
  /** The hash of what has to be shown as `authorization: Bearer …`; null where the path itself is the secret. */
  readonly secretHash: string | null;
  /** May reject: then `refuse("failed")` is the answer. */
  answer(call: SocketCall): Promise<Response>;
  /** `claimed` is the number it named in the path. */
  refuse(why: Unanswered, claimed: string): Response;
}

export type AttemptRoutes = Readonly<Record<string, SocketRoute>>;
