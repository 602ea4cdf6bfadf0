// Tests the small parts of the worker.
import { expect, it, vi } from "vitest";
import { ReadAhead } from "../../web/src/worker/read-ahead.js";
import { toJson } from "../../web/src/worker/json.js";
import { holdLock } from "../../web/src/worker/lifeline.js";
import { EngineTurn, EngineQueue } from "../../web/src/worker/engine-queue.js";
import { yieldToMessages } from "../../web/src/worker/yield-to-messages.js";

const never = new AbortController().signal;

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = () => (settled = true);
  promise.then(settle, settle);
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

it.each([
  ["a\ud800b", "a\ufffdb"],
  ["\udfff", "\ufffd"],
  ["\udc00\ud800", "\ufffd\ufffd"],
  ["\ud83d\ude00 stays", "\ud83d\ude00 stays"],
  ["\\ud800 is text", "\\ud800 is text"],
  ["\\\ud800", "\\\ufffd"],
  ['"\n\t\u0000\ue000\ud7ff', '"\n\t\u0000\ue000\ud7ff'],
])("toJson turns %j into %j", (text, expected) => {
  expect(JSON.parse(toJson(text))).toBe(expected);
  expect(JSON.parse(toJson({ stop: [text], [text]: 1 }))).toEqual({ stop: [expected], [expected]: 1 });
  expect(new TextEncoder().encode(toJson(text))).toEqual(new TextEncoder().encode(toJson(expected)));
});

it("turns are granted in the order of their requests, and leave no listeners", async () => {
  const queue = new EngineQueue();
  const order: number[] = [];
  await Promise.all(
    [1, 2, 3].map(async (number) => {
      await queue.take(never);
      order.push(number);
      await new Promise((resolve) => setImmediate(resolve));
      expect(order.at(-1)).toBe(number); // no other turn was granted in between
      queue.give();
    }),
  );
  expect(order).toEqual([1, 2, 3]);
  await queue.take(never); // the turn is free again
  const { signal } = new AbortController();
  const remove = vi.spyOn(signal, "removeEventListener");
  const next = queue.take(signal);
  queue.give();
  await next;
  expect(remove).toHaveBeenCalledTimes(1);
});

it("a turn is not granted to a waiter that gave up", async () => {
  const queue = new EngineQueue();
  await queue.take(never);
  const controllers = [1, 2, 3].map(() => new AbortController());
  const waiting = controllers.map(({ signal }) => queue.take(signal));
  controllers[1]?.abort(new Error("enough"));
  await expect(waiting[1]).rejects.toThrow("enough");
  queue.give();
  await waiting[0];
  expect(await isSettled(waiting[2] ?? Promise.resolve())).toBe(false);
  controllers[0]?.abort(); // it already has its turn
  queue.give();
  await waiting[2];
  queue.give();
  await expect(queue.take(AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
  await queue.take(never);
});

it("only the holder of a turn can pass it on", async () => {
  const queue = new EngineQueue();
  const first = new EngineTurn(queue);
  const second = new EngineTurn(queue);
  second.give();
  await first.take(never);
  second.give();
  const waits = second.take(never);
  expect(await isSettled(waits)).toBe(false);
  first.give();
  first.give();
  await waits;
  const third = queue.take(never);
  expect(await isSettled(third)).toBe(false);
});

it("a turn that was passed on without a limit is not taken back", async () => {
  const queue = new EngineQueue();
  const turn = new EngineTurn(queue);
  await turn.take(never);
  await expect(turn.giveUntil(Promise.reject(new Error("enough")), never)).rejects.toThrow("enough");
  turn.give();
  await queue.take(never);
});

it("read-ahead is spent by tokens and renewed by reading, and leaves no listeners", async () => {
  const readAhead = new ReadAhead(3);
  await readAhead.wait(never);
  readAhead.spend(2);
  expect(readAhead.isSpent).toBe(false);
  readAhead.spend(3);
  expect(readAhead.isSpent).toBe(true);
  const { signal } = new AbortController();
  const remove = vi.spyOn(signal, "removeEventListener");
  const waiting = readAhead.wait(signal);
  readAhead.add(2); // the debt is paid, but no token may be sent yet
  expect(await isSettled(waiting)).toBe(false);
  readAhead.add(1);
  await waiting;
  expect(readAhead.isSpent).toBe(false);
  expect(remove).toHaveBeenCalledTimes(1);
});

it("holdLock returns the name of its own lock, which it never releases", async () => {
  const held: Promise<unknown>[] = [];
  const names: string[] = [];
  const locks = {
    async request(name: string, run: () => Promise<unknown>) {
      names.push(name);
      held.push(run());
    },
  } as unknown as LockManager;
  const first = await holdLock(locks);
  const second = await holdLock(locks);
  expect([first, second]).toEqual(names);
  expect(first).toMatch(/^gpt2-wasm \d+-\d+-\d+-\d+$/);
  expect(first).not.toBe(second);
  for (const lock of held) expect(await isSettled(lock)).toBe(false);
});

it("holdLock returns no name if locks are missing or refused", async () => {
  expect(await holdLock(undefined)).toBeNull();
  const refusing = { request: async () => Promise.reject(new Error("SecurityError")) };
  expect(await holdLock(refusing as unknown as LockManager)).toBeNull();
});

it("yieldToMessages lets messages that have arrived be handled first", async () => {
  const { port1, port2 } = new MessageChannel();
  const seen: string[] = [];
  port1.onmessage = ({ data }) => seen.push(data as string);
  port2.postMessage("message");
  for (let i = 0; i < 3; ++i) await yieldToMessages();
  await vi.waitFor(() => expect(seen).toEqual(["message"]));
  port1.close();
});
