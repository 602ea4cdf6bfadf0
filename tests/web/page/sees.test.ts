// @vitest-environment happy-dom
// The view of what the model sees, mounted alone, with a model that reads letters. context.spec.ts uses it on the page.
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { expect, it, onTestFinished, vi } from "vitest";
import type { Model } from "../../../web/src/client/index.js";
import { RequestQueue } from "../../../web/page/assistant/request-queue.js";
import { fieldSteps, mirrorFields } from "../../../web/page/document/fields.js";
import { modeField, setMode } from "../../../web/page/document/view-mode.js";
import { seeingContext } from "../../../web/page/parts/sees/opening.js";
import { PageState } from "../../../web/page/state/page-state.js";

const model = {
  info: { hasTokenizer: true, config: { nPositions: 32 } },
  tokenize: (text: string) => {
    const starts = Array.from(text, (_, index) => index);
    return Promise.resolve({ ids: starts, starts, ends: starts.map((start) => start + 1) });
  },
} as unknown as Model;

/** Opens the view on `doc`, and returns the last sentence about it. */
function open(doc: string) {
  document.body.innerHTML = '<button id="tab-sees"></button><div id="parent"></div>';
  const [tab, parent] = [document.querySelector("button"), document.querySelector("div")];
  if (!tab || !parent) throw new Error("the page is not there");
  const state = new PageState({ source: "models/demo/", name: "demo" });
  state.model.value = { kind: "ready", model, traffic: { network: 0, cache: 0 } };
  const said: string[] = [];
  const tell = (sentence: () => string) => said.push(sentence());
  const queue = new RequestQueue(() => Promise.resolve(model));
  const seeing = seeingContext({ state, tab, text: parent, queue, noteChange: vi.fn(), tell });
  const extensions = [modeField, fieldSteps(undefined), mirrorFields(state.fields), seeing];
  const editor = EditorState.create({ doc, selection: { anchor: doc.length }, extensions });
  const view = new EditorView({ state: editor, parent });
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => setTimeout(run, 0));
  onTestFinished(() => {
    view.destroy();
  });
  view.dispatch({ effects: setMode.of("sees") });
  return { view, parent, state, said: () => said.at(-1) };
}

it("the grey of the view disappears with the view", async () => {
  const { view, said } = open("a".repeat(40));
  const grey = () => [...view.dom.querySelectorAll(".unread")].map((part) => part.textContent).join("");
  await vi.waitFor(() => expect(grey()).toBe("a".repeat(16))); // two eighths of the window are dropped at once
  expect(said()).toBe("Words read: 1 of 1. Tokens: 24 of at most 32.");
  view.dispatch({ effects: setMode.of("text") });
  await vi.waitFor(() => expect(document.querySelector<HTMLElement>("#sees")?.hidden).toBe(true));
  expect(grey()).toBe("");
});

it("the view counts words as the library does: a dash is not a word", async () => {
  const { said } = open("one — two");
  await vi.waitFor(() => expect(said()).toBe("Words read: 2 of 2. Tokens: 9 of at most 32."));
});

it.each([
  [true, "below"],
  [false, "above"],
])("the fields are placed with the text in view: in a narrow window (%s) %s it", async (matches, where) => {
  const query = { matches, addEventListener() {}, removeEventListener() {} };
  vi.spyOn(window, "matchMedia").mockReturnValue(query as unknown as MediaQueryList);
  const { parent } = open("A.");
  await vi.waitFor(() => expect(document.querySelector("#sees")).not.toBeNull());
  const beside = where === "below" ? parent.nextElementSibling : parent.previousElementSibling;
  expect(beside?.id).toBe("sees");
});

it("fields that are too long are reported, and nothing is shown as read or unread until they fit", async () => {
  const { view, state, said } = open("A.");
  const fields = () => [...document.querySelectorAll<HTMLTextAreaElement>("#sees textarea")];
  const shown = () => [...view.dom.querySelectorAll(".beside, .unread")].map((line) => line.textContent);
  await vi.waitFor(() => expect(fields()).toHaveLength(2));
  state.fields.value = { remember: "", note: "An old note." };
  await vi.waitFor(() => expect(shown()).toEqual(["Note An old note."]));
  state.fields.value = { remember: "x".repeat(20), note: "N." };
  await vi.waitFor(() => expect(said()).toContain("have 24 tokens together"));
  expect([fields().map(({ value }) => value), shown()]).toEqual([["x".repeat(20), "N."], ["A."]]);
  expect(fields()[1]?.ariaInvalid).toBe("true");
  state.fields.value = { remember: "", note: "N." };
  await vi.waitFor(() => expect(shown()).toEqual(["Note N."]));
  expect(fields()[1]?.ariaInvalid).toBeNull();
});
