/**
 * What running a program promises. The first suite is what a scripted table can play too; the second needs real
 * processes: deadlines, groups, floods, and pipes that somebody else keeps open.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { OverseerError } from "#errors.ts";
import { makeScriptedExec } from "#sim/virtual-exec.ts";
import { type Exec, systemExec } from "#sys/exec.ts";
import { type ProcessIdentity, systemProcesses } from "#sys/processes.ts";
import { tempDir } from "../support/temp.ts";

const scripted = makeScriptedExec([
  { when: ["sh", "-c", "echo out; echo err >&2; exit 3"], answer: { code: 3, stdout: "out\n", stderr: "err\n" } },
  { when: ["sh", "-c", "kill -9 $$"], answer: { signal: "SIGKILL" } },
  { when: ["cat"], answer: (_argv, { stdin }) => ({ stdout: String(stdin ?? "") }) },
  { when: ([program]) => program === "true", answer: {} },
]);

const codeOf = (result: Promise<unknown>) =>
  result.then(
    () => "no error",
    (error: unknown) => (error instanceof OverseerError ? `${error.kind}/${error.code}` : String(error)),
  );

const subjects: { name: string; exec: Exec }[] = [
  { name: "system", exec: systemExec() },
  { name: "scripted", exec: scripted },
];

describe.each(subjects)("exec: $name", ({ exec }) => {
  test("a failing exit is a value, with both streams apart", async () => {
    const result = await exec.run(["sh", "-c", "echo out; echo err >&2; exit 3"]);
    expect(result).toEqual({
      code: 3,
      signal: null,
      stdout: "out\n",
      stderr: "err\n",
      timedOut: false,
      truncated: false,
    });
  });

  test("an end by signal has no exit code", async () => {
    expect(await exec.run(["sh", "-c", "kill -9 $$"])).toMatchObject({
      code: null,
      signal: "SIGKILL",
      timedOut: false,
    });
  });

  test("what is given to stdin arrives, and nothing given is an empty stdin", async () => {
    expect((await exec.run(["cat"], { stdin: "Grüße\n日本" })).stdout).toBe("Grüße\n日本");
    expect((await exec.run(["cat"])).stdout).toBe("");
  });

  test("success without output is code 0 and empty text", async () => {
    expect(await exec.run(["true"])).toEqual({
      code: 0,
      signal: null,
      stdout: "",
      stderr: "",
      timedOut: false,
      truncated: false,
    });
  });

  test("a program that does not exist rejects with the next step", async () => {
    expect(await codeOf(exec.run(["overseer-no-such-program"]))).toBe("environment/PROGRAM_MISSING");
    expect(await codeOf(exec.run([]))).toBe("environment/PROGRAM_MISSING");
  });
});

describe("real programs", () => {
  const exec = systemExec();
  const processes = systemProcesses();
  const started: ProcessIdentity[] = [];
  afterEach(() => {
    for (const each of started.splice(0)) processes.signal(each, "SIGKILL");
  });

  /** The pids a script printed, one per line, as identities; they are ended after the test if they still run. */
  const printed = (text: string): ProcessIdentity[] => {
    const found = text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => processes.identify(Number(line)))
      .filter((each) => each !== undefined);
    started.push(...found);
    return found;
  };

  test("arguments arrive as they are: blanks, quotes, wildcards, newlines, nothing", async () => {
    const words = ["a b", "'\"", "*", "$HOME", "two\nlines", "", "ü"];
    const result = await exec.run(["sh", "-c", 'for word in "$@"; do printf "[%s]" "$word"; done', "sh", ...words]);
    expect(result.stdout).toBe(words.map((word) => `[${word}]`).join(""));
  });

  test("the environment given is the whole environment, and its PATH finds the program", async () => {
    expect(
      (await exec.run(["env"], { env: { PATH: "/usr/bin:/bin", ONLY: "this" } })).stdout.split("\n").sort(),
    ).toEqual(["", "ONLY=this", "PATH=/usr/bin:/bin"]);
    expect(await codeOf(exec.run(["env"], { env: { PATH: "/nowhere" } }))).toBe("environment/PROGRAM_MISSING");
  });

  test("without one, it is this process's environment as it is now", async () => {
    process.env.SET_LATER = "yes";
    const { stdout } = await exec.run(["sh", "-c", 'printf %s "$SET_LATER"']);
    delete process.env.SET_LATER;
    expect(stdout).toBe("yes");
  });

  test("it runs in the directory given; one that is gone, or is a file, is named as such", async () => {
    const home = tempDir("exec mit Leerzeichen ü-");
    await Bun.write(`${home}/file`, "");
    expect((await exec.run(["pwd"], { cwd: home })).stdout).toBe(`${home}\n`);
    expect(await codeOf(exec.run(["pwd"], { cwd: `${home}/gone` }))).toBe("environment/CWD_MISSING");
    expect(await codeOf(exec.run(["pwd"], { cwd: `${home}/file` }))).toBe("environment/CWD_MISSING");
    expect(await codeOf(exec.run([`${home}/file`]))).toBe("environment/PROGRAM_MISSING");
    expect(await codeOf(exec.run([`${home}/gone`]))).toBe("environment/PROGRAM_MISSING");
  });

  test("a command line too long for the kernel is refused as a matter of the environment", async () => {
    expect(await codeOf(exec.run(["echo", "x".repeat(8_000_000)]))).toBe("environment/SPAWN_FAILED");
  });

  test("a child that does not read its stdin is no error", async () => {
    const result = await exec.run(["true"], { stdin: new Uint8Array(4_000_000) });
    expect(result).toMatchObject({ code: 0, timedOut: false });
  });

  test("output of megabytes comes whole, through both streams at once", async () => {
    const script = "head -c 3000000 /dev/zero | tr '\\0' a; head -c 2000000 /dev/zero | tr '\\0' b >&2";
    const result = await exec.run(["sh", "-c", script]);
    expect([result.stdout.length, result.stderr.length, result.truncated]).toEqual([3_000_000, 2_000_000, false]);
  });

  test("a flood is cut at the cap, told, and does not block the child", async () => {
    const result = await exec.run(["sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' a; exit 5"], { maxBytes: 1_000 });
    expect([result.code, result.stdout, result.truncated]).toEqual([5, "a".repeat(1_000), true]);
    expect((await exec.run(["printf", "abc"], { maxBytes: 3 })).truncated).toBe(false);
  });

  test("PROC-1: a deadline ends the whole group, not the child alone", async () => {
    const result = await exec.run(["sh", "-c", "sleep 600 & echo $!; echo $$; wait"], { timeoutMs: 200 });
    expect(result).toMatchObject({ code: null, signal: "SIGTERM", timedOut: true });
    expect(result.stdout.trim().split("\n")).toHaveLength(2);
    expect(printed(result.stdout).filter((each) => processes.alive(each))).toEqual([]);
  });

  test("PROC-1: whoever waits may end it sooner, the whole group, and that is no timeout", async () => {
    const stop = new AbortController();
    const running = exec.run(["sh", "-c", "sleep 600 & echo $!; echo $$; wait"], { signal: stop.signal });
    setTimeout(() => stop.abort(), 200);
    const result = await running;
    expect(result).toMatchObject({ code: null, signal: "SIGTERM", timedOut: false });
    expect(printed(result.stdout).filter((each) => processes.alive(each))).toEqual([]);
    const late = await exec.run(["sleep", "600"], { signal: stop.signal });
    expect(late).toMatchObject({ code: null, timedOut: false });
  });

  test("PROC-1: what ignores the request to end is ended", async () => {
    const script = "trap '' TERM; sleep 600 & echo $!; echo $$; wait; wait; sleep 600";
    const result = await exec.run(["sh", "-c", script], { timeoutMs: 200 });
    expect(result).toMatchObject({ code: null, signal: "SIGKILL", timedOut: true });
    // The kernel takes a moment between the signal and the last breath of a process that is not our child.
    const left = printed(result.stdout);
    for (let tries = 0; tries < 100 && left.some((each) => processes.alive(each)); tries += 1) await Bun.sleep(10);
    expect(left.filter((each) => processes.alive(each))).toEqual([]);
  });

  test("a child that uses the grace to finish its work is still a timeout, with its own exit code", async () => {
    const script = "trap 'echo saved; exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    expect(await exec.run(["sh", "-c", script], { timeoutMs: 300 })).toMatchObject({
      code: 9,
      signal: null,
      stdout: "ready\nsaved\n",
      timedOut: true,
    });
  });

  test("a grandchild that keeps the pipes open does not keep us waiting, and is left alone", async () => {
    const result = await exec.run(["sh", "-c", "sleep 600 & echo $!"]);
    expect(result).toMatchObject({ code: 0, timedOut: false });
    expect(printed(result.stdout).map((each) => processes.alive(each))).toEqual([true]);
  });

  test("the child leads a group and a session of its own", async () => {
    const { stdout } = await exec.run(["sh", "-c", "echo $$; ps -o pid=,pgid=,sid= -p $$"]);
    const [pid, row] = stdout.trim().split("\n");
    expect(row?.trim().split(/\s+/)).toEqual([pid, pid, pid].map(String));
  });
});

describe("the scripted table", () => {
  test("every call is kept, those without an answer too, and the first row that matches answers", async () => {
    const exec = makeScriptedExec([
      { when: ["git", "status"], answer: { stdout: "first" } },
      { when: ["git"], answer: { stdout: "second" } },
    ]);
    expect((await exec.run(["git", "status", "--short"], { cwd: "/repo" })).stdout).toBe("first");
    expect((await exec.run(["git", "log"])).stdout).toBe("second");
    expect(await codeOf(exec.run(["tmux"]))).toBe("environment/PROGRAM_MISSING");
    expect(exec.calls).toEqual([
      { argv: ["git", "status", "--short"], options: { cwd: "/repo" } },
      { argv: ["git", "log"], options: {} },
      { argv: ["tmux"], options: {} },
    ]);
  });

  test("a row can play a deadline", async () => {
    const exec = makeScriptedExec([{ when: [], answer: { timedOut: true, signal: "SIGTERM" } }]);
    expect(await exec.run(["anything"])).toMatchObject({ timedOut: true, signal: "SIGTERM", code: null });
  });
});

describe("a flood", () => {
  const flood = "echo first; yes | head -c 300000; echo last";
  test("keeps its start, or both ends with a word about what is missing", async () => {
    const start = await systemExec().run(["sh", "-c", flood], { maxBytes: 1000 });
    expect([start.stdout.length, start.truncated, start.stdout.startsWith("first")]).toEqual([1000, true, true]);
    const ends = await systemExec().run(["sh", "-c", flood], { maxBytes: 1000, keep: "ends" });
    expect(ends.truncated).toBe(true);
    expect(ends.stdout).toStartWith("first\ny\n");
    expect(ends.stdout).toMatch(/\n\[… \d+ bytes left out\]\n/);
    expect(ends.stdout).toEndWith("y\nlast\n");
  });

  test("of what fits nothing is lost, whichever end is kept", async () => {
    const whole = await systemExec().run(["sh", "-c", "seq 1 200"], { keep: "ends", maxBytes: 1000 });
    expect(whole).toMatchObject({
      truncated: false,
      stdout: `${Array.from({ length: 200 }, (_, n) => n + 1).join("\n")}\n`,
    });
  });

  test("of a process left behind does not keep us for ever", async () => {
    const command = "(setsid sh -c 'while :; do echo again || exit; sleep 0.02; done' &); echo gone";
    const result = await systemExec().run(["sh", "-c", command], { timeoutMs: 60_000, maxBytes: 10_000 });
    expect(result).toMatchObject({ code: 0, timedOut: false });
    expect(result.stdout).toContain("gone");
  }, 30_000);
});
