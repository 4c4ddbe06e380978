/** A CLI that is driven by its structured protocol: lines in, lines out, every one of them read (RUN-1). */
import type { Launch, Reader, Runtime } from "#runtimes/runtime.ts";
import type { Clock } from "#sys/clock.ts";
import type { Processes } from "#sys/processes.ts";
import { startChild } from "./child.ts";
import type { Leg, LegEars } from "./leg.ts";
import { newTurnState } from "./leg.ts";

export interface DrivenParts {
  readonly runtime: Runtime;
  readonly processes: Processes;
  readonly clock: Clock;
}

export function startDriven(parts: DrivenParts, launch: Launch, reader: Reader, ears: LegEars): Leg {
  const { runtime, clock } = parts;
  const turn = newTurnState(clock.now());
  const child = startChild(launch, parts.processes, {
    line(text) {
      for (const signal of reader.read(text, clock.now())) {
        ears.signal(signal);
        if (signal.kind === "tool.ended") ears.callEnded(signal.source, signal.data);
        if (signal.kind === "turn.started") {
          turn.inTurn = true;
          turn.turnSince = signal.at;
          turn.interruptedAt = null;
          ears.turnStarted();
        }
        if (signal.kind === "turn.ended") {
          turn.inTurn = false;
          turn.idleSince = signal.at;
          ears.turnEnded();
        }
      }
    },
    error: (text) => ears.errorLine(text),
  });
  return {
    process: child.identity,
    exited: child.exited,
    turn,
    asked: false,
    exit: null,
    async give(message) {
      if (!turn.inTurn) {
        // Given in the middle of a turn, a message does not make that turn any younger.
        turn.inTurn = true;
        turn.turnSince = clock.now();
      }
      return child.write(runtime.render(message));
    },
    async wake() {}, // a message on the pipe is a turn already
    async interrupt() {
      await child.write(runtime.interrupt(`i-${clock.now()}`));
    },
    close: () => child.closeInput(),
    async look() {},
  };
}
