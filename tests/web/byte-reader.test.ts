import { expect, it } from "vitest";
import { byteReader } from "../../web/src/model/sources/byte-streams.js";
import { steadyFetch, type Chunks } from "../../web/src/model/sources/steady-fetch.js";

/** A stream of the bytes 1, 2 and so on, one a chunk. */
function streamOf(count: number, type?: "bytes"): ReadableStream<Uint8Array<ArrayBuffer>> {
  let given = 0;
  return new ReadableStream({
    type: type as "bytes",
    pull(controller) {
      if (given < count) return controller.enqueue(Uint8Array.of((given += 1)));
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}
const byteStreamOf = (count: number) => streamOf(count, "bytes");

it("byteReader reads a stream of bytes into the same memory again and again", async () => {
  const reader = byteReader(byteStreamOf(3));
  const found: number[] = [];
  const first = await reader.read();
  found.push(...(first ?? []));
  for (let chunk; (chunk = await reader.read());) found.push(...chunk);
  expect(found).toEqual([1, 2, 3]);
  expect(first).toHaveLength(0); // its memory has gone on to the next
});

it("byteReader reads any other stream unchanged, and cancels both kinds", async () => {
  const reader = byteReader(streamOf(2));
  expect(await reader.read()).toEqual(Uint8Array.of(1));
  expect(await reader.read()).toEqual(Uint8Array.of(2));
  expect(await reader.read()).toBeUndefined();
  for (const stream of [streamOf(2), byteStreamOf(2)]) {
    const cancelled = byteReader(stream);
    await cancelled.cancel("enough");
    expect(await cancelled.read()).toBeUndefined();
  }
});

it.each<[Chunks, number]>([
  ["kept", 1],
  ["passing", 0],
])("a file whose chunks are %s has of the first, after the second, %i bytes", async (chunks, length) => {
  const ask = async () => new Response(byteStreamOf(2));
  const patience = { stallMs: 1000, onRetry: () => {} };
  const { body } = await steadyFetch(ask, patience, chunks)("http://host/file");
  const reader = body?.getReader();
  const first = (await reader?.read())?.value;
  expect(first).toEqual(Uint8Array.of(1));
  expect((await reader?.read())?.value).toEqual(Uint8Array.of(2));
  expect(first).toHaveLength(length);
});
