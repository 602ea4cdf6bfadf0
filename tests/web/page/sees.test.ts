// @vitest-environment happy-dom
// The view of what the model sees, mounted alone, with a text, a state made by hand, and a model that reads letters.
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Model } from "../../../web/src/client/index.js";
import { RequestQueue } from "../../../web/page/assistant/request-queue.js";
import { fieldSteps, mirrorFields } from "../../../web/page/document/fields.js";
import { modeField, setMode } from "../../../web/page/document/view-mode.js";
import { seeingContext } from "../../../web/page/parts/sees/opening.js";
import { PageState } from "../../../web/page/state/page-state.js";

const model = {
  info: { hasTokenizer: true, config: { nPositions: 32 } },
  tokenize: (text: string) => Promise.resolve(Array.from(text, (letter) => letter.codePointAt(0) ?? 0)),
  detokenize: (ids: readonly number[]) => Promise.resolve(String.fromCodePoint(...ids)),
} as unknown as Model;

function mount(doc: string) {
  document.body.innerHTML = '<button id="tab-sees"></button><div id="parent"></div>';
  const [tab, parent] = [document.querySelector("button"), document.querySelector("div")];
  if (!tab || !parent) throw new Error("the page is not there");
  const state = new PageState({ source: "models/demo/", name: "demo" });
  state.model.value = { kind: "ready", model, traffic: { network: 0, cache: 0 } };
  const said: string[] = [];
  const tell = (sentence: () => string) => said.push(sentence());
  const noteChange = vi.fn();
  const queue = new RequestQueue(() => Promise.resolve(model));
  const view = new EditorView({
    state: EditorState.create({
      doc,
      selection: { anchor: doc.length },
      extensions: [
        modeField,
        fieldSteps(undefined),
        mirrorFields(state.fields),
        seeingContext({ state, tab, text: parent, queue, noteChange, tell }),
      ],
    }),
    parent,
  });
  const fields = () => [...document.querySelectorAll<HTMLTextAreaElement>("#sees textarea")];
  const grey = () => [...view.dom.querySelectorAll(".unread")].map((part) => part.textContent).join("");
  const lines = () => [...view.dom.querySelectorAll(".beside")].map((line) => line.textContent);
  const type = (place: number, text: string) => {
    const field = fields()[place];
    if (!field) throw new Error("no field");
    field.value = text;
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  };
  return { view, state, tab, said, noteChange, fields, grey, lines, type };
}

let mounted: ReturnType<typeof mount> | undefined;
const begin = (doc: string) => (mounted = mount(doc));

beforeEach(() => vi.stubGlobal("requestAnimationFrame", (run: () => void) => setTimeout(run, 0)));
afterEach(() => {
  mounted?.view.destroy();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it("the view appears when it is chosen, and disappears with the grey when another one is", async () => {
  const { view, fields, grey, said } = begin("a".repeat(40));
  expect(fields()).toEqual([]);
  view.dispatch({ effects: setMode.of("sees") });
  await vi.waitFor(() => expect(grey()).toBe("a".repeat(16))); // two eighths of the window are dropped at once
  expect(said.at(-1)).toBe("Words read: 1 of 1. Tokens: 24 of at most 32.");
  expect(document.querySelector<HTMLElement>("#sees")?.hidden).toBe(false);
  view.dispatch({ effects: setMode.of("text") });
  await vi.waitFor(() => expect(document.querySelector<HTMLElement>("#sees")?.hidden).toBe(true));
  expect(grey()).toBe("");
});

it.each([
  [true, "below"],
  [false, "above"],
])("the fields are placed with the text in view: in a narrow window (%s) %s it", async (matches, where) => {
  vi.spyOn(window, "matchMedia").mockReturnValue({
    matches,
    addEventListener() {},
    removeEventListener() {},
  } as unknown as MediaQueryList);
  const { view } = begin("A.");
  view.dispatch({ effects: setMode.of("sees") });
  await vi.waitFor(() => expect(document.querySelector("#sees")).not.toBeNull());
  const fields = document.querySelector("#sees");
  const text = view.dom.parentElement;
  expect(where === "below" ? text?.nextElementSibling : text?.previousElementSibling).toBe(fields);
});

it("the view counts words as the library does: a dash is not a word", async () => {
  const { view, said } = begin("one — two");
  view.dispatch({ effects: setMode.of("sees") });
  await vi.waitFor(() => expect(said.at(-1)).toBe("Words read: 2 of 2. Tokens: 9 of at most 32."));
});

it("a filled field is stored in the state, and shown in the text where the model reads it", async () => {
  const { view, state, tab, fields, lines, type, noteChange } = begin("A. B. C. D");
  view.dispatch({ effects: setMode.of("sees") });
  await vi.waitFor(() => expect(fields()).toHaveLength(2));
  expect(fields().map(({ labels }) => labels[0]?.textContent)).toEqual(["Always remember", "Note"]);
  type(0, "M.");
  type(1, "N.");
  expect(state.fields.value).toEqual({ remember: "M.", note: "N." });
  expect(noteChange).toHaveBeenCalledTimes(2);
  expect(tab.classList.contains("is-set")).toBe(true);
  await vi.waitFor(() => expect(lines()).toEqual(["Always remember M.", "Note N."]));
  expect(view.contentDOM.textContent).toBe("Always remember M.A. Note N.B. C. D");
  type(0, " ");
  type(1, "");
  expect(state.fields.value).toBeUndefined();
  await vi.waitFor(() => expect(lines()).toEqual([]));
  expect(fields()[0]?.value).toBe(" "); // more may follow
});

it("the view shows the fields of another text, and says if they are too long", async () => {
  const { view, state, said, fields, lines, grey } = begin("A.");
  view.dispatch({ effects: setMode.of("sees") });
  await vi.waitFor(() => expect(fields()).toHaveLength(2));
  state.fields.value = { remember: "", note: "An old note." };
  await vi.waitFor(() => expect(lines()).toEqual(["Note An old note."]));
  state.fields.value = { remember: "x".repeat(20), note: "N." };
  expect(fields().map(({ value }) => value)).toEqual(["x".repeat(20), "N."]);
  await vi.waitFor(() => expect(said.at(-1)).toContain("have 24 tokens together"));
  expect(fields()[1]?.ariaInvalid).toBe("true");
  expect([lines(), grey()]).toEqual([[], "A."]);
  state.fields.value = { remember: "", note: "N." };
  await vi.waitFor(() => expect(lines()).toEqual(["Note N."]));
  expect(grey()).toBe("");
  expect(fields()[1]?.ariaInvalid).toBeNull();
});
