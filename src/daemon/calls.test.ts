import { expect, test } from "bun:test";
import { syncFleet } from "../../test/support/sync-world.ts";
import type { CallParts } from "./calls.ts";
import { Calls } from "./calls.ts";
import type { Peer } from "./rpc-server.ts";

test("RPC-1, SYNC-3: learnings are added, listed, found and dropped over the socket, and syncs listed", async () => {
  const fleet = await syncFleet([["api"]]);
  const parts = { version: "1", instance: "d_1", world: () => fleet.world } as unknown as CallParts;
  const calls = new Calls(parts);
  const peer = {} as Peer;
  const ask = (method: string, params: object) => calls.answer(peer, method, params) as Promise<never>;
  await ask("hello", { client: "cli", version: "1", protocol: 1 });
  const { learningId } = (await ask("learnings.add", { text: "Mind the gap.", tags: ["api"] })) as {
    learningId: string;
  };
  await fleet.turn();
  expect(await ask("learnings.list", {})).toMatchObject([{ learningId, via: "person", counts: { told: 1 } }]);
  expect(await ask("learnings.search", { words: 'gap" OR "', limit: 5 })).toEqual([] as never);
  expect(await ask("learnings.search", { words: "gap" })).toMatchObject([{ learningId }]);
  expect(await ask("syncs.list", { agent: "agent-0" })).toMatchObject([{ learningId, status: "queued" }]);
  expect(await ask("learnings.forget", { learning: learningId, reason: "wrong" })).toEqual({ learningId } as never);
  expect(await ask("learnings.list", {})).toEqual([] as never);
  expect(await ask("learnings.list", { all: true })).toMatchObject([{ status: "forgotten" }]);
  expect(ask("learnings.add", {})).rejects.toThrow("The parameters do not fit");
});
