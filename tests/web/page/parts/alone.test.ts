// @vitest-environment happy-dom
// Small parts of the page, each mounted alone. The tests in tests/e2e use them together, in a browser.
import { EditorView } from "@codemirror/view";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { currentLanguage } from "../../../../web/page/language/translation.js";
import type { Surface } from "../../../../web/page/document/surface.js";
import { Notes } from "../../../../web/page/dom/notes.js";
import { offerAlternatives } from "../../../../web/page/parts/bar/alternatives.js";
import { offerMenu } from "../../../../web/page/parts/bar/menu.js";
import { offerDevice } from "../../../../web/page/parts/device/offer.js";
import { welcome } from "../../../../web/page/parts/first-visit/first-visit.js";
import { offerKeys } from "../../../../web/page/parts/keys/sheet.js";
import { offerLanguages } from "../../../../web/page/parts/language/show.js";
import { foreignNote } from "../../../../web/page/parts/notes/foreign.js";
import { offerPanel } from "../../../../web/page/parts/panel/panel.js";
import { offerSavingText } from "../../../../web/page/parts/save-text/offer.js";
import { isOff, makeState, mountMarkup, pressKey } from "../../support/page-part.js";

const { download } = vi.hoisted(() => ({ download: vi.fn() }));
vi.mock("../../../../web/page/dom/download.js", () => ({ download }));
vi.mock(import("../../../../web/src/client/index.js"), async (original) => ({
  ...(await original()),
  explainEnvironment: () => Promise.reject(new Error("no worker")),
}));

beforeEach(() => localStorage.clear());

it("keys show no other alternative while the model writes", () => {
  const ui = mountMarkup("alternatives", "alternative", "earlier", "later", "generate", "editor");
  const state = makeState();
  const showAlternative = vi.fn(() => true);
  offerAlternatives(ui, state, { alternative: { place: 1, count: 3 }, showAlternative });
  expect(ui.alternative.textContent).toBe("2/3");
  state.activity.value = { kind: "writing", stop: async () => {} };
  pressKey(document, "PageDown", { altKey: true });
  expect([showAlternative.mock.calls.length, isOff(ui.later)]).toEqual([0, true]);
  state.activity.value = { kind: "idle" };
  pressKey(document, "PageDown", { altKey: true });
  expect(showAlternative).toHaveBeenCalledWith(1);
});

it("the arrow keys move within the menu, an item opens its section, and Escape returns the focus", () => {
  const ui = mountMarkup(
    "panel",
    "panelClose",
    "menu",
    "menuButton",
    "libraryOpen",
    "presetShown",
    "undo",
    "redo",
  );
  const state = makeState();
  offerMenu(ui);
  offerPanel(ui, state);
  ui.menuButton.click();
  const items = [...ui.menu.querySelectorAll("button")];
  pressKey(ui.menu, "ArrowUp");
  expect(document.activeElement).toBe(items.at(-1));
  pressKey(ui.menu, "ArrowDown");
  expect(document.activeElement).toBe(items[0]);
  ui.menu.querySelector<HTMLElement>("[data-section=saving-texts]")?.click();
  expect([ui.menu.hidden, state.panel.value]).toEqual([true, "saving-texts"]);
  const summary = document.querySelector("#saving-texts[open] summary") ?? expect.fail("it is closed");
  expect(document.activeElement).toBe(summary);
  pressKey(summary, "Escape");
  expect([ui.panel.hidden, document.activeElement]).toEqual([true, ui.menuButton]);
});

it("the section Device says why the state of the engine could not be read", async () => {
  const ui = mountMarkup("device", "devicePanel");
  const ignore = () => {};
  offerDevice(ui, makeState(), ignore, ignore);
  expect(ui.devicePanel.childElementCount).toBe(0);
  ui.device.open = true;
  ui.device.dispatchEvent(new Event("toggle"));
  const status = () => ui.devicePanel.querySelector("[role=status]")?.textContent;
  const sentence = "The state of the engine could not be read: no worker.";
  await vi.waitUntil(() => status() === sentence, 20_000);
  expect(isOff(ui.devicePanel.querySelector("button"))).toBe(true); // without a model there is nothing to measure
});

it("the example of a first visit stays until the visitor chooses another model", async () => {
  vi.spyOn(performance, "now").mockReturnValue(10_000); // the page has been open for long
  onTestFinished(() => void vi.restoreAllMocks());
  const ui = mountMarkup("form", "inside", "draft", "generate");
  const state = makeState();
  const surface = { kept: { text: "", caret: 0, written: [] } } as unknown as Surface;
  await welcome({ ui, state, surface, goOnWith: vi.fn(), speak: vi.fn() });
  const isHidden = () => document.querySelector<HTMLElement>("#example")?.hidden;
  expect(isHidden()).toBe(false);
  state.chosen.value = { source: "hf:user/other", name: "user/other" };
  expect(isHidden()).toBe(true);
});

it("a question mark opens the list of keys, but not in a text field", () => {
  const { keys } = mountMarkup("keys");
  offerKeys(keys);
  const field = document.createElement("textarea");
  document.body.append(field);
  pressKey(field, "?");
  expect(document.querySelector("dialog")).toBeNull();
  pressKey(document.body, "?");
  expect(document.querySelector("dialog")?.open).toBe(true);
});

it("choosing German brings its words", async () => {
  const ui = mountMarkup("language");
  const english = currentLanguage.peek();
  onTestFinished(() => void (currentLanguage.value = english));
  offerLanguages(ui, makeState());
  ui.language.value = "de";
  ui.language.dispatchEvent(new Event("change"));
  await vi.waitUntil(() => currentLanguage.peek().language === "de");
  expect(currentLanguage.peek().words?.start.stop).toBe("Stopp");
});

it("German text gets a note, unless the model wrote it", () => {
  const ui = mountMarkup("noteText", "noteButton", "generate");
  const notes = new Notes({ text: ui.noteText, button: ui.noteButton, next: ui.generate });
  const view = new EditorView({ extensions: foreignNote(notes, () => "en", vi.fn()) });
  const german = "Es war einmal ein kleines Mädchen, das wohnte mit der Mutter in einem Haus am Wald.";
  const insert = (userEvent: string) => {
    const changes = { from: 0, to: view.state.doc.length, insert: german };
    view.dispatch({ changes, selection: { anchor: german.length }, userEvent });
  };
  insert("model");
  expect(ui.noteText.textContent).toBe("");
  insert("input.type");
  expect(ui.noteText.textContent).toContain("English");
});

it("a format saves the text as it is when its button is pressed", async () => {
  const ui = mountMarkup("textSavingFormats", "textSavingStatus");
  let text = "Once";
  offerSavingText(ui, () => ({ kept: { text, caret: 0, written: [] }, tree: undefined, model: "demo" }));
  text = "Once upon a time";
  ui.textSavingFormats.querySelector("button")?.click();
  const [name, [blob], type] = download.mock.calls[0] as [string, [Blob], string];
  expect([name, type]).toEqual(["once-upon-a-time.txt", "text/plain;charset=utf-8"]);
  expect(await blob.text()).toBe(text);
});
