/** Where spans and measures go. What cannot be taken now is tried again; what is refused never will be taken. */
import type { Measure, TraceSpan } from "#domain/trace/span.ts";

export type ExportOutcome =
  | { readonly kind: "sent" }
  | { readonly kind: "refused" | "failed"; readonly problem: string };

export interface Sink {
  /** Ends within its own time limit, whatever the other side does; never rejects. */
  send(spans: readonly TraceSpan[]): Promise<ExportOutcome>;
  record(measures: readonly Measure[]): void;
  /** Sends what was measured for the last time. */
  close(): Promise<void>;
}
