// Any messages at the worker's port, in any order.
import * as fc from "fast-check";
import { expect } from "vitest";
import type { FromWorker } from "../../../web/src/shared/protocol.js";
import { Server } from "../../../web/src/worker/server.js";
import { FakeEngine, loadsAtOnce } from "../support/fake-engine.js";
import { damagedOf } from "./any-text.js";
import { property } from "./property.js";

const odd = fc.constantFrom<unknown>(
  ...[null, undefined, true, NaN, -1, 0, 1.5, 2 ** 53, Infinity, "", "x", "x".repeat(2000), [], [null], {}],
  ...[{ length: 5 }, Array(2 ** 24 + 1), Array(300).fill("x"), [["a"]], Symbol.iterator],
  { ["__proto__"]: [] },
);
const source = { kind: "folder", url: "http://host/m/" };
const loadArgs = { source, threadChoices: {}, prompt: "", cache: false, headers: [["a", "b"]] };
/** Requests as the page makes them. */
const requests: readonly (readonly [name: string, args: unknown])[] = [
  ["load", loadArgs],
  ["generate", { prompt: "one two", options: { maxNewTokens: 3, stop: ["a"] }, ahead: 1 }],
  ["generate", { prompt: [1, 2], options: { n: 2 }, ahead: Infinity }],
  ["generate", { prompt: "", options: { maxNewTokens: 0 }, ahead: 0 }],
  ["prefill", { prompt: "p", allowSpecial: true }],
  ["inspect", { prompt: "p", layer: 1 }],
  ["score", { prompt: "p", stride: 2 }],
  ["tokenize", { text: "one", allowSpecial: false }],
  ["detokenize", [1, 2]],
];

const id = fc.integer({ min: 1, max: 5 });
const request = fc
  .tuple(id, fc.constantFrom(...requests))
  .map(([number, [name, args]]) => ({ type: "request", id: number, name, args }));
const message = fc.oneof(
  { weight: 7, arbitrary: damagedOf(request, odd, 1).map(({ value }) => value) },
  fc.record({ type: fc.constant("cancel"), id }),
  fc.record({ type: fc.constant("read"), id, tokens: fc.nat(3) }),
  odd,
  fc.constantFrom({ type: "end" }, { type: "request", id: 1, name: "nope" }),
);

/** Lets pending tasks continue. */
const aTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Refuses an invalid length, as the engine does; FakeEngine would never end. */
class PickyEngine extends FakeEngine {
  override start(name: string, given: unknown, wanted: { maxNewTokens?: number }): unknown {
    const { maxNewTokens: most = 0 } = wanted;
    if (!Number.isInteger(most) || most < 0 || most >= 100) throw new Error("refused");
    return super.start(name, given, wanted);
  }
}

property(
  "each request ends exactly once, and no generation is left over",
  fc.array(fc.tuple(message, fc.boolean()), { maxLength: 12 }),
  async (messages) => {
    const engine = new PickyEngine();
    const open = new Set<number>();
    const server = new Server(loadsAtOnce(engine), (said: FromWorker) => {
      if ((said.type !== "done" && said.type !== "failed") || said.id === 0) return;
      expect(open.delete(said.id), `request ${said.id} ends twice, or was never made`).toBe(true);
    });
    const send = (data: unknown) => {
      const { type, id: number } = Object(data) as Record<string, unknown>;
      if (type === "request" && Number.isSafeInteger(number) && Number(number) > 0) open.add(Number(number));
      server.receive(data);
    };
    send({ type: "request", id: 9, name: "load", args: loadArgs });
    for (const [data, waits] of messages) {
      send(data);
      if (waits) await aTurn();
    }
    for (let turns = 0; open.size > 0; turns += 1) {
      for (const number of open) server.receive({ type: "cancel", id: number });
      await aTurn();
      expect(turns, `requests ${[...open].join(", ")} do not end`).toBeLessThan(10_000);
    }
    if (!engine.isDestroyed) expect(engine.suspended).toBe(0);
  },
);
