/** Where a command's words go: stdout for answers, stderr for remarks. Colour only where a person is looking. */
import type { Presented } from "#control/present.ts";

export interface Output {
  /** One line of the answer. */
  line(text?: string): void;
  /** The answer as one JSON value, for `--json`. */
  json(value: Presented): void;
  /** A remark beside the answer (stderr), so that pipes stay clean. */
  remark(text: string): void;
  /** The sentence that says what went wrong (stderr), red where somebody looks. What to do about it is a remark. */
  problem(text: string): void;
  readonly colour: boolean;
  /** Columns to fit into; 80 where there is no terminal. */
  readonly width: number;
  /** Has this process the terminal, to draw on and to ask at? */
  readonly interactive: boolean;
  /** Are lines read on a terminal, where one that is too long would wrap? As `interactive` where it does not say. */
  readonly cuts?: boolean;
  /**
   * Called before an answer without an end (`--follow`): from then on `line` and `json` notice that nobody reads any
   * more (`| head`) and end the command quietly, where it would otherwise write into the void for ever.
   */
  live?(): void;
}
