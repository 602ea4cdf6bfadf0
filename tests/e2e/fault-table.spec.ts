// Every fault on files of a model and of the engine, temporary and lasting. A load ends in the right text or in an error
// that names the fault; it never hangs or writes another text.
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "@playwright/test";
import { FaultyHost } from "./faulty-host.js";
import { inPage, root } from "./model.js";
import { smallFolder, smallPrompt } from "./small-model.js";

/** A file of the model that is read at once, one that is listed with its hash, the index, and a piece of the weights. */
const modelFiles = ["config.json", "merges.txt", "weights.json", "model.safetensors.001"];
const engineFiles = ["gpt2-worker.js", "engine/gpt2-simd.js", "engine/gpt2-simd.wasm"];
const type = (name: string) =>
  name.endsWith(".js")
    ? "text/javascript"
    : name.endsWith(".wasm")
      ? "application/wasm"
      : "application/octet-stream";

/** The folder of the files that have moved. */
const elsewhere = "moved/";
/** The folder in which a trial has all files. It is the trial's key. */
const ownFolder = /^trial-\d+\//;

type Answer = (response: ServerResponse, bytes: Buffer, name: string) => void;
const ok = (response: ServerResponse, name: string, headers: Record<string, string | number> = {}) =>
  response.writeHead(200, { "Content-Type": type(name), ...headers });
const begin: Answer = (response, bytes, name) =>
  void ok(response, name, { "Content-Length": bytes.length }).write(bytes.subarray(0, bytes.length >> 1));
const breakOff: Answer = (response, bytes, name) => {
  ok(response, name, { "Content-Length": bytes.length });
  response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
};
const answerFlipped: Answer = (response, bytes, name) => {
  const copy = Buffer.from(bytes);
  copy[copy.length >> 1] = (copy[copy.length >> 1] ?? 0) ^ 1;
  ok(response, name).end(copy);
};
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end();

/** Temporary faults: the second answer is the file, and no error is reported. */
const passing: Record<string, Answer> = {
  stall: () => {},
  "silent in the middle": begin,
  reset: (response) => void response.destroy(),
  500: status(500),
  503: status(503, { "Retry-After": "0" }),
  "broken off": breakOff,
  flipped: answerFlipped,
  truncated: (response, bytes, name) => void ok(response, name).end(bytes.subarray(0, bytes.length >> 1)),
  "too long": (response, bytes, name) =>
    void ok(response, name).end(Buffer.concat([bytes, Buffer.from("\0")])),
};
/** Answers that are harmless, however often; of a script, those of another type are refused. */
const harmless: Record<string, Answer> = {
  redirect: (response, _, name) => void response.writeHead(302, { Location: `/${elsewhere}${name}` }).end(),
  "of another type": (response, bytes) =>
    void response.writeHead(200, { "Content-Type": "text/plain" }).end(bytes),
  "of no type": (response, bytes) => void response.writeHead(200).end(bytes),
  gzip: (response, bytes, name) => {
    const packed = gzipSync(bytes);
    ok(response, name, { "Content-Encoding": "gzip", "Content-Length": packed.length }).end(packed);
  },
  "gzip without length": (response, bytes, name) => {
    const packed = gzipSync(bytes);
    ok(response, name, { "Content-Encoding": "gzip" }).write(packed.subarray(0, 100));
    response.end(packed.subarray(100));
  },
};
/** Faults that end a load if they last. */
const lasting: Record<string, Answer> = {
  404: status(404),
  empty: (response, _, name) => void ok(response, name).end(),
  "a web page": (response) =>
    void response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html>"),
  "broken off": breakOff,
  flipped: answerFlipped,
};
/** The error for each lasting fault. For a worker's script it is always the same. */
const sentences: Record<string, RegExp> = {
  404: /^not-found: (there is no weights\.json; without it, )?cannot fetch .*: the host answered 404/,
  empty: /^(corrupt|unsupported): /,
  "a web page": /^not-found: /,
  "broken off": /^network: (the connection broke while reading|cannot fetch) /,
  flipped:
    /^corrupt: .* has SHA-256 [0-9a-f]{64}, (weights\.json says|expected) [0-9a-f]{64}$|^corrupt: .*weights\.json/s,
};
const refused = /^network: the host serves .*(as "text\/plain"|without a type), expected "text\/javascript"$/;

interface Case {
  fault: string;
  /** Its own folder. */
  key: string;
  answer: Answer;
  /** Requests for the file that get this answer. */
  times: number;
  /** The expected error; without one, the load works. */
  sentence?: RegExp | undefined;
}

/** The trials of `file`: each fault of the tables above, in a folder of its own. */
function casesOf(file: string): Case[] {
  const isScript = file.endsWith(".js");
  const isWorker = file === "gpt2-worker.js";
  const cases: Case[] = [];
  const add = (answers: Record<string, Answer>, times: number, isLasting: boolean) => {
    for (const [fault, answer] of Object.entries(answers)) {
      if (isScript && fault === "flipped") continue; // it may run as well
      const isRefused = isScript && fault.endsWith(" type");
      const sentence = isRefused ? refused : isLasting ? sentences[fault] : undefined;
      cases.push({
        fault,
        key: `trial-${cases.length + 1}/`,
        answer,
        times,
        sentence: sentence && isWorker ? /^network: the worker's script gpt2-worker\.js / : sentence,
      });
    }
  };
  add(passing, 1, false);
  add(harmless, Infinity, false);
  add(lasting, Infinity, true);
  return cases;
}

const host = new FaultyHost();
test.beforeAll(() => host.start());
test.afterAll(() => host.stop());

/** Answers requests for `file` in the folder of each of `cases` as the case says. */
function serve(file = "", cases: readonly Case[] = []): void {
  const left = new Map(cases.map((each) => [each.key, { ...each }]));
  host.fault = (name, response) => {
    const path = name.replace(elsewhere, "");
    const [folder = ""] = ownFolder.exec(path) ?? [];
    const asked = path.slice(folder.length);
    if (!folder) return false;
    const bytes = asked.startsWith(smallFolder)
      ? host.small.get(asked)
      : readFileSync(resolve(root, "web/dist", asked));
    if (!bytes) return false;
    const found = path === name && asked.endsWith(file) ? left.get(folder) : undefined;
    if (found && found.times > 0) {
      found.times -= 1;
      found.answer(response, bytes, name);
    } else ok(response, asked, { "Content-Length": bytes.length }).end(bytes);
    return true;
  };
}

/** Runs in the page. Returns the result for each of `keys`: three tokens or an error. */
async function tryAll(
  { loadModel }: typeof import("../../web/src/client/index.js"),
  { keys, model: folder, prompt }: { keys: string[]; model: string; prompt: string },
): Promise<string[]> {
  const ends: string[] = [];
  const queue = [...keys.entries()];
  const lane = async () => {
    for (const [place, key] of queue.splice(0, 1)) {
      try {
        const model = await loadModel(`/${key}${folder}`, {
          variant: "simd",
          stallMs: 4000, // a busy machine is silent for a second
          cache: false,
          baseUrl: `/${key}`,
        });
        const { tokens } = await model.complete(prompt, { maxNewTokens: 3, temperature: 0 });
        await model.dispose();
        ends[place] = `ids: ${tokens.map(({ id }) => id).join(" ")}`;
      } catch (error) {
        const { code, message } = error as { code?: string; message: string };
        ends[place] = `${code ?? "?"}: ${message}`;
      }
      await lane();
    }
  };
  await Promise.all([lane(), lane(), lane()]); // silent answers wait together: a browser opens six connections
  return ends;
}

for (const file of [...modelFiles, ...engineFiles]) {
  test(`every fault in ${file} ends in the correct text or in an error`, async ({ page }) => {
    await page.goto(host.page);
    const cases = casesOf(file);
    const attempt = (keys: string[]) =>
      inPage(page, tryAll, { keys, model: smallFolder, prompt: smallPrompt });
    serve(file, cases);
    const keys = cases.map(({ key }) => key);
    const [right = "", ...ends] = await attempt(["trial-0/", ...keys]);
    expect(right).toMatch(/^ids: \d+ \d+ \d+$/);
    for (const [place, { fault, sentence }] of cases.entries()) {
      const end = ends[place];
      if (!sentence) expect.soft(end, fault).toBe(right);
      else {
        expect.soft(end, fault).toMatch(sentence);
        expect.soft(end, fault).toContain(file.replace("engine/", ""));
      }
    }
    serve();
    const failed = keys.filter((_, place) => cases[place]?.sentence);
    for (const end of await attempt(failed)) expect.soft(end, "tried again").toBe(right); // from the same folder
  });
}
