/** Works off the queue that bench/landing.ts has prepared, as the daemon does: bun landing-all.ts <repository> <how many> */
import { workOffQueue } from "#act/landing/queue.ts";
import { landingWorld } from "../support/landing-world.ts";

const [repo = "", count = "0"] = Bun.argv.slice(2);
const config = { landing: { mode: "auto" }, repo: { targetBranch: "main" } };
const world = await landingWorld(repo, { config });
if (count !== "0") {
  await workOffQueue(world.parts);
  const landed = (await world.store.log({ after: 0, limit: 100_000 })).filter(({ type }) => type === "landing.landed");
  if (landed.length !== Number(count)) throw new Error(`${landed.length} of ${count} have landed`);
}
await world.close();
