// Any messages at the worker's port, in any order.
import * as fc from "fast-check";
import { expect } from "vitest";
import type { FromWorker } from "../../../web/src/shared/protocol.js";
import { Server } from "../../../web/src/worker/server.js";
import { FakeEngine, loadsAtOnce } from "../support/fake-engine.js";
import { damaged } from "./any-text.js";
import { property } from "./property.js";

type Fields = Record<string, unknown>;

const odd = fc.constantFrom<unknown>(
  ...[null, undefined, true, NaN, -1, 0, 1.5, 2 ** 53, Infinity, "", "x", "x".repeat(2000), [], [null], {}],
  ...[
    { length: 5 },
    Array(2 ** 24 + 1),
    Array(300).fill("x"),
    [["a"]],
    { ["__proto__"]: [] },
    Symbol.iterator,
  ],
);
const prompt = fc.oneof(fc.constantFrom("", "p", "one two"), fc.array(fc.nat(9), { maxLength: 3 }));
const options = fc.constantFrom<Fields>({}, { maxNewTokens: 0 }, { maxNewTokens: 3, stop: ["a"] }, { n: 2 });
const loadArgs = {
  source: { kind: "folder", url: "http://host/m/" },
  threadChoices: {},
  prompt: "",
  cache: false,
  headers: [["a", "b"]],
};
/** Arguments of requests as the page makes them. */
const valid: Record<string, fc.Arbitrary<unknown>> = {
  load: fc.constant(loadArgs),
  generate: fc.record({ prompt, options, ahead: fc.constantFrom(0, 1, 2, Infinity) }),
  prefill: fc.record({ prompt, allowSpecial: fc.boolean() }),
  inspect: fc.record({ prompt, layer: fc.nat(3) }),
  score: fc.record({ prompt, stride: fc.nat(3) }),
  tokenize: fc.record({ text: fc.string({ maxLength: 5 }), allowSpecial: fc.boolean() }),
  detokenize: fc.array(fc.nat(9), { maxLength: 3 }),
};

const id = fc.integer({ min: 1, max: 5 });
const request = fc.oneof(
  ...Object.entries(valid).map(([name, args]) =>
    fc.record({ type: fc.constant("request"), id, name: fc.constant(name), args }),
  ),
);
const damage = fc.record({ path: fc.array(fc.nat(9), { maxLength: 4 }), value: odd });
const message = fc.oneof(
  { weight: 4, arbitrary: request },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("cancel"), id }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("read"), id, tokens: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.tuple(request, damage).map((each) => damaged(...each)) },
  { weight: 1, arbitrary: odd },
  { weight: 1, arbitrary: fc.constantFrom({ type: "end" }, { type: "request", id: 1, name: "nope" }) },
);

/** Lets pending tasks continue. */
const aTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Refuses an invalid length, as the engine does; FakeEngine would never end. */
class PickyEngine extends FakeEngine {
  override start(name: string, given: unknown, wanted: { maxNewTokens?: number }): unknown {
    const { maxNewTokens = 0 } = wanted;
    if (!(Number.isInteger(maxNewTokens) && maxNewTokens >= 0 && maxNewTokens < 100))
      throw new Error("refused");
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
      const { type, id: number } = Object(data) as Fields;
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
