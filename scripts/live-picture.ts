/**
 * Makes docs/live.svg, the picture of the live view in the README: a demo runs, `overseer status --watch` looks at it in a
 * real tmux, and what its screen shows when there is something to see is drawn. Run it again when the view changes:
 * `node_modules/.bin/bun scripts/live-picture.ts`. It draws what was shown and adds nothing. A path may be given instead.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { drawTerminal } from "./terminal-svg.ts";

const ROOT = join(import.meta.dir, "..");
const OVERSEER = join(ROOT, "bin/overseer");
const [COLUMNS, ROWS] = [112, 32];

const place = mkdtempSync(join(tmpdir(), "live-"));
const socket = join(place, "s");
const tmux = (...words: string[]) =>
  Bun.spawnSync(["tmux", "-S", socket, "-f", "/dev/null", ...words], { env: { ...process.env, NO_COLOR: undefined } })
    .stdout.toString()
    .trimEnd();
const demo = Bun.spawn([OVERSEER, "demo", "--headless"], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
try {
  const { repository, rest } = await findRepository(demo.stdout);
  while (demo.exitCode === null && !existsSync(join(repository, ".git/overseer/run/daemon.json"))) await Bun.sleep(50);
  // As the demo itself sees it: what is confirmed there is confirmed in its own home.
  const base = dirname(repository);
  const env = [`HOME=${join(base, "home")}`, `XDG_STATE_HOME=${join(base, "state")}`];
  const watch = ["env", ...env, OVERSEER, "status", "--watch"];
  tmux("new-session", "-d", "-x", `${COLUMNS}`, "-y", `${ROWS}`, "-c", repository, ...watch);
  let shown: string[] = [];
  let best = -1;
  // The fullest screen of the whole demo: something landed, somebody asks, most are at work.
  const ended = demo.exited.then(() => true);
  while (!(await Promise.race([ended, Bun.sleep(500).then(() => false)]))) {
    const lines = tmux("capture-pane", "-p", "-e").split("\n");
    const text = lines.join("\n");
    const worth = lines.filter((line) => line.trim() !== "").length + (text.includes("[a]") ? 20 : 0);
    if (worth > best) [best, shown] = [worth, lines];
  }
  await rest;
  if (demo.exitCode !== 0 || best < 5) throw new Error(`The demo ended with ${demo.exitCode}; nothing was to be seen.`);
  const to = Bun.argv[2] ?? join(ROOT, "docs/live.svg");
  const lines = ["$ overseer status --watch", ...shown.map((line) => line.replaceAll(repository, "~/greetings"))];
  writeFileSync(to, drawTerminal(lines, COLUMNS, "overseer status --watch, as a terminal shows it"));
  console.log(`${to}: ${lines.length} lines`);
} finally {
  tmux("kill-server");
  if (demo.exitCode === null) demo.kill();
  rmSync(place, { recursive: true, force: true });
}

/** Where the demo works, which it says first; the rest of what it says is only read to its end. */
async function findRepository(
  output: ReadableStream<Uint8Array>,
): Promise<{ readonly repository: string; readonly rest: Promise<void> }> {
  const reader = output.getReader();
  const decoder = new TextDecoder();
  let said = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The demo named no repository:\n${said}`);
    said += decoder.decode(value);
    const [, repository] = /^Repository: (\S+)/m.exec(said) ?? [];
    if (repository !== undefined) return { repository, rest: readToEnd(reader) };
  }
}

async function readToEnd(reader: { read(): Promise<{ done: boolean }> }): Promise<void> {
  while (!(await reader.read()).done);
}
