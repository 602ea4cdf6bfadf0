// Every fault on every file of a model and of the engine, once and for good. A load ends in the right text or in an
// error that names what is wrong: never in another text, and never not at all.
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "@playwright/test";
import { FaultyHost } from "./faulty-host.js";
import { inPage, root } from "./model.js";

const modelFiles = ["config.json", "weights.json", "vocab.json", "merges.txt", "model.safetensors.001"];
const engineFiles = ["engine/gpt2-simd.js", "engine/gpt2-simd.wasm"];
const type = (name: string) =>
  name.endsWith(".js")
    ? "text/javascript"
    : name.endsWith(".wasm")
      ? "application/wasm"
      : "application/octet-stream";

type Answer = (response: ServerResponse, bytes: Buffer, name: string) => void;
const ok = (response: ServerResponse, name: string, headers: Record<string, string | number> = {}) =>
  response.writeHead(200, { "Content-Type": type(name), ...headers });
const flipped = (bytes: Buffer) => {
  const copy = Buffer.from(bytes);
  copy[copy.length >> 1] = (copy[copy.length >> 1] ?? 0) ^ 1;
  return copy;
};
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end();

/** What passes: the second answer is the file, and nobody hears of the first. */
const passing: Record<string, Answer> = {
  stall: () => {},
  reset: (response) => void response.destroy(),
  500: status(500),
  503: status(503, { "Retry-After": "0" }),
  "broken off": (response, bytes, name) => {
    ok(response, name, { "Content-Length": bytes.length }).write(bytes.subarray(0, bytes.length >> 1));
    setTimeout(() => response.destroy(), 30);
  },
  flipped: (response, bytes, name) => void ok(response, name).end(flipped(bytes)),
  truncated: (response, bytes, name) => void ok(response, name).end(bytes.subarray(0, bytes.length >> 1)),
  "too long": (response, bytes, name) =>
    void ok(response, name).end(Buffer.concat([bytes, Buffer.from("\0")])),
};
/** What does not matter, however often. */
const harmless: Record<string, Answer> = {
  gzip: (response, bytes, name) => {
    const packed = gzipSync(bytes);
    ok(response, name, { "Content-Encoding": "gzip", "Content-Length": packed.length }).end(packed);
  },
  "gzip without length": (response, bytes, name) => {
    const packed = gzipSync(bytes);
    ok(response, name, { "Content-Encoding": "gzip" }).write(packed.subarray(0, 100));
    response.end(packed.subarray(100));
  },
  slow: (response, bytes, name) => {
    const step = Math.ceil(bytes.length / 5);
    ok(response, name);
    for (let i = 0; i < 5; i += 1)
      setTimeout(() => response.write(bytes.subarray(i * step, (i + 1) * step)), i * 40);
    setTimeout(() => response.end(), 220);
  },
};
/** What ends a load that it meets for good. */
const lasting: Record<string, Answer> = {
  404: status(404),
  empty: (response, _, name) => void ok(response, name).end(),
  "a web page": (response) =>
    void response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html>"),
};

interface Case {
  file: string;
  answer: Answer;
  /** Requests for the file that are answered so. */
  times: number;
}

const host = new FaultyHost();
test.beforeAll(() => host.start());
test.afterAll(() => host.stop());
const page = (name: string) => readFileSync(resolve(root, "web/dist", name));

/** Tells each load by a header of its own; the engine's files have none, and are tried one after the other. */
function serve(cases: ReadonlyMap<string, Case>): void {
  const left = new Map([...cases].map(([name, { times }]) => [name, times]));
  host.fault = (name, response) => {
    const key = String(response.req.headers["x-case"] ?? "");
    const found = cases.get(key);
    const rest = left.get(key) ?? 0;
    if (!found || rest === 0 || !name.endsWith(found.file)) return false;
    left.set(key, rest - 1);
    found.answer(response, page(name), name);
    return true;
  };
}

/** In the page: what each of `keys` ends in, three tokens' text or an error's code, `atOnce` at a time. */
async function tryAll(
  { loadModel }: typeof import("../../web/src/client/index.js"),
  { keys, atOnce }: { keys: string[]; atOnce: number },
): Promise<Record<string, string>> {
  const ends: Record<string, string> = {};
  const queue = [...keys];
  const lane = async () => {
    for (let key = queue.shift(); key !== undefined; key = queue.shift()) {
      const controller = new AbortController();
      const timer = setTimeout(() => controller.abort(new Error("it never ends")), 30_000);
      try {
        const headers = key === "" ? {} : { "x-case": key };
        const options = {
          variant: "simd",
          stallMs: 1500,
          cache: false,
          headers,
          signal: controller.signal,
        } as const;
        const model = await loadModel("models/demo/", options);
        const { text } = await model.complete("Once upon a time", { maxNewTokens: 3, temperature: 0 });
        await model.dispose();
        ends[key] = `text: ${text}`;
      } catch (error) {
        const { code, message } = error as { code?: string; message: string };
        ends[key] = `${code ?? "?"}: ${message}`;
      } finally {
        clearTimeout(timer);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return ends;
}

const kinds = [
  ["passing", passing, 1],
  ["harmless", harmless, Infinity],
  ["lasting", lasting, Infinity],
] as const;

test("every fault on every file of a model ends in the right text, or in an error", async ({ page: tab }) => {
  test.setTimeout(180_000);
  await tab.goto(host.page);
  serve(new Map());
  const { "": right } = await inPage(tab, tryAll, { keys: [""], atOnce: 1 });
  expect(right).toMatch(/^text: /);
  const cases = new Map<string, Case>();
  for (const [kind, answers, times] of kinds) {
    for (const file of modelFiles) {
      for (const [fault, answer] of Object.entries(answers)) {
        cases.set(`${kind}, ${fault}, ${file}`, { file, answer, times });
      }
    }
  }
  serve(cases);
  const ends = await inPage(tab, tryAll, { keys: [...cases.keys()], atOnce: 6 });
  expect(Object.keys(ends)).toHaveLength(cases.size);
  // weights.json has no hash of its own: where its form gives a wrong byte away, that is an error at once.
  const unsure = /(flipped|truncated|too long), weights\.json$/;
  for (const [key, end] of Object.entries(ends)) {
    if (/^lasting/.test(key))
      expect.soft(end, key).toMatch(/^(not-found|corrupt): .*(json|txt|safetensors)/s);
    else if (unsure.test(key))
      expect.soft(end === right || /^corrupt: weights\.json/.test(end), `${key}: ${end}`).toBe(true);
    else expect.soft(end, key).toBe(right);
  }
});

test("every fault on the engine's files ends in the right text, or in an error", async ({ page: tab }) => {
  test.setTimeout(180_000);
  await tab.goto(host.page);
  serve(new Map());
  const { "": right } = await inPage(tab, tryAll, { keys: [""], atOnce: 1 });
  for (const [kind, answers, times] of kinds) {
    for (const file of engineFiles) {
      for (const [fault, answer] of Object.entries(answers)) {
        serve(new Map([["", { file, answer, times }]]));
        const { "": end } = await inPage(tab, tryAll, { keys: [""], atOnce: 1 });
        const key = `${kind}, ${fault}, ${file}`;
        if (kind === "lasting")
          expect.soft(end, key).toMatch(/^(not-found|corrupt|unsupported|network): .*gpt2-simd/s);
        else expect.soft(end, key).toBe(right);
      }
    }
  }
});
