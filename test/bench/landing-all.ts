/** Lands every claim that bench/landing.ts has prepared, one after the other: bun landing-all.ts <repository> <how many> */
import { landClaim } from "#act/land.ts";
import { landingWorld } from "../support/landing-world.ts";

const [repo = "", count = "0"] = Bun.argv.slice(2);
const config = { landing: { mode: "auto" }, repo: { targetBranch: "main" } };
const world = await landingWorld(repo, { config });
for (let index = 0; index < Number(count); index += 1) {
  const goalId = `goal_RUNNING${String(index).padStart(3, "0")}`;
  const outcome = await landClaim(world.parts, { goalId, nodeId: "T1" });
  if (outcome.kind !== "done") throw new Error(`${goalId}: ${JSON.stringify(outcome)}`);
}
await world.close();
