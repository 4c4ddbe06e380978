import { expect, test } from "bun:test";
import { countFlows } from "../scripts/flows.ts";

/** How many files of src a flow passes through at most. These numbers only shrink; how it is counted: scripts/flows.ts. */
const MOST_FILES: Readonly<Record<string, number>> = { sling: 18, "tool call to nudge": 22, "done to landed": 31 };

test("a flow passes through no more files than it did", () => {
  for (const [name, files] of countFlows()) {
    const most = MOST_FILES[name] ?? 0;
    expect(files.length, `${name} passes through ${files.join(", ")}`).toBeLessThanOrEqual(most);
  }
});
