// @vitest-environment happy-dom
// `showInside` in an otherwise empty page, with a model that answers at once.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it, vi } from "vitest";
import type { Change, Inspection, InspectOptions, ModelInfo } from "../../../web/src/client/index.js";
import {
  insideWords,
  showInside,
  type InsideOptions,
  type InsideToken,
} from "../../../web/src/figures/index.js";
import { InvalidArgumentError } from "../../../web/src/shared/errors.js";
import { FakeObserver } from "../support/element-page.js";

const config = { nLayer: 2, nHead: 2, nPositions: 4, nEmbd: 8, nInner: 32, vocabSize: 99 };

/** Head h of layer l looks only at token (l + h) modulo the number of tokens. */
function attentionOf(layer: number, tokens: number): Float32Array {
  const attention = new Float32Array(config.nHead * tokens);
  for (let head = 0; head < config.nHead; ++head) attention[head * tokens + ((layer + head) % tokens)] = 1;
  return attention;
}

function makeModel({ hasTokenizer = true } = {}) {
  const asked: { ids: number[]; top: number | null; change?: readonly Change[] | null }[] = [];
  return {
    asked,
    info: { config, hasTokenizer } as ModelInfo,
    detokenize: vi.fn(async ([id]: Iterable<number | bigint>) => `t${id}`),
    inspect: vi.fn(async (ids: unknown, { top = 0, change, signal, onProgress }: InspectOptions = {}) => {
      signal?.throwIfAborted();
      asked.push({ ids: ids as number[], top, ...(change && { change }) });
      const { length } = ids as number[];
      onProgress?.({ done: length, total: length });
      const guess = change
        ? { id: 8, text: " blue", logprob: Math.log(0.25) }
        : { id: 7, text: " red", logprob: Math.log(0.5) };
      const guesses = Array.from({ length: config.nLayer + 1 }, () => (top ? [guess] : []));
      const layers = Array.from({ length: config.nLayer }, (_, layer) => attentionOf(layer, length));
      return { guesses, layers } as unknown as Inspection;
    }),
  };
}

function mount(options: InsideOptions | null = {}) {
  const place = document.createElement("section");
  document.body.append(place);
  const view = showInside(place, options);
  const shadow = place.firstElementChild?.shadowRoot;
  const part = (selector: string) => shadow?.querySelector<HTMLElement>(selector) ?? document.body;
  const texts = (selector: string) =>
    [...(shadow?.querySelectorAll(selector) ?? [])].map(({ textContent }) => textContent);
  return { place, view, part, texts };
}

beforeEach(() => {
  document.body.replaceChildren();
  vi.stubGlobal("ResizeObserver", FakeObserver);
});

it("showInside draws the guess after each layer, one head's attention, and a symbol for each head", async () => {
  const { view, part, texts } = mount();
  const onProgress = vi.fn();
  const model = makeModel();
  await view.update({ model, ids: [3, 4, 5], onProgress });
  expect(model.asked).toEqual([{ ids: [3, 4, 5], top: 20 }]); // one pass for all layers
  expect(texts(".lens .stage")).toEqual(["Embedding", "Layer 1", "Layer 2"]);
  expect(texts(".lens .guess")).toEqual(["␣red", "␣red", "␣red"]);
  expect(part("figure:nth-of-type(2) .finding").textContent).toBe(
    "Layer 1, head 2, looks at “t4” 100%, “t5” 0.0%, “t3” 0.0%.",
  );
  const cells = [...part(".heads").querySelectorAll(".cell")];
  expect(cells.map((cell) => cell.getAttribute("aria-label"))).toEqual([
    "Layer 1, head 1: 100% to the first token",
    "Layer 1, head 2: 100% to the token before",
    "Layer 2, head 1: 100% to the token before",
    "Layer 2, head 2: 100% to the token itself",
  ]);
  expect(onProgress.mock.calls.map(([progress]) => progress)).toEqual([
    { stage: "reading", done: 3, total: 3 },
    { stage: "layers", done: 2, total: 2 },
  ]);
});

it("each picture that fills the width is drawn again when the width changes", async () => {
  const { place, view } = mount();
  const width = vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(600);
  await view.update({ model: makeModel(), ids: [3, 4, 5] });
  const svgs = () => place.firstElementChild?.shadowRoot?.querySelectorAll(".picture > svg[width]") ?? [];
  const widths = () => [...svgs()].map((svg) => svg.getAttribute("width"));
  expect(widths()).toContain("600");
  width.mockReturnValue(300);
  FakeObserver.all.at(-1)?.run([]);
  width.mockRestore();
  expect(new Set(widths())).toEqual(new Set(["300"]));
});

it("docs/how-to/page.md has a row for the diagram and for each picture", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/how-to/page.md"), "utf8");
  const rows = page.split("## Look inside")[1]?.split("\n\n")[2]?.split("\n").slice(2) ?? [];
  const { texts } = mount();
  expect(rows).toHaveLength(1 + texts("figure").length);
});

it("showInside looks at the token at `position`, with as many tokens before it as the context holds", async () => {
  const { view, part } = mount();
  const model = makeModel();
  await view.update({ model, ids: [0, 1, 2, 3, 4, 5, 6], position: 5 });
  expect(model.asked[0]?.ids).toEqual([2, 3, 4, 5]);
  expect(part(".finding").textContent).toContain("In the text, “t6” comes next.");
  // The list counts tokens from the beginning of the text.
  expect(part("figure:nth-of-type(2) tbody th").textContent).toBe("4");
});

it("`onHead` receives the weights of the head that the reader chooses", async () => {
  const onHead = vi.fn();
  const { view, part } = mount({ onHead, head: { layer: 0, head: 0 } });
  await view.update({ model: makeModel(), ids: [3, 4, 5] });
  const of = (layer: number, head: number, ...weights: number[]) => ({
    ...{ layer, head, first: 0 },
    weights: Float32Array.from(weights),
  });
  expect(onHead).toHaveBeenLastCalledWith(of(0, 0, 1, 0, 0));
  part("#head-1-1").dispatchEvent(new MouseEvent("click"));
  expect(onHead).toHaveBeenLastCalledWith(of(1, 1, 0, 0, 1));
  expect(view.head).toEqual({ layer: 1, head: 1 });
});

it("a head that is switched off changes the pictures, and can be switched on again", async () => {
  const { view, part, texts } = mount({ head: { layer: 1, head: 0 } });
  const model = makeModel();
  await view.update({ model, ids: [3, 4] });
  const finding = () => part("figure:nth-of-type(4) .finding").textContent;
  expect(finding()).toBe("Every part is switched on.");
  const press = (selector: string) => part(selector).dispatchEvent(new MouseEvent("click"));

  press("figure:nth-of-type(4) .controls button");
  await vi.waitUntil(() => finding() === "The guess was “␣red”, 50%. Now it is “␣blue”, 25%.");
  const off = [{ at: "blocks.1.attn.z", head: 0, set: 0 }];
  expect(model.asked.slice(1)).toEqual([
    { ids: [3, 4], top: 20 },
    { ids: [3, 4], top: 20, change: off },
  ]);
  expect(texts(".compared td")).toEqual(["50%", "< 25%", "< 50%", "25%"]);
  expect(texts(".lens .guess")[2]).toBe("␣blue");
  expect(part("#head-1-0").getAttribute("aria-label")).toBe("Layer 2, head 1: switched off");
  expect(texts(".controls button")).toEqual(["Switch on layer 2, head 1", "Switch off layer 2’s MLP"]);
  expect(texts(".off button")).toEqual(["layer 2, head 1 ✕"]);

  press(".off button");
  await vi.waitUntil(() => finding() === "Every part is switched on.");
  expect(texts(".off button")).toEqual([]);
});

it("`onChange` gets the changes, and the site's `update` shows them", async () => {
  const onChange = vi.fn();
  const { view, part, texts } = mount({ onChange, head: { layer: 0, head: 1 } });
  const model = makeModel();
  await view.update({ model, ids: [3] });
  part(".controls button:last-child").dispatchEvent(new MouseEvent("click"));
  const off = { at: "blocks.0.mlp_out", set: 0 };
  expect(onChange.mock.calls).toEqual([[[off]]]);
  expect(model.asked).toHaveLength(1); // nothing is asked without the site
  const other = { at: "blocks.1.resid_pre", scale: 2 };
  await view.update({ model, ids: [3], change: [off, other] });
  expect(model.asked.at(-1)?.change).toEqual([off, other]);
  expect(texts(".off button")).toEqual(["layer 1’s MLP ✕", "blocks.1.resid_pre ✕", "Switch all on"]);
  part(".off li:last-child button").dispatchEvent(new MouseEvent("click"));
  expect(onChange).toHaveBeenLastCalledWith([]);
});

it("a switch that the model refuses is undone, and another model begins with all parts", async () => {
  const { view, part, texts } = mount({ head: { layer: 0, head: 0 } });
  const model = makeModel();
  await view.update({ model, ids: [3, 4] });
  model.inspect.mockRejectedValueOnce(new Error("no memory"));
  part(".controls button").dispatchEvent(new MouseEvent("click"));
  expect(texts(".off button")).toHaveLength(1);
  await vi.waitUntil(() => texts(".off button").length === 0);
  expect(part(".pictures").className).toBe("pictures");

  part(".controls button").dispatchEvent(new MouseEvent("click"));
  await vi.waitUntil(() => model.asked.at(-1)?.change);
  const other = makeModel();
  await view.update({ model: other, ids: [3, 4] });
  expect(other.asked).toEqual([{ ids: [3, 4], top: 20 }]);
  expect(texts(".off button")).toEqual([]);
});

it("only a whole head or MLP that is set to 0 counts as switched off", async () => {
  const { view, part, texts } = mount({ head: { layer: 0, head: 0 } });
  const change = [
    { at: "blocks.0.attn.z", head: 0, scale: 0.5 },
    { at: "blocks.0.attn.z", head: 0, position: 1, set: 0 },
    { at: "blocks.*.mlp_out", set: 0 },
  ];
  await view.update({ model: makeModel(), ids: [3, 4], change });
  expect(texts(".controls button")).toEqual(["Switch off layer 1, head 1", "Switch off layer 1’s MLP"]);
  expect(texts(".off button").slice(1, 3)).toEqual(["blocks.0.attn.z ✕", "blocks.*.mlp_out ✕"]);
  expect(part(".off button").getAttribute("aria-label")).toBe("Undo the change of blocks.0.attn.z");
  const focused = part(".off li:nth-child(3) button");
  part("#head-1-1").dispatchEvent(new MouseEvent("click"));
  expect(part(".off li:nth-child(3) button")).toBe(focused); // it keeps the focus
});

it("another update aborts the one that runs, and shows its own token", async () => {
  const { view, texts } = mount();
  const model = makeModel();
  const first = view.update({ model, ids: [1], texts: ["one"] });
  const second = view.update({ model, ids: [2], texts: ["two"] });
  await expect(first).rejects.toMatchObject({ name: "AbortError" });
  await second;
  expect(texts(".arcs .name")).toEqual(["two"]);
});

it("an aborted signal rejects; a model's error and `clear` hide the pictures until the next update", async () => {
  const { view, part } = mount();
  const model = makeModel();
  await view.update({ model, ids: [1, 2] });
  expect(part(".pictures").className).toBe("pictures");
  const aborted = view.update({ model, ids: [1], signal: AbortSignal.abort() });
  await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
  expect(part(".pictures").className).toBe("pictures stale");
  model.inspect.mockRejectedValueOnce(new Error("the worker died"));
  await expect(view.update({ model, ids: [1] })).rejects.toThrow("the worker died");
  expect(part(".pictures").classList.contains("cleared")).toBe(true);
  await view.update({ model, ids: [1, 2] });
  expect(part(".pictures").className).toBe("pictures");
  view.clear();
  expect(part(".pictures").classList.contains("cleared")).toBe(true);
});

it("`remove` leaves nothing, and an update after it rejects and asks the model nothing", async () => {
  const { place, view } = mount();
  const model = makeModel();
  const running = view.update({ model, ids: [1] });
  view.remove();
  expect(place.childNodes.length).toBe(0);
  const removed = { name: "AbortError", message: "the figures were removed from the page" };
  await expect(running).rejects.toMatchObject(removed);
  const before = [model.asked.length, model.detokenize.mock.calls.length];
  await expect(view.update({ model, ids: [1, 2] })).rejects.toMatchObject(removed);
  expect([model.asked.length, model.detokenize.mock.calls.length]).toEqual(before);
});

it("null for the options, and for each of them, means none", async () => {
  const none = { words: null, language: null, head: null, legend: null, onHead: null };
  for (const options of [null, none]) {
    const { view, texts } = mount(options);
    const token = { position: null, texts: null, signal: null, onProgress: null };
    await view.update({ model: makeModel(), ids: [12], ...token });
    expect(texts(".arcs .name")).toEqual(["t12"]);
  }
});

it("the head that was chosen in a larger model becomes the last one of a smaller one", async () => {
  const { view, part } = mount({ head: { layer: 0, head: 0 } });
  await view.update({ model: makeModel(), ids: [1, 2] });
  part("#head-1-1").dispatchEvent(new MouseEvent("click"));
  const small = makeModel();
  small.info = { ...small.info, config: { ...config, nLayer: 1, nHead: 1 } } as ModelInfo;
  await view.update({ model: small, ids: [1, 2] });
  expect(view.head).toEqual({ layer: 0, head: 0 });
});

it("a model without a tokenizer shows ids", async () => {
  const { view, texts } = mount();
  const model = makeModel({ hasTokenizer: false });
  await view.update({ model, ids: [12] });
  expect(texts(".arcs .name")).toEqual(["#12"]);
  expect(model.detokenize).not.toHaveBeenCalled();
});

it("the figures take words, and write numbers as in their language", async () => {
  const words = { layers: { one: "{count} Schicht", other: "{count} Schichten" }, lens: "Vermutungen" };
  const { view, part, texts } = mount({ words, language: "de" });
  await view.update({ model: makeModel(), ids: [1] });
  expect(part(".layers-name").textContent).toBe("2 Schichten");
  expect(part("h3").textContent).toBe("Vermutungen");
  expect(texts(".lens .share")[0]).toBe("50\u00a0%");
  expect(part("summary").textContent).toBe(insideWords.asTable); // missing words stay English
});

it("a legend of the site appears above the arcs, and no id of a view is one of the page's", () => {
  const legend = document.createElement("p");
  const { place } = mount({ legend });
  expect([legend.parentElement, legend.slot]).toEqual([place.firstElementChild, "legend"]);
  mount();
  expect(document.querySelectorAll("[id]").length).toBe(0);
});

const headOf = (layer: unknown, head: unknown) => ({ head: { layer, head } });
const whole = "expected a whole number";

it.each<[unknown, string]>([
  [{ words: { lense: "Vermutung" } }, 'words has the unknown name "lense"'],
  [{ words: { lens: 3 } }, 'words["lens"] is 3, expected text'],
  [{ words: { layers: "x" } }, 'words["layers"] is "x", expected forms with the key other'],
  [{ words: "de" }, 'words is "de", expected an object'],
  [{ language: "not a tag" }, 'language is "not a tag", expected a BCP 47 tag'],
  ["de", 'the options of showInside are "de", expected an object'],
  [{ legends: null }, 'unknown option "legends" of showInside'],
  [{ head: 3 }, "head is 3, expected an object with layer and head"],
  [{ head: [1, 2] }, "head is an array, expected an object with layer and head"],
  [headOf(0, -1), `head.head is -1, ${whole} from 0 or more`],
  [headOf(undefined, 0), `head.layer is undefined, ${whole}`],
  [{ legend: "Tints" }, 'legend is "Tints", expected an element of the page'],
  [{ onHead: {} }, "onHead is an object, expected a function"],
])("the options %j are refused", (options, message) => {
  expect(() => showInside(document.body, options as InsideOptions)).toThrow(message);
  expect(document.body.childElementCount).toBe(0);
});

it.each<[string, unknown]>([
  ["null", null],
  ['"#place"', "#place"],
  ["an object", {}],
  ["an object", document],
])("%s is not an element, and is refused", (found, element) => {
  expect(() => showInside(element as Element)).toThrow(
    `element is ${found}, expected an element of the page`,
  );
});

const sizeless = { info: null, inspect: () => undefined, detokenize: () => undefined };

it.each<[unknown, string]>([
  [undefined, "ids is undefined, expected an array of token ids"],
  ["Once", 'the options of update are "Once", expected an object'],
  [{ positions: 1 }, 'unknown option "positions" of update'],
  [{ model: null }, "model is undefined, expected a model of loadModel"],
  [{ model: "gpt2" }, 'model is "gpt2", expected a model of loadModel'],
  [{ model: sizeless }, "model is an object, expected a model of loadModel"],
  [{ ids: [] }, "ids is empty, expected at least one token id"],
  [{ change: {} }, "change is an object, expected a list of changes"],
  [{ change: [{}] }, "change[0] is an object, expected a change with the name of a place"],
  [{ ids: [1, "2"] }, 'ids[1] is "2", expected a token id'],
  [{ ids: [1, 2], position: 2 }, `position is 2, ${whole} from 0 to 1`],
  [{ ids: [1, 2], texts: ["a"] }, "texts has 1 texts for 2 ids"],
  [{ texts: "a" }, 'texts is "a", expected an array of texts'],
  [{ texts: [7] }, "texts[0] is 7, expected text"],
  [{ signal: {} }, "signal is an object, expected an AbortSignal"],
  [{ onProgress: 1 }, "onProgress is 1, expected a function"],
])("an update with %j is refused, and the model is asked nothing", async (token, message) => {
  const { view } = mount();
  const model = makeModel();
  const given = Object(token) === token ? { model, ids: [1], ...(token as object) } : token;
  await expect(view.update(given as InsideToken)).rejects.toThrow(message);
  await expect(view.update(given as InsideToken)).rejects.toBeInstanceOf(InvalidArgumentError);
  expect(model.asked).toEqual([]);
});

it.each([
  [{ layer: 2, head: 0 }, "head.layer is 2, expected a whole number from 0 to 1"],
  [{ layer: 0, head: 2 }, "head.head is 2, expected a whole number from 0 to 1"],
])("the head %j, which the model does not have, is refused", async (head, message) => {
  const { view } = mount({ head });
  const model = makeModel();
  await expect(view.update({ model, ids: [1] })).rejects.toThrow(message);
  expect(model.asked).toEqual([]);
});
