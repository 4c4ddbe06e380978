/** Whether Overseer was set up in a repository, told without opening anything: for those that ask in every directory. */
import { existsSync } from "node:fs";
import { addressIn } from "#store/open.ts";
import type { Root } from "#sys/root.ts";

export function isSetUp({ state }: Pick<Root, "state">): boolean {
  return existsSync(addressIn(state));
}
