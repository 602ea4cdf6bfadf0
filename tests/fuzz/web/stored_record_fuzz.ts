// Any content of a record's file: reading it gives nothing, or a record that can be written and read again.
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { digestOf, readRecords, writeRecord } from "../../../web/src/cache/records.js";
import { writeFile } from "../../../web/src/cache/store.js";
import { problemOfFileName } from "../../../web/src/shared/file-names.mjs";
import { MemoryStore } from "../../web/support/memory-store.js";
import { id } from "../../web/support/model-host.js";
import { hashAtOnce } from "./hurry.js";
import { recordText } from "./record-text.js";
import { fuzzTarget } from "./target.js";

const arbitrary = fc.record({
  text: fc.oneof(
    recordText,
    fc.tuple(recordText, fc.nat(), fc.nat(255)).map(([text, at, byte]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + String.fromCharCode(byte) + text.slice(place + 1);
    }),
    fc.tuple(recordText, fc.nat()).map(([text, at]) => text.slice(0, at % (text.length + 1))),
  ),
  /** The weights in the name of its file: those of the text, or others. */
  weights: fc.oneof(
    { weight: 9, arbitrary: fc.constant(undefined) },
    fc.constantFrom("as-is", "q8", "q4", "f32"),
  ),
  /** Whether it has the hash that belongs to it, another one, or none as older releases wrote it. */
  sum: fc.constantFrom("right", "right", "none", "none", "wrong"),
});
type Input = typeof arbitrary extends fc.Arbitrary<infer T> ? T : never;

async function withSum({ text, sum }: Input): Promise<string> {
  if (sum === "none") return text;
  const digest = await digestOf(sum === "right" ? text : `${text} `);
  return text.replace(/\}$/, `${text === "{}" ? "" : ","}"sha256":"${digest}"}`);
}

export const target = fuzzTarget<Input>({
  arbitrary,
  examples: [
    { text: "{}", weights: undefined, sum: "right" },
    {
      text: `{"id":"http://host/m/","files":[{"path":"a","size":-0,"sha256":"${"0".repeat(64)}"}],"missing":[],"pieces":[]}`,
      weights: undefined,
      sum: "none",
    },
  ],
  start: hashAtOnce,
  async check(input) {
    const store = new MemoryStore();
    const weights = input.weights ?? /"weights":"(q8|q4|f32)"/.exec(input.text)?.[1] ?? "as-is";
    const name = `${await digestOf(id)}-${weights}-0123456789abcdef`;
    await writeFile(store, "models", name, new TextEncoder().encode(`${await withSum(input)}\n`));
    const [found, another] = await readRecords(store, id);
    if (!found) return;
    if (another) throw new Error("one file gave two records");
    const wrong = [...found.files, ...found.pieces].find(({ path }) => problemOfFileName(path) !== undefined);
    if (wrong) throw new Error(`a record names the file ${JSON.stringify(wrong.path)}`);
    const key = await writeRecord(store, found);
    const again = (await readRecords(store, id)).find((each) => each.key === key);
    if (!isDeepStrictEqual({ ...found, key, used: 0 }, { ...again, used: 0 }))
      throw new Error("what was written is not what was read");
  },
});
