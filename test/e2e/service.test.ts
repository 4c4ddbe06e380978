/**
 * `overseer service` with real files: the unit is one that systemd itself accepts, wherever the repository lies; what we did not
 * write is left alone, and what is in the way is said. systemctl is one that only notes what it is asked: the machine of
 * whoever runs this has services of its own.
 */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { installService, planService, readService, removeService } from "#control/service.ts";
import { planUninstall, uninstall } from "#control/upkeep/uninstall.ts";
import type { World } from "#control/world.ts";
import { bundled, OVERSEER, overseer } from "../support/cli.ts";
import { worldAt } from "../support/real-world.ts";
import { tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);
beforeAll(bundled);

interface Desk {
  readonly world: World;
  readonly home: string;
  readonly units: string;
  /** What systemctl was asked. */
  asked(): string[];
}

/** A repository of somebody with a home of their own and a systemctl that answers with that code. */
async function makeDesk(options: { name?: string; code?: number; env?: Record<string, string> } = {}): Promise<Desk> {
  const home = tempDir("home-");
  const repo = tempRepo({ at: join(tempDir("srv-"), options.name ?? "shop") });
  const [bin, log] = [join(home, "bin"), join(home, "asked")];
  mkdirSync(bin);
  writeFileSync(join(bin, "systemctl"), `#!/bin/sh\necho "$*" >> '${log}'\necho active\nexit ${options.code ?? 1}\n`);
  chmodSync(join(bin, "systemctl"), 0o755);
  const env = { HOME: home, PATH: `${bin}:${process.env.PATH}`, ...options.env };
  const world = await worldAt(repo.path, { env });
  const asked = () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);
  return { world, home, units: join(home, ".config/systemd/user"), asked };
}

const order = { manager: "systemd", program: OVERSEER, words: ["--auto"] } as const;

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: { code?: string }) => error.code,
  );

describe("GUARD-1: systemd accepts the unit", () => {
  const missing = Bun.which("systemd-analyze") === null ? " (systemd-analyze is not on this machine)" : "";
  const verify = (path: string) => {
    const { exitCode, stderr } = Bun.spawnSync(["systemd-analyze", "--user", "--man=no", "verify", path], {
      env: { ...process.env, XDG_RUNTIME_DIR: tempDir("run-") },
      ...{ stdout: "pipe", stderr: "pipe" },
    });
    return { exitCode, stderr: stderr.toString() };
  };

  test.skipIf(missing !== "")(`of a repository and a program wherever they lie${missing}`, async () => {
    for (const name of ["shop", 'my shop 50% "ü" $HOME 日本']) {
      const { world } = await makeDesk({ name });
      // That it finds the program proves how it reads what we quote.
      const place = join(tempDir("opt-"), "a b%n $x ü");
      mkdirSync(place);
      const program = join(place, "overseer");
      writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
      const words = ["--auto", '--task-pool-command=echo "$HOME" 100% \\n; true'];
      const { path } = await installService(world, { ...order, program, words });
      expect(verify(path)).toEqual({ exitCode: 0, stderr: "" });
      rmSync(program);
      expect(verify(path).stderr).toContain(`Command ${program} is not executable`);
    }
  });

  // Only a Mac has it, and nothing here could bring it; docs/guard.md says that this is untested elsewhere.
  if (process.platform === "darwin") {
    test("and plutil the list of launchd", async () => {
      const { world } = await makeDesk({ name: "a&b <c>" });
      const { path } = await installService(world, { ...order, manager: "launchd" });
      expect(Bun.spawnSync(["plutil", "-lint", path]).exitCode).toBe(0);
    });
  }
});

describe("GUARD-1: installed, shown and taken back", () => {
  test("where systemctl answers, it is told; said again, nothing changes", async () => {
    const { world, units, asked } = await makeDesk({ code: 0 });
    const first = await installService(world, order);
    const [unit = ""] = readdirSync(units);
    expect(first).toMatchObject({ changed: true, started: true, path: join(units, unit) });
    expect(first.next.map(({ line }) => line)).toEqual(["loginctl enable-linger"]);
    expect(asked()).toEqual(["--user daemon-reload", `--user enable --now ${unit}`]);
    expect(await installService(world, order)).toMatchObject({ changed: false });
    expect(await installService(world, { ...order, words: [] })).toMatchObject({ changed: true });
    expect(await readService(world)).toMatchObject({
      installed: true,
      words: [],
      active: true,
      root: world.root.project,
    });
    expect(await removeService(world)).toMatchObject({ path: join(units, unit), stopped: true, next: [] });
    expect(asked().slice(-2)).toEqual([`--user disable --now ${unit}`, "--user daemon-reload"]);
    expect([readdirSync(units), (await readService(world)).installed]).toEqual([[], false]);
    expect(await removeService(world)).toMatchObject({ path: null });
  });

  test.each([
    ["does not answer", {}],
    ["is not there", { env: { PATH: "/nowhere" } }],
  ])("where systemctl %s, it says what to run", async (_name, options) => {
    const { world, units } = await makeDesk(options);
    const { started, next, path } = await installService(world, order);
    expect([started, next.map(({ line }) => line.split(" ").slice(0, 3).join(" "))]).toEqual([
      false,
      ["systemctl --user daemon-reload", "systemctl --user enable", "loginctl enable-linger"],
    ]);
    // As 'systemctl enable' leaves it: taken back with the file it leads to.
    mkdirSync(join(units, "default.target.wants"));
    symlinkSync(path, join(units, "default.target.wants", path.slice(path.lastIndexOf("/") + 1)));
    expect((await removeService(world)).next.map(({ line }) => line)).toEqual(["systemctl --user daemon-reload"]);
    expect([existsSync(path), readdirSync(join(units, "default.target.wants"))]).toEqual([false, []]);
  });

  test("launchd's list, and what to run with it", async () => {
    const { world, home } = await makeDesk();
    const { path, next } = await installService(world, { ...order, manager: "launchd" });
    expect(path).toStartWith(join(home, "Library/LaunchAgents/overseer-shop-"));
    expect(next[0]?.line).toStartWith("launchctl bootstrap ");
    expect(await readService(world)).toMatchObject({ installed: true, manager: "launchd", words: ["--auto"] });
    expect(await removeService(world)).toMatchObject({ path });
  });

  test("uninstall takes it along", async () => {
    const { world } = await makeDesk();
    expect((await overseer(world.root.project, "init")).code).toBe(0);
    const { path } = await installService(world, order);
    expect(await planUninstall(world)).toMatchObject({ service: path, guard: null });
    await uninstall(world, { discard: false });
    expect(existsSync(path)).toBe(false);
  });
});

describe("GUARD-1: what is in the way is said, and left alone", () => {
  test.each<[string, (path: string) => void, string]>([
    ["a file of the person's own", (path) => writeFileSync(path, "[Unit]\nDescription=Mine\n"), "UNIT_FOREIGN"],
    ["a link", (path) => symlinkSync("/dev/null", path), "UNIT_FOREIGN"],
    ["a link to nothing", (path) => symlinkSync("/nowhere/at/all", path), "UNIT_FOREIGN"],
    ["a directory", (path) => mkdirSync(path), "UNIT_FOREIGN"],
  ])("%s", async (_name, put, code) => {
    const { world, units } = await makeDesk();
    const { path } = await planService(world, order);
    mkdirSync(units, { recursive: true });
    put(path);
    expect(await codeOf(installService(world, order))).toBe(code);
    expect(await codeOf(removeService(world))).toBe(code);
    const { installed, problem } = await readService(world);
    expect([installed, problem]).toEqual([false, expect.stringContaining("left alone")]);
    expect(readdirSync(units).length).toBe(1);
  });

  test("one that was changed since, and that of another repository", async () => {
    const { world } = await makeDesk();
    const { path } = await installService(world, order);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace("RestartSec=10", "RestartSec=99"));
    expect(await codeOf(installService(world, order))).toBe("UNIT_EDITED");
    expect(await codeOf(removeService(world))).toBe("UNIT_EDITED");
    expect((await planUninstall(world).catch(() => undefined))?.service ?? null).toBeNull();
    writeFileSync(path, text.replace(/"root":"[^"]*"/, '"root":"/another"'));
    expect(await codeOf(removeService(world))).toBe("UNIT_FOREIGN");
    expect(existsSync(path)).toBe(true);
  });

  test("no home, a directory that cannot be made, a path that no unit can hold", async () => {
    const desk = await makeDesk();
    const homeless = await worldAt(desk.world.root.project, { env: { HOME: "" } });
    expect(await codeOf(installService(homeless, order))).toBe("NO_HOME");
    expect(await codeOf(readService(homeless))).toBe("NO_HOME");
    writeFileSync(join(desk.home, ".config"), "a file\n");
    expect(await codeOf(installService(desk.world, order))).toBe("UNIT_NOT_WRITTEN");
    const { world } = await makeDesk({ name: "two\nlines" });
    expect(await codeOf(installService(world, order))).toBe("UNFIT_FOR_UNIT");
    expect(await codeOf(planService(world, order))).toBe("UNFIT_FOR_UNIT");
  });
});
