/**
 * Checks and lands one claim through ports that count their calls and, at a chosen one, kill this process.
 *
 * bun test/support/landing-harness.ts <repository> <config as JSON> [<kill|kill-during> <n>]
 * Without a fault it prints the calls that a whole run makes.
 */
import { runChecks } from "#act/checks/check.ts";
import { landClaim } from "#act/landing/land.ts";
import { GOAL, landingWorld } from "./landing-world.ts";

const [repo = "", config = "{}", mode, at] = Bun.argv.slice(2);
const calls: string[] = [];

function counted<T extends object>(port: string, real: T): T {
  return new Proxy(real, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        calls.push(`${port}.${String(key)}`);
        if (calls.length !== Number(at)) return Reflect.apply(value, target, args);
        if (mode === "kill-during") Reflect.apply(value, target, args);
        process.kill(process.pid, "SIGKILL");
        throw new Error("still alive");
      };
    },
  });
}

const world = await landingWorld(repo, { config: JSON.parse(config), wrap: counted });
const place = { goalId: GOAL, nodeId: "T1" };
const checked = await runChecks(world.parts, place);
const landed = await landClaim(world.parts, place);
console.log(JSON.stringify({ checked, landed, calls }));
