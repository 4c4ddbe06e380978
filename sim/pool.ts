/**
 * The pool of a simulated auto mode: a tracker of the user's, outside of Overseer. Its command hands out numbered tasks, each
 * once, and forgets what it gave away; it says that there is none, gives a task again, fails or hangs as the faults say. What
 * is played is the wrapper of act/auto/task-command.ts as a process of its own: it writes into the directory of its asking and
 * outlives whoever asked. Beside it, a directory into which people put files. It keeps what is true of both.
 */
import { taskKey } from "#domain/auto/take-task.ts";
import { textHash } from "#domain/core/derived-id.ts";
import type { ExecOptions, ExecResult } from "#sys/exec.ts";
import type { ProcessIdentity } from "#sys/processes.ts";
import type { Machine } from "./machine.ts";

/** What one course has of it. */
export interface PoolPlan {
  readonly workers: number;
  /** How many tasks the command gives away, and how many files people put into the directory; null: no such source. */
  readonly command: number | null;
  readonly directory: number | null;
  /** A worker that a person has set up, beside those of auto mode. */
  readonly standing: string | null;
  /** A command runs after each landing, and holds the target where it fails. */
  readonly postAccept: boolean;
}

export const TASK_DIRECTORY = "/overseer-simulation/tasks";

/** What it gave away, or what lies in the directory. */
export interface GivenTask {
  /** In answer to which asking. */
  readonly pull: string;
  readonly key: string;
}

interface Asking {
  readonly pull: string;
  readonly dir: string;
  readonly process: ProcessIdentity;
  /** By the clock that never jumps; null: it never ends. */
  dueAt: number | null;
}

const MARK = "OVERSEER_PULL";
const SECOND = 1_000;
const ENDED_WELL: ExecResult = { code: 0, signal: null, stdout: "", stderr: "", timedOut: false, truncated: false };

export class VirtualPool {
  readonly given: GivenTask[] = [];
  /** It says that it has none up to this step. */
  emptyUntil = -1;
  /** So many of the next answers are tasks that it gave away before. */
  repeats = 0;
  /** How the next asking fails; null where it does not. */
  failing: "exit" | "hang" | null = null;
  /** Told of each asking before it is answered. */
  onAsk: (pull: string) => void = () => {};
  private readonly texts: string[] = [];
  private readonly askings: Asking[] = [];
  private readonly lying = new Map<string, string>();
  private readonly away = new Map<string, string>();
  private asked = 0;
  private next = 0;

  constructor(
    private readonly machine: Machine,
    private readonly plan: PoolPlan,
    private readonly step: () => number,
  ) {}

  /** The wrapper, run by a process that may die meanwhile. */
  async run(argv: readonly string[], options: ExecOptions | undefined, isDead: () => boolean): Promise<ExecResult> {
    const { clock, processes } = this.machine;
    const [dir = "", pull = ""] = [argv[5], options?.env?.[MARK]];
    this.onAsk(pull);
    const process = processes.start({ command: "sh", env: { [MARK]: pull } });
    this.asked += 1;
    // Most answer at once, some think for a while.
    const takesMs = this.asked % 5 === 4 ? 20 * SECOND : 0;
    const asking: Asking = { pull, dir, process, dueAt: clock.monotonic() + takesMs };
    if (this.failing === "hang") {
      this.failing = null;
      asking.dueAt = null;
    }
    this.askings.push(asking);
    const until = clock.monotonic() + (options?.timeoutMs ?? 60 * SECOND);
    await this.attend();
    while (processes.alive(process) && !isDead()) {
      await this.machine.pass(SECOND);
      if (clock.monotonic() >= until && processes.alive(process)) {
        processes.end(process);
        return { ...ENDED_WELL, code: null, timedOut: true };
      }
    }
    // Whoever asked is gone, and it takes longer than they need to come back.
    if (processes.alive(process) && asking.dueAt !== null) asking.dueAt = clock.monotonic() + 62 * SECOND;
    return ENDED_WELL;
  }

  /** Those whose time has come print what they have. */
  async attend(): Promise<void> {
    const now = this.machine.clock.monotonic();
    for (const asking of this.askings.splice(0)) {
      if (!this.machine.processes.alive(asking.process)) continue;
      if (asking.dueAt === null || asking.dueAt > now) this.askings.push(asking);
      else await this.answer(asking);
    }
  }

  private async answer({ pull, dir, process }: Asking): Promise<void> {
    const { files, processes } = this.machine;
    const { code, text } = this.draw();
    await files.write(`${dir}/stdout`, text === "" ? "" : `${text}\n`);
    await files.write(`${dir}/stderr`, code === 1 ? "The tracker is away.\n" : "");
    await files.write(`${dir}/code`, String(code));
    await files.write(`${dir}/end`, "");
    if (text !== "") this.given.push({ pull, key: taskKey(text) });
    processes.end(process);
  }

  private draw(): { readonly code: number; readonly text: string } {
    if (this.failing === "exit") {
      this.failing = null;
      return { code: 1, text: "" };
    }
    if (this.step() < this.emptyUntil) return this.sayNone();
    const again = this.repeats > 0 ? this.texts[(this.asked * 7) % Math.max(1, this.texts.length)] : undefined;
    if (again !== undefined) {
      this.repeats -= 1;
      return { code: 0, text: again };
    }
    if (this.next >= (this.plan.command ?? 0)) return this.sayNone();
    this.next += 1;
    const text = `Do task ${this.next} of the pool.`;
    this.texts.push(text);
    return { code: 0, text };
  }

  private sayNone() {
    return { code: this.asked % 2 === 0 ? 4 : 0, text: "" };
  }

  /** People put their files there one after the other; they change one, and take one away for a while. */
  async putFiles(step: number): Promise<void> {
    const { directory } = this.plan;
    if (directory === null) return;
    if (step === 0) await this.machine.files.makeDir(TASK_DIRECTORY);
    if (step % 6 === 0 && step / 6 < directory) await this.put(`${step / 6}.md`, `Do what file ${step / 6} says.`);
  }

  async changeFile(number: number): Promise<void> {
    const name = this.pickFile(number);
    if (name !== undefined) await this.put(name, `${this.lying.get(name)} And a little more.`);
  }

  async takeFileAway(number: number): Promise<void> {
    const name = this.pickFile(number);
    if (name === undefined) return;
    this.away.set(name, this.lying.get(name) ?? "");
    this.lying.delete(name);
    await this.machine.files.remove(`${TASK_DIRECTORY}/${name}`);
  }

  async putFilesBack(): Promise<void> {
    for (const [name, text] of this.away) await this.put(name, text);
    this.away.clear();
  }

  private pickFile(number: number): string | undefined {
    return [...this.lying.keys()][number % Math.max(1, this.lying.size)];
  }

  private async put(name: string, text: string): Promise<void> {
    this.lying.set(name, text);
    await this.machine.files.write(`${TASK_DIRECTORY}/${name}`, text);
  }

  /** Of every file that lies there now, what its task is known by. */
  listKeys(): string[] {
    return [...this.lying].map(([name, text]) => `${name}#${textHash(text)}`);
  }

  /** It has given away whatever it has; whether that was taken is another question. */
  isEmpty(): boolean {
    const { command, directory } = this.plan;
    return this.next >= (command ?? 0) && this.lying.size >= (directory ?? 0) && this.askings.length === 0;
  }
}
