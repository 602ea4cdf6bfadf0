// Links that a stranger writes. `?model=` counts as the page's own host only if a browser would ask that host. `#text=` is
// refused, or is a text that the editor can show.
import { EditorState } from "@codemirror/state";
import { expect } from "vitest";
import {
  addWritten,
  rangesOfParts,
  toKeptText,
  writtenTracking,
} from "../../../web/page/document/written.js";
import { fromFragment, toFragment, type SharedText } from "../../../web/page/library/shared-text.js";
import { readSource } from "../../../web/src/client/read-source.js";
import { numberOptionNames } from "../../../web/src/shared/generate-options.js";
import { linkedAddress, linkedText, packed } from "../../e2e/links.js";
import { InvalidArgumentError } from "../../../web/src/shared/errors.js";
import { property, unlessRefused } from "./property.js";

const page = "https://own.example/gpt2/";
const policy = "connect-src 'self' https://huggingface.co https://evil.example https://*.hf.co";
// The page's modules ask for these when they are imported, or called.
Object.assign(globalThis, {
  document: {
    baseURI: page,
    querySelector: () => ({ getAttribute: () => policy }),
    documentElement: { lang: "en" },
  },
  location: new URL(page),
});
const { folderModel } = await import("../../../web/page/models/chosen-model.js");
const { namedModel, queryOf } = await import("../../../web/page/models/named-model.js");

/** The origins that loadModel would ask for `source`; none if it refuses. */
async function originsOf(source: unknown): Promise<string[]> {
  const request = await unlessRefused(InvalidArgumentError, () => readSource(source, undefined));
  if (!request) return [];
  if (request.kind === "files") throw new Error("no address is a list of files");
  const hub = request.kind === "hub" ? request : request.orHub;
  const folder = request.kind === "hub" ? [] : [request.url];
  return [...folder, ...(hub ? [hub.hub] : [])].map((place) => new URL(place).origin);
}

async function checkHost(model: ReturnType<typeof folderModel>): Promise<void> {
  if (model.problem) return; // the page makes no request
  for (const origin of await originsOf(model.source))
    expect(model.elsewhere).toBe(origin === "https://own.example" ? undefined : new URL(origin).host);
  const query = new URLSearchParams(queryOf(model));
  const again = folderModel(query.get("model") ?? "", query.get("weights"));
  expect([again.elsewhere, again.folder]).toEqual([model.elsewhere, model.folder]);
}

property(
  "the page names the host that it would ask for a linked model, and writes an address of the same model",
  linkedAddress,
  async (input) => {
    const wellFormed = new URLSearchParams({ model: input }).get("model") ?? ""; // as an address has it
    await checkHost(folderModel(wellFormed));
    await checkHost(namedModel(wellFormed.trim()));
  },
  {
    examples: [
      "//evil.example/m/",
      "/\\evil.example",
      "\0https://evil.example/m/",
      "h\nttps://evil.example/m/",
      "huggingface.co/https:\\\\",
    ],
  },
);

const mostLetters = 1_000_000; // that a fragment may unpack to
const knownOptions = new Set<string>([...numberOptionNames, "ignoreEos", "heal", "stop"]);

/** The text in the editor, without the model's marks outside it. Throws as the page would if it cannot be shown. */
function textShown({ prompt, after, written }: SharedText): string {
  const state = EditorState.create({ doc: prompt + after, extensions: [writtenTracking] });
  const inside = written.filter(([, to]) => to <= state.doc.length);
  const shown = state.update({ effects: addWritten.of(rangesOfParts(inside)) }).state;
  const ends = toKeptText(shown).written.flatMap(([from, to]) => [from, to]);
  expect([...ends, state.doc.length]).toEqual([...ends, state.doc.length].sort((a, b) => a - b));
  return shown.doc.toString();
}

property(
  "a linked text is refused, or can be shown, has known options and fields, and is linked unchanged",
  linkedText,
  async (input) => {
    const found = await fromFragment(input).catch(() => undefined);
    if (!found) return;
    expect(found.prompt.length + found.after.length).toBeLessThanOrEqual(mostLetters);
    expect(Object.keys(found.options).filter((name) => !knownOptions.has(name))).toEqual([]);
    expect(Object.getPrototypeOf(found.options)).toBe(Object.prototype);
    const { fields = { remember: "", note: "a" } } = found;
    expect(Object.keys(fields)).toEqual(["remember", "note"]);
    expect(Object.values(fields).every((field) => field.length <= 4000)).toBe(true);
    expect(Object.values(fields).join("").trim()).not.toBe("");
    expect(textShown(found)).toBe(found.prompt + found.after);
    if (JSON.stringify(found).length < mostLetters / 6)
      expect(await fromFragment(await toFragment(found))).toEqual(found);
  },
  {
    examples: [
      "",
      packed("null"),
      packed('{"prompt":"a","options":{"topP":-1e999}}'),
      packed(JSON.stringify({ prompt: "a".repeat(2e6), options: {} })),
    ],
  },
);
