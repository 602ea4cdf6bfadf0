// A figure that occurs in several documents is the same in all of them.
import { expect, it } from "vitest";
import { found, read } from "./files.js";

const sizes = "docs/reference/browsers.md";
const performance = "docs/understand/performance.md";
const notes = "docs/notes/2026-11-performance.md";
const firstPage = "docs/learn/first-page.md";
const api = "docs/reference/api.md";
const oneFile = "docs/how-to/one-file.md";

it.each<[string, ...[path: string, pattern: RegExp][]]>([
  [
    "the bytes of GPT-2 124M in 8 bits",
    [sizes, /weights of GPT-2 124M are about (\d+) MB in 8 bits/],
    [api, /becomes (\d+) MB on the device/],
    [firstPage, /in 8 bits \((\d+) MB\)/],
  ],
  [
    "the bytes of GPT-2 124M on the Hub",
    [api, /GPT-2's (\d+) MB download/],
    [firstPage, /downloads GPT-2 once \((\d+) MB\)/],
    [notes, /Hub's (\d+) MB of float32 \|/],
  ],
  [
    "the memory of GPT-2 124M in 8 bits",
    [sizes, /takes (\d+) MB of memory in 8 bits/],
    [performance, /takes (\d+) MB of memory with q8/],
    ["web/src/client/environment.ts", /GPT-2 124M takes (\d+) MB in 8 bits/],
  ],
  [
    "the memory of GPT-2 124M in 4 bits",
    [sizes, /(\d+) MB in 4 bits/],
    [performance, /and (\d+) MB with q4/],
  ],
  [
    "the page in one file with GPT-2 124M",
    [oneFile, /in 8 bits is a file of (\d+) MB/],
    ["docs/reference/command-line.md", /(\d+) MB with\s+GPT-2 124M/],
  ],
  [
    "the engine and its JavaScript, in gzip",
    ["README.md", /the engine and its JavaScript are (\d+) kB/],
    ["README.md", /\| gpt2-wasm q8 \|.*\| (\d+) kB \|/],
    ["README.md", /\| gpt2-wasm q4 \|.*\| (\d+) kB \|/],
  ],
  [
    "the speed of 355M in 4 bits",
    [performance, /355M writes (\d+) tokens/],
    [performance, /\| 355M, q4 \|.*\| (\d+) \|$/m],
  ],
  [
    "the parameters of the demo model",
    ["web/models/demo/MODEL_CARD.md", /\| parameters \| 12,(417),024 \|/],
    ["web/models/index.json", /"parameters": 12(417)024/],
  ],
])("%s is the same everywhere", (_, ...places) => {
  const [first, ...others] = places.map(([path, pattern]) => found(path, pattern));
  for (const [index, value] of others.entries()) expect(value, places[index + 1]?.[0]).toBe(first);
});

it("the speeds of each class are the medians of the rounds in the notes", () => {
  const rows = [
    ...read(performance).matchAll(
      /^\| (AVX-VNNI|pairs|plain), (q[48]) \| ([12]) \| (\d+) \| (\d+) \| (\d+) % \| (\d+) \|/gm,
    ),
  ];
  expect(rows).toHaveLength(12);
  for (const [, name, weights, threads, prefill, decode, share, far] of rows) {
    const row = `${name}, ${weights}, ${threads}`;
    const [, ...cells] = found(notes, new RegExp(`^\\| (${row} \\|.*) \\|$`, "m")).split(" | ");
    const medians = cells.map((cell) => cell.split(", ").sort((a, b) => Number(a) - Number(b))[1]);
    expect(medians, row).toEqual([prefill, decode, far, share]);
  }
});
