/** What a runner works with. */
import type { TakenUpdate } from "#act/updates/take-update.ts";
import type { AttemptSeals } from "#domain/model/attempt.ts";
import type { ReflexFile } from "#domain/signals/reflex-file.ts";
import type { GitTools } from "#git/git.ts";
import type { Runtime, Screen } from "#runtimes/runtime.ts";
import type { SignalLog } from "#store/signal-log.ts";
import type { Store } from "#store/store.ts";
import type { Clock } from "#sys/clock.ts";
import type { Ids } from "#sys/ids.ts";
import type { Processes } from "#sys/processes.ts";
import type { Terminal } from "#terminals/terminal.ts";
import type { CheckoutWatch } from "./checkout-watch.ts";
import type { SessionLogs } from "./logs.ts";
import type { PermitEar } from "./permit-ear.ts";

export interface RunnerParts {
  readonly store: Pick<Store, "commit" | "read" | "changeMark">;
  readonly signals: Pick<SignalLog, "record" | "close">;
  readonly runtime: Runtime;
  readonly logs: SessionLogs;
  readonly tools: GitTools;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly processes: Processes;
  /** The store is under suspicion: nothing is handed over until a person says go. */
  readonly isSafeMode: () => boolean;
  readonly checkout: CheckoutWatch;
  readonly permit: PermitEar;
  /** Present for an agent on its own screen: its turns and tool calls are told by its hooks, not by a stream. */
  readonly onScreen: OnScreen | null;
  /** What its reflex goes by; null for an agent without a role. */
  readonly reflex: ReflexFile | null;
  /** What the agent's last words report, written down. */
  readonly takeUpdate: (attempt: number, text: string) => Promise<TakenUpdate>;
  /** Takes what the agent reported while nobody answered; what happened, as sentences. */
  readonly foldKept: () => Promise<readonly string[]>;
  /** Of the files that this runner was started with, as it read them. */
  readonly launchHash: string;
  /** Answers the agent's commands; null where an older version prepared the attempt. */
  readonly verbs: { readonly seals: AttemptSeals; close(): Promise<void> } | null;
  /** Asks for a tick now; without a daemon it does nothing. */
  readonly wakeDaemon: (reason: string) => void;
  /** Shows a line to whoever looks; a lost terminal makes it do nothing. */
  readonly show: (line: string) => void;
}

export interface OnScreen {
  readonly screen: Screen;
  readonly terminal: Terminal;
}
