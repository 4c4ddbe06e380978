/**
 * What main hands to commands: the things they may ask and the machine they may touch, and nothing else. A command
 * that needs something new gets it here, and main.ts, which alone knows how to build it, stops compiling until it does.
 */
export interface Parts {
  readonly version: string;
}
