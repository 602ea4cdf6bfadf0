// The content of links to a text, and links that strangers made.
import { deflateRawSync } from "node:zlib";
import { expect, it } from "vitest";
import {
  textAround,
  fromFragment,
  stillContains,
  toFragment,
} from "../../../web/page/library/shared-text.js";

const pack = (value: unknown) => deflateRawSync(JSON.stringify(value)).toString("base64url");
const hash = "0".repeat(64);
const damaged = "it is damaged or incomplete; copy the whole link again";

it("a link's fragment preserves the whole text", async () => {
  const options = { maxNewTokens: 7, temperature: 0.5, seed: 3, ignoreEos: true, stop: ["\n", "🍓"] };
  const passage = {
    prompt: "Tom said “hello”, and 🍓\n",
    after: " The end.",
    written: [[0, 3] as const, [20, 24] as const],
    options,
    hash,
  };
  const fragment = await toFragment(passage);
  expect(fragment).toMatch(/^[\w-]+$/);
  expect(await fromFragment(fragment)).toEqual(passage);
});

it("a link's fragment contains the fields, if they are not empty", async () => {
  const passage = { prompt: "a", after: "", written: [], options: {}, hash };
  const fields = { remember: "Max talks.\n", note: "" };
  expect(await fromFragment(await toFragment({ ...passage, fields }))).toEqual({ ...passage, fields });
  for (const blank of [undefined, { remember: "", note: " \n" }])
    expect(Object.keys(await fromFragment(pack({ ...passage, fields: blank })))).not.toContain("fields");
});

it("a link's fragment contains the parts of the model that are switched off, and no other change", async () => {
  const passage = { prompt: "a", after: "", written: [], options: {}, hash };
  const change = [
    { at: "blocks.1.attn.z", head: 2, set: 0 },
    { at: "blocks.0.mlp_out", set: 0 },
  ];
  expect(await fromFragment(await toFragment({ ...passage, change }))).toEqual({ ...passage, change });
  const others = [
    ...[null, 1, { at: 1, set: 0 }, { at: "embed", set: 0 }, { at: "blocks.*.mlp_out", set: 0 }],
    ...[
      { at: "blocks.0.mlp_out", set: 1 },
      { at: "blocks.0.mlp_out", head: 1, set: 0 },
    ],
    ...[undefined, 0.5, "1"].map((head) => ({ at: "blocks.0.attn.z", head, set: 0 })),
  ];
  const twice = pack({ ...passage, change: [...change, ...others, ...change] });
  expect(await fromFragment(twice)).toEqual({ ...passage, change });
  for (const wrong of [others, "a", {}, null])
    expect(await fromFragment(pack({ ...passage, change: wrong }))).toEqual(passage);
});

it("a link's fragment is refused if its fields are too long or invalid", async () => {
  const tooLong = { remember: "", note: "a".repeat(4001) };
  for (const fields of [tooLong, { remember: "a" }, { remember: 1, note: "" }, null, [], "a"]) {
    const link = pack({ prompt: "a", options: {}, fields });
    await expect(fromFragment(link), JSON.stringify(fields)).rejects.toMatchObject({
      message: damaged,
      cause: new Error("expected two fields of at most 4000 UTF-16 code units besides the text"),
    });
  }
});

const unknown = { constructor: 1, toString: 2, strict: true };
const wrong = { seed: "1", ignoreEos: 1, stop: ["a", 2] };
const windows = { prompt: "a\r\nb\rc\n", after: "\r", fields: { remember: "a\r\nb", note: "c\r", more: 1 } };
const editors = { prompt: "a\nb\nc\n", after: "\n", fields: { remember: "a\nb", note: "c\n" } };

it.each<[string, object, object]>([
  ["of an earlier release has no text after the run", { prompt: "a", hash }, { prompt: "a", hash }],
  ["has only valid options", { options: { ...unknown, ...wrong, topK: 5 } }, { options: { topK: 5 } }],
  ["has line ends like the editor", windows, editors],
])("a link's fragment %s", async (_, sent, found) => {
  const read = await fromFragment(pack({ prompt: "", options: {}, ...sent }));
  expect(read).toEqual({ prompt: "", after: "", written: [], options: {}, ...found });
});

it("a text that is too long for a link is refused where the link is made, and where it is opened", async () => {
  const bomb = pack({ prompt: "a".repeat(5_000_000), options: {}, hash });
  expect(bomb.length).toBeLessThan(100_000);
  await expect(fromFragment(bomb)).rejects.toThrow("a link holds at most 1.0 MB of text");
  const passage = { prompt: "a".repeat(1_000_000), after: "", written: [], options: {} };
  await expect(toFragment(passage)).rejects.toThrow("a link holds at most 1.0 MB of text");
});

it("an invalid fragment is refused", async () => {
  await expect(fromFragment("nothing")).rejects.toThrow(damaged);
  await expect(fromFragment(pack({ prompt: "a", options: {}, hash }).slice(0, -4))).rejects.toThrow(damaged);
  for (const damage of [{ prompt: 1 }, { after: 1 }, { hash: 1 }, { options: undefined }]) {
    const link = pack({ prompt: "a", after: "b", options: {}, hash, ...damage });
    await expect(fromFragment(link), JSON.stringify(damage)).rejects.toMatchObject({
      message: damaged,
      cause: new Error("expected a prompt, options and a hash"),
    });
  }
  await expect(fromFragment(pack(null))).rejects.toThrow(damaged);
});

const anew = { prompt: "Once", text: " upon\r\na" };
const text = "Once upon\na time";

it("a text still contains the last run if it begins with its prompt and text", () => {
  expect(stillContains(text, anew)).toBe(true);
  expect(stillContains("Once upon\na", anew)).toBe(true);
  expect(stillContains("Once upon\n", anew)).toBe(false);
  expect(stillContains(`So ${text}`, anew)).toBe(false);
});

it("the text around the run keeps the parts that the model wrote there", () => {
  const kept = { text, caret: 1, written: [[0, 2] as const, [3, 13] as const, [14, 16] as const] };
  const { written, ...around } = textAround(kept, anew);
  expect(around).toEqual({ prompt: "Once", after: " time" });
  expect(written.join(" ")).toBe("0,2 3,4 4,6 7,9");
});

it("without a run, a link has the text before and after the caret", () => {
  const { written, ...around } = textAround({ text: "abcd", caret: 3, written: [[2, 4]] }, undefined);
  expect(around).toEqual({ prompt: "abc", after: "d" });
  expect(written.join(" ")).toBe("2,3 3,4");
});
