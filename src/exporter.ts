/**
 * Entry of the exporter's bundle: `exporter --root <project>`, as the daemon starts it while `telemetry.otel.enabled` is on. It
 * is told the rest by one line on standard input, and ends when that ends: with the daemon, however that ends. Nobody
 * else loads the OpenTelemetry SDK.
 */

import { messageOf, OverseerError } from "#errors.ts";
import { Exporter } from "#exporter/exporter.ts";
import { makeOtlpSink } from "#exporter/otlp-sink.ts";
import { providerOf } from "#exporter/providers.ts";
import { openQuestions } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import { addressIn, openForReading, takeLockAt, watchStore } from "#store/open.ts";
import { systemClock } from "#sys/clock.ts";
import { systemFiles } from "#sys/files.ts";
import { forgetCompiler } from "#sys/plain-compiler.ts";
import { systemProcesses } from "#sys/processes.ts";
import { findRoot } from "#sys/root.ts";
import { runFiles } from "#sys/run-files.ts";
import { redact } from "#telemetry/redact.ts";
import { version } from "../package.json" with { type: "json" };

/** What it may still take once it was told to end. */
const LAST_MS = 4_000;

async function main(): Promise<void> {
  const { env } = process;
  forgetCompiler(env);
  const flag = Bun.argv[Bun.argv.indexOf("--root") + 1];
  const root = await findRoot({ cwd: process.cwd(), flag, env: env as Record<string, string> });
  const files = runFiles(root.state);
  const lock = takeLockAt(files.exporterLock);
  if (!lock) throw new OverseerError("conflict", "EXPORTER_RUNS", "Another exporter runs here.", "Wait for its end.");
  const stop = new AbortController();
  const { endpoint, project } = await readOrder(stop);
  process.on("SIGTERM", () => stop.abort());
  process.on("SIGINT", () => undefined); // whoever pressed it means the daemon, which tells us
  // Whatever the other side does, the daemon's end is ours.
  stop.signal.addEventListener("abort", () => setTimeout(() => process.exit(0), LAST_MS));
  const database = addressIn(root.state);
  const store = await openForReading({ address: database, backupDir: `${root.gitCommonDir}/overseer/backups` });
  const gauges = async () => {
    const { living, open } = await store.read({ living: livingAttempts(), open: openQuestions() });
    return { "overseer.agents": living.length, "overseer.questions": open.length };
  };
  const sink = makeOtlpSink({ endpoint, version, project, gauges }, env);
  const exporter = new Exporter({
    ...{ store, database, clock: systemClock(), files: systemFiles(), sink, path: files.exporter, providerOf },
    self: systemProcesses().self(),
    endpoint: redact(withoutPassword(endpoint ?? env.OTEL_EXPORTER_OTLP_ENDPOINT ?? "http://localhost:4318")),
  });
  const unwatch = watchStore(database, () => exporter.wake());
  await exporter.run(stop.signal);
  unwatch();
  await sink.close();
  lock.release();
}

interface Order {
  readonly endpoint: string | null;
  readonly project: string;
}

/** The first line; afterwards only the end of the input is of interest. */
async function readOrder(stop: AbortController): Promise<Order> {
  const { promise, resolve, reject } = Promise.withResolvers<Order>();
  let text = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (piece: string) => {
    if (text.includes("\n")) return;
    text += piece;
    if (!text.includes("\n")) return;
    try {
      resolve(JSON.parse(text.slice(0, text.indexOf("\n"))) as Order);
    } catch (error) {
      reject(error);
    }
  });
  process.stdin.on("end", () => {
    stop.abort();
    reject(new Error("It was not told where to send to."));
  });
  return promise;
}

function withoutPassword(address: string): string {
  const url = URL.parse(address);
  if (url === null) return address;
  [url.username, url.password] = ["", ""];
  return url.href.replace(/\/$/, "");
}

void main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`exporter: ${redact(messageOf(error))}`); // into logs/exporter.out
    process.exit(error instanceof OverseerError ? error.exitCode : 1);
  },
);
