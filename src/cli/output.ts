/** Where a command's words go: stdout for answers, stderr for remarks. Colour only where a person is looking. */
export interface Output {
  /** One line of the answer. */
  line(text?: string): void;
  /** The answer as one JSON value, for `--json`. */
  json(value: unknown): void;
  /** A remark beside the answer (stderr), so that pipes stay clean. */
  remark(text: string): void;
  readonly colour: boolean;
  /** Columns to fit into; 80 where there is no terminal. */
  readonly width: number;
  readonly interactive: boolean;
}
