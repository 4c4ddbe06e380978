/** What an agent that begins is told of expertise under a configuration, by a mulch that knows two domains. */
import { offerExpertise } from "#act/expertise.ts";
import type { Config } from "#config/schema.ts";
import { makeScriptedExec } from "#sim/virtual-exec.ts";
import { memoryStore } from "#store/memory.ts";
import { worldOn } from "./world.ts";

const RECORDS = ["auth", "web"].map((domain) => ({
  domain,
  records: [{ type: "convention", content: `about ${domain}` }],
}));
const ANSWER = `${JSON.stringify({ success: true, domains: RECORDS })}\n`;

export async function toldOfExpertise(config: Config): Promise<string> {
  const exec = makeScriptedExec([{ when: ["mulch"], answer: { stdout: ANSWER } }]);
  const world = { ...worldOn(memoryStore()), exec, config: async () => config };
  return (await offerExpertise(world, { domains: [], paths: ["src/auth/login.ts"], node: null })).text;
}

export const toldByMulch = (config: Config) =>
  toldOfExpertise({ ...config, mulch: { ...config.mulch, enabled: true } });
