// The small parts of the worker.
import { describe, expect, it, vi } from "vitest";
import { Credit } from "../../web/src/worker/credit.js";
import { toJson } from "../../web/src/worker/json.js";
import { holdLock } from "../../web/src/worker/lifeline.js";
import { Turn, Turns } from "../../web/src/worker/turns.js";
import { yieldToMessages } from "../../web/src/worker/yield-to-messages.js";

const never = new AbortController().signal;
const abortLater = () => new AbortController();

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = () => (settled = true);
  promise.then(settle, settle);
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe("toJson", () => {
  it.each([
    ["a\ud800b", "a\ufffdb"],
    ["\udfff", "\ufffd"],
    ["\udc00\ud800", "\ufffd\ufffd"],
    ["\ud83d\ude00 stays", "\ud83d\ude00 stays"],
    ["\\ud800 is text", "\\ud800 is text"],
    ["\\\ud800", "\\\ufffd"],
    ['"\n\t\u0000\ue000\ud7ff', '"\n\t\u0000\ue000\ud7ff'],
  ])("%j becomes %j", (text, expected) => {
    expect(JSON.parse(toJson(text))).toBe(expected);
    expect(JSON.parse(toJson({ stop: [text], [text]: 1 }))).toEqual({ stop: [expected], [expected]: 1 });
    expect(new TextEncoder().encode(toJson(text))).toEqual(new TextEncoder().encode(toJson(expected)));
  });
});

describe("Turns", () => {
  it("come in the order in which they were asked for", async () => {
    const turns = new Turns();
    const order: number[] = [];
    await Promise.all(
      [1, 2, 3].map(async (number) => {
        await turns.take(never);
        order.push(number);
        await new Promise((resolve) => setImmediate(resolve));
        expect(order.at(-1)).toBe(number); // nobody else came in between
        turns.give();
      }),
    );
    expect(order).toEqual([1, 2, 3]);
    await turns.take(never); // free again
  });

  it("are not had by who gave up waiting", async () => {
    const turns = new Turns();
    await turns.take(never);
    const controllers = [abortLater(), abortLater(), abortLater()];
    const waiting = controllers.map(({ signal }) => turns.take(signal));
    controllers[1]?.abort(new Error("enough"));
    await expect(waiting[1]).rejects.toThrow("enough");
    turns.give();
    await waiting[0];
    expect(await isSettled(waiting[2] ?? Promise.resolve())).toBe(false);
    controllers[0]?.abort(); // has its turn already
    turns.give();
    await waiting[2];
    turns.give();
    await expect(turns.take(AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
    await turns.take(never);
  });

  it("leave no listener behind", async () => {
    const turns = new Turns();
    const { signal } = new AbortController();
    const remove = vi.spyOn(signal, "removeEventListener");
    await turns.take(signal);
    const next = turns.take(signal);
    turns.give();
    await next;
    expect(remove).toHaveBeenCalledTimes(1);
  });

  it("can be given only by who has one", async () => {
    const turns = new Turns();
    const first = new Turn(turns);
    const second = new Turn(turns);
    second.give();
    await first.take(never);
    second.give();
    const waits = second.take(never);
    expect(await isSettled(waits)).toBe(false);
    first.give();
    first.give();
    await waits;
    const third = turns.take(never);
    expect(await isSettled(third)).toBe(false);
  });

  it("can be given for a while", async () => {
    const turns = new Turns();
    const first = new Turn(turns);
    await first.take(never);
    let goOn: () => void = () => {};
    const back = first.giveUntil(new Promise((resolve) => (goOn = resolve)), never);
    await turns.take(never); // somebody else
    goOn();
    expect(await isSettled(back)).toBe(false);
    turns.give();
    await back;
    expect(await isSettled(turns.take(never))).toBe(false);
  });

  it("a turn that was given without a limit is not taken back", async () => {
    const turns = new Turns();
    const turn = new Turn(turns);
    await turn.take(never);
    await expect(turn.giveUntil(Promise.reject(new Error("enough")), never)).rejects.toThrow("enough");
    turn.give();
    await turns.take(never);
  });
});

describe("Credit", () => {
  it("is spent by tokens and renewed by reading", async () => {
    const credit = new Credit(3);
    expect(credit.isSpent).toBe(false);
    await credit.wait(never);
    credit.spend(2);
    expect(credit.isSpent).toBe(false);
    credit.spend(3);
    expect(credit.isSpent).toBe(true);
    const waiting = credit.wait(never);
    credit.add(2); // still in debt by none: not enough
    expect(await isSettled(waiting)).toBe(false);
    credit.add(1);
    await waiting;
    expect(credit.isSpent).toBe(false);
    credit.add(1); // nobody waits
  });

  it("waits for nobody who gave up", async () => {
    const credit = new Credit(0);
    const controller = abortLater();
    const waiting = credit.wait(controller.signal);
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(credit.wait(controller.signal)).rejects.toThrow("enough");
  });

  it("leaves no listener behind", async () => {
    const credit = new Credit(0);
    const { signal } = new AbortController();
    const remove = vi.spyOn(signal, "removeEventListener");
    const waiting = credit.wait(signal);
    credit.add(1);
    await waiting;
    expect(remove).toHaveBeenCalledTimes(1);
  });

  it("can be without end", () => {
    const credit = new Credit(Infinity);
    credit.spend(1e9);
    expect(credit.isSpent).toBe(false);
  });
});

describe("holdLock", () => {
  it("names a lock of its own, once it has it, and never gives it back", async () => {
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

  it("has none where there are no locks, or they are refused", async () => {
    expect(await holdLock(undefined)).toBeNull();
    const refusing = { request: async () => Promise.reject(new Error("SecurityError")) };
    expect(await holdLock(refusing as unknown as LockManager)).toBeNull();
  });
});

it("yieldToMessages lets what has arrived be handled first", async () => {
  const { port1, port2 } = new MessageChannel();
  const seen: string[] = [];
  port1.onmessage = ({ data }) => seen.push(data as string);
  port2.postMessage("message");
  for (let i = 0; i < 3; ++i) await yieldToMessages();
  await vi.waitFor(() => expect(seen).toEqual(["message"]));
  port1.close();
});
