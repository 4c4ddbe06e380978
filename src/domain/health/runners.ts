/** What `doctor` makes of the runners of living agents: one that is there and answers nothing looks like an idle one. */
import type { Finding } from "./checkup.ts";

export interface RunnerFacts {
  readonly agent: string;
  /** Its name and number. */
  readonly label: string;
  readonly pid: number;
  /** It said something at the attempt's socket. */
  readonly answers: boolean;
  /** Reports and questions of its agent that it has not taken. */
  readonly kept: number;
}

export function judgeRunners(runners: readonly RunnerFacts[]): Finding {
  const silent = runners.filter(({ answers }) => !answers);
  const waiting = runners.flatMap(({ label, kept }) => (kept > 0 ? [`${label} has ${countKept(kept)}`] : []));
  const check = "runners";
  const [first] = silent;
  if (first) {
    const names = silent.map(({ label, pid }) => `${label} (process ${pid})`).join(", ");
    const detail = [`at its socket nothing answers: ${names}`, ...waiting].join("; ");
    const next = `It may be frozen: 'kill -CONT ${first.pid}' lets it continue, and it takes what is kept. Else 'overseer restart ${first.agent}' ends it and continues in the same session.`;
    return { check, ok: false, detail, next };
  }
  const answering = runners.length === 0 ? "no agent is at work" : `each answers its agent (${runners.length})`;
  return { check, ok: true, detail: [answering, ...waiting].join("; ") };
}

function countKept(kept: number): string {
  return `${kept} kept ${kept === 1 ? "report that waits" : "reports that wait"} for it`;
}
