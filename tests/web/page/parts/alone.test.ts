// @vitest-environment happy-dom
// Small parts of the page, each mounted alone. The tests in tests/e2e use them together, in a browser.
import { EditorView } from "@codemirror/view";
import { signal } from "@preact/signals-core";
import { beforeEach, expect, it, vi } from "vitest";
import type { Surface } from "../../../../web/page/document/surface.js";
import { RequestQueue } from "../../../../web/page/assistant/request-queue.js";
import { Notes } from "../../../../web/page/dom/notes.js";
import { Gpt2Error } from "../../../../web/src/shared/errors.js";
import { offerAlternatives } from "../../../../web/page/parts/bar/alternatives.js";
import { offerMenu } from "../../../../web/page/parts/bar/menu.js";
import { offerDevice } from "../../../../web/page/parts/device/offer.js";
import { welcome } from "../../../../web/page/parts/first-visit/first-visit.js";
import { deviceModelOf, parseDeviceModel } from "../../../../web/page/models/device-model.js";
import { offerDeviceModel } from "../../../../web/page/parts/notes/device-model.js";
import { foreignNote } from "../../../../web/page/parts/notes/foreign.js";
import { offerPanel } from "../../../../web/page/parts/panel/panel.js";
import { showStatus } from "../../../../web/page/parts/status/status.js";
import { suggesting } from "../../../../web/page/parts/suggestions/suggesting.js";
import { isOff, makeState, mountMarkup, pressKey, settle } from "../../support/page-part.js";

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
    ...(["panel", "panelClose", "menu", "menuButton", "libraryOpen", "presetShown", "undo", "redo"] as const),
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
  offerDevice(ui, makeState(), () => {});
  expect(ui.devicePanel.childElementCount).toBe(0);
  ui.device.open = true;
  ui.device.dispatchEvent(new Event("toggle"));
  const status = () => ui.devicePanel.querySelector("[role=status]")?.textContent;
  const sentence = "The state of the engine could not be read: no worker.";
  await vi.waitUntil(() => status() === sentence, 20_000);
});

it("the example of a first visit stays until the visitor chooses another model", async () => {
  vi.spyOn(performance, "now").mockReturnValue(10_000); // the page has been open for long
  const ui = mountMarkup("form", "inside", "draft", "generate");
  const state = makeState();
  const surface = { kept: { text: "", caret: 0, written: [] } } as unknown as Surface;
  await welcome({ ui, state, surface, goOnWith: vi.fn(), speak: vi.fn() });
  const isHidden = () => document.querySelector<HTMLElement>("#example")?.hidden;
  expect(isHidden()).toBe(false);
  state.chosen.value = { source: "hf:user/other", name: "user/other" };
  expect(isHidden()).toBe(true);
});

it("German text gets a note, unless the model wrote it", () => {
  const ui = mountMarkup("noteText", "noteButton", "noteClose", "generate");
  const notes = new Notes(ui);
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

it("a text of a model of this device offers to choose it again, until another model is chosen", () => {
  const ui = mountMarkup("noteText", "noteButton", "noteClose", "generate", "pickFolder", "pickFiles");
  const state = makeState();
  const wanted = signal(parseDeviceModel({}));
  const [folder, file] = [vi.spyOn(ui.pickFolder, "click"), vi.spyOn(ui.pickFiles, "click")];
  offerDeviceModel(new Notes(ui), ui, state, wanted);
  wanted.value = parseDeviceModel(deviceModelOf({ source: [new File([], "config.json")], name: "Tale" }));
  expect(ui.noteText.textContent).toContain("with Tale from this device");
  ui.noteButton.click();
  wanted.value = deviceModelOf({ source: [new File([], "t.gguf")], name: "t.gguf" });
  ui.noteButton.click();
  expect([folder.mock.calls.length, file.mock.calls.length]).toEqual([1, 1]);
  expect(ui.noteText.textContent).toContain("with t.gguf from this device"); // the picker may be closed
  state.chosen.value = { source: [new File([], "t.gguf")], name: "t.gguf" };
  expect(ui.noteText.textContent).toBe("");
  expect([deviceModelOf({ source: "hf:a/b", name: "b" }), parseDeviceModel({})]).toEqual([
    undefined,
    undefined,
  ]);
});

it("a status is announced once; one that describes the text disappears with the next change", () => {
  const ui = mountMarkup(
    ...(["error", "errorText", "errorRepair", "errorReset"] as const),
    ...(["loading", "loadingCancel", "generate", "finish"] as const),
  );
  const speech = { status: vi.fn() };
  const state = makeState();
  showStatus(ui, state, speech);
  state.say(() => "Finished.");
  state.say(() => "Finished.");
  expect(speech.status.mock.calls.filter(([said]) => said === "Finished.")).toHaveLength(1);
  state.text.value += 1;
  expect(ui.finish.textContent).toBe("Finished."); // it stays true
  state.sayOfText(() => "Opened: Cats");
  state.text.value += 1;
  expect(ui.finish.textContent).toBe("");
});

it.each([
  [
    new Gpt2Error("corrupt", "h.0.ln_1.weight, row 160"),
    "the model's files are damaged",
    "h.0.ln_1.weight, row 160",
  ],
  [new TypeError("Failed to fetch dynamically imported module"), "check your connection", "Failed to fetch"],
  [new SyntaxError("Unexpected token"), "an unexpected error", "Unexpected token"],
  [new Gpt2Error("invalid-argument", "n is 3."), "n is 3", undefined],
  [new Error("The page wrote it"), "The page wrote it", undefined],
])("the error %s is said in plain words, and its message is in the details", async (error, why, detail) => {
  const ui = mountMarkup(
    ...(["error", "errorText", "errorRepair", "errorReset"] as const),
    ...(["loading", "loadingCancel", "generate", "finish"] as const),
  );
  const state = makeState();
  showStatus(ui, state, { status: vi.fn() });
  state.showError((why) => why, error);
  await vi.waitUntil(() => !ui.error.hidden);
  expect(ui.errorText.firstChild?.textContent).toContain(why);
  expect(ui.errorText.querySelector("details")?.lastChild?.textContent?.slice(0, detail?.length)).toBe(
    detail,
  );
});

it.each([
  ["asks the model once, and a failure is reported", {}, 1],
  ["asks nothing while a value is refused", undefined, 0],
])("Tab %s", async (_, options, times) => {
  const ui = mountMarkup("dock", "suggestionBar");
  const needModel = vi.fn(() => Promise.reject(new Error("no network")));
  const fail = vi.fn();
  const setting = { dock: ui.dock, bar: ui.suggestionBar, queue: new RequestQueue(() => undefined) };
  const given = { needModel, fail, say: vi.fn(), speak: vi.fn(), fields: () => undefined };
  const extensions = suggesting({ ...setting, ...given, sampling: () => options });
  pressKey(new EditorView({ extensions, parent: document.body }).contentDOM, "Tab");
  await settle();
  expect([needModel.mock.calls.length, fail.mock.calls.length]).toEqual([times, times]);
});
