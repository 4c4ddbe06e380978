/**
 * Entry of the daemon's bundle: `daemon --root <project> --instance <id> [--no-supervision] [--watching <ms>] [--auto [--auto-flags <json>]]`, as `overseer up` starts it.
 * The program behind it is daemon/main.ts.
 */
import { parseAutoFlags } from "#domain/health/daemon-life.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { forgetCompiler } from "#sys/plain-compiler.ts";
import { findRoot } from "#sys/root.ts";
import { redact } from "#telemetry/redact.ts";
import { version } from "../package.json" with { type: "json" };
import { daemonIn } from "./wiring.ts";

function wordAfter(name: string): string | undefined {
  const at = Bun.argv.indexOf(name);
  return at < 0 ? undefined : Bun.argv[at + 1];
}

async function main(): Promise<void> {
  const { env } = process;
  forgetCompiler(env);
  const root = await findRoot({ cwd: process.cwd(), flag: wordAfter("--root"), env: env as Record<string, string> });
  const supervision = !Bun.argv.includes("--no-supervision");
  const everyMs = Number(wordAfter("--watching") ?? 0);
  const auto = Bun.argv.includes("--auto");
  const instance = wordAfter("--instance");
  const flags = parseAutoFlags(JSON.parse(wordAfter("--auto-flags") ?? "{}"));
  await daemonIn(root, env, {
    ...{ version, supervision, auto, flags },
    ...(everyMs > 0 ? { watching: { everyMs } } : {}),
    ...(instance === undefined ? {} : { instance }),
  });
}

void main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`daemon: ${redact(messageOf(error))}`); // into logs/daemon.out
    process.exit(error instanceof OverseerError ? error.exitCode : 1);
  },
);
