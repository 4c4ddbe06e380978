/** Sentences one by one on a terminal, each judged with one key; what was judged is written at once. */
import type { Call } from "#cli/command.ts";
import type { ShownSentence } from "#control/replay-label.ts";
import { printEvidence, printSentence } from "./said-text.ts";

/** What a person makes of one sentence. */
export type LabelKey = "right" | "wrong" | "skip" | "quit";

const KEYS: Readonly<Record<string, LabelKey>> = {
  y: "right",
  n: "wrong",
  s: "skip",
  q: "quit",
  "\u0003": "quit",
  "\u0004": "quit",
};

export function readLabelKey(key: string): LabelKey | undefined {
  return KEYS[key.toLowerCase()];
}

/** How many were labelled. `judge` writes a label down. */
export async function labelByKeys(
  call: Call,
  sentences: readonly ShownSentence[],
  judge: (sentence: ShownSentence, isRight: boolean) => Promise<boolean>,
): Promise<number> {
  let labelled = 0;
  const keys = openKeys();
  try {
    for (const [index, sentence] of sentences.entries()) {
      printEvidence(call, sentence);
      printSentence(call, sentence);
      process.stderr.write(`${index + 1} of ${sentences.length}: y right, n wrong, s skip, q quit `);
      const key = await nextKey(keys);
      process.stderr.write(`${key}\n`);
      if (key === "quit") break;
      if (key === "skip") continue;
      if (await judge(sentence, key === "right")) labelled += 1;
    }
  } finally {
    keys.close();
  }
  return labelled;
}

async function nextKey(keys: { next(): Promise<string> }): Promise<LabelKey> {
  for (;;) {
    const known = readLabelKey(await keys.next());
    if (known) return known;
  }
}

function openKeys(): { next(): Promise<string>; close(): void } {
  const { stdin } = process;
  const waiting: string[] = [];
  let wake: (() => void) | undefined;
  const onKeys = (bytes: Buffer) => {
    waiting.push(...bytes.toString());
    wake?.();
  };
  // A terminal that is gone quits, as nobody is left to answer.
  const onEnd = () => onKeys(Buffer.from("q"));
  stdin.setRawMode(true);
  stdin.on("data", onKeys);
  stdin.on("end", onEnd);
  stdin.resume();
  return {
    async next() {
      while (waiting.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return waiting.shift() ?? "q";
    },
    close() {
      stdin.off("data", onKeys);
      stdin.off("end", onEnd);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}
