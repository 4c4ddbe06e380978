/**
 * The attempt's socket: where the runner answers its agent. One handler at two doors: a Unix socket for our own programs,
 * and a port of the loopback for CLIs that can only speak HTTP, opened only where one is wanted. Who may not ask is told
 * so before anything of what it says is read. Nothing here blocks the runner: everything waits in promises, and everything
 * that waits is bounded in number, size and time.
 */
import { chmodSync, rmSync } from "node:fs";
import { messageOf } from "#errors.ts";
import { hashOfToken } from "#sys/attempt-token.ts";
import { isSameSecret } from "#sys/same-secret.ts";
import { readBody } from "./body.ts";
import { Gate } from "./gate.ts";
import type { AttemptRoutes, SocketRoute, Unanswered } from "./routes.ts";

/** A connection to the port on which nothing moves is closed after this many seconds. */
const IDLE_SECONDS = 30;
/** All of a request is here by then, or it is given up. */
const BODY_MS = 10_000;
/** How many may wait for their turn at one route. */
const MOST_WAITING = 512;
/** No route takes more; the server itself reads a little further, so that the route can say no in its own words. */
const READ_AT_MOST = 64 * 1024 * 1024;

export interface AttemptSocketOptions {
  readonly attempt: number;
  /** Where the Unix socket lies. */
  readonly path: string;
  readonly routes: AttemptRoutes;
  /** Also by a port of the loopback. */
  readonly loopback: boolean;
  /** Somebody asked who may not. Called for each; whoever is told counts for itself. */
  readonly noteRefused?: (route: string, why: Unanswered) => void;
  /** A route failed. */
  readonly problem?: (text: string) => void;
  readonly bodyMs?: number;
}

export interface AttemptSocket {
  /** `http://127.0.0.1:<port>`, without a slash at the end; null where no port is open. */
  readonly url: string | null;
  stop(): Promise<void>;
}

type Door = "unix" | "loopback";

export function openAttemptSocket(options: AttemptSocketOptions): AttemptSocket {
  const gates = new Map<string, Gate>();
  for (const [name, { atOnce }] of Object.entries(options.routes)) gates.set(name, new Gate(atOnce, MOST_WAITING));
  const handle = (door: Door) => (request: Request, server: Bun.Server<undefined>) =>
    answerAt(door, request, server, options, gates);
  const common = {
    maxRequestBodySize: READ_AT_MOST,
    development: false,
    error: serverError,
  } as const;
  // Left by a runner that was killed; the number is this attempt's alone, so it is nobody else's.
  rmSync(options.path, { force: true });
  // Bun cuts a Unix socket's connection after ten seconds, whatever is written to it meanwhile and whatever
  // server.timeout says; only 0 ends that, which its types do not know. Only this user can hold such a connection open.
  const own = { ...common, unix: options.path, idleTimeout: 0, fetch: handle("unix") };
  const unix = Bun.serve(own as Omit<typeof own, "idleTimeout">);
  chmodSync(options.path, 0o600);
  const port = options.loopback
    ? Bun.serve({ ...common, hostname: "127.0.0.1", port: 0, idleTimeout: IDLE_SECONDS, fetch: handle("loopback") })
    : undefined;
  return {
    url: port ? `http://127.0.0.1:${port.port}` : null,
    async stop() {
      await Promise.all([unix.stop(true), port?.stop(true)]);
      rmSync(options.path, { force: true });
    },
  };
}

async function answerAt(
  door: Door,
  request: Request,
  server: Bun.Server<undefined>,
  options: AttemptSocketOptions,
  gates: ReadonlyMap<string, Gate>,
): Promise<Response> {
  const [name = "", attempt = "", ...rest] = new URL(request.url).pathname.slice(1).split("/");
  const route = Object.hasOwn(options.routes, name) ? options.routes[name] : undefined;
  const gate = gates.get(name);
  if (!route || !gate || (route.way === "unix" && door !== "unix")) return new Response(null, { status: 404 });
  if (request.method !== "POST") return new Response(null, { status: 405 });
  const refuse = (why: Unanswered): Response => {
    options.noteRefused?.(name, why);
    return route.refuse(why, attempt);
  };
  if (attempt !== String(options.attempt)) return refuse("other-attempt");
  if (!isKnown(route, request.headers)) return refuse("not-the-agent");
  const leave = await gate.enter();
  if (!leave) return refuse("too-many");
  try {
    const body = await readBody(request, route.maxBytes, options.bodyMs ?? BODY_MS);
    if (typeof body !== "string") return refuse(body.because);
    const { headers, signal: gone } = request;
    return await route.answer({ rest, headers, body, gone, takeTime: () => server.timeout(request, 0) });
  } catch (error) {
    options.problem?.(`/${name} failed: ${messageOf(error)}`);
    return route.refuse("failed", attempt);
  } finally {
    leave();
  }
}

function isKnown(route: SocketRoute, headers: Headers): boolean {
  if (route.secretHash === null) return true;
  const [, shown] = /^Bearer (\S{1,200})$/.exec(headers.get("authorization") ?? "") ?? [];
  return shown !== undefined && isSameSecret(hashOfToken(shown), route.secretHash);
}

/** Only what is wrong before a route is known comes here. Nothing of it is told: whoever reads it may be anybody. */
function serverError(): Response {
  return new Response(null, { status: 500 });
}
