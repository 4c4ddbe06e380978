/** What an address may answer, and how much of it is read. */
import { expect, test } from "bun:test";
import { ANSWER_BYTES } from "./channel.ts";
import { postTo } from "./post.ts";

test("NOTIFY-1: of an address that answers without end only the beginning is read", async () => {
  let sent = 0;
  const piece = new Uint8Array(64 * 1024).fill(97);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(
        new ReadableStream<Uint8Array>({
          async pull(controller) {
            await Bun.sleep(1);
            sent += piece.length;
            controller.enqueue(piece);
          },
        }),
      ),
  });
  const outcome = await postTo(`http://127.0.0.1:${server.port}`, { headers: {}, body: "{}" }, 30_000);
  await server.stop(true);
  expect(outcome).toEqual({ ok: true, said: "a".repeat(ANSWER_BYTES) });
  expect(sent).toBeLessThan(64 * 1024 * 1024);
});
