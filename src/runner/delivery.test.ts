import { expect, test } from "bun:test";
import type { Message } from "#domain/model/message.ts";
import { systemClock } from "#sys/clock.ts";
import type { AttemptRecord } from "./attempt-record.ts";
import { Delivery } from "./delivery.ts";

const HANDED = { messageId: "m_1", status: "handed", handedAs: "echo-1", dispatchId: null } as unknown as Message;

function watchDelivery(waiting: readonly Message[]) {
  const order: string[] = [];
  const record = {
    now: async () => ({ waiting }),
    commit: async () => {
      order.push("seen");
      return true;
    },
  } as unknown as AttemptRecord;
  const keepSignals = async () => {
    order.push("signals");
  };
  const store = { commit: fail, read: fail };
  const parts = { store, clock: systemClock(), record, note: () => {}, keepSignals };
  const delivery = new Delivery(parts, { attempt: 1, session: "s", injectionCap: 100, transcript: () => undefined });
  return { delivery, order };
}

function fail(): never {
  throw new Error("Not asked for here.");
}

test("LIVE-1: the turn that a message began is in the store before the message counts as seen", async () => {
  const { delivery, order } = watchDelivery([HANDED]);
  delivery.noteEcho("echo-1");
  await delivery.settle();
  expect(order).toEqual(["signals", "seen"]);
});

test("LIVE-1: without a message that was taken nothing is written for its sake", async () => {
  const { delivery, order } = watchDelivery([HANDED]);
  delivery.noteEcho("somebody else's");
  await delivery.settle();
  expect(order).toEqual([]);
});
