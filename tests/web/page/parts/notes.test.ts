// @vitest-environment happy-dom
// The notes about the visitor's text, in an editor alone.
import { EditorView } from "@codemirror/view";
import { beforeEach, expect, it, vi } from "vitest";
import { Notes } from "../../../../web/page/dom/notes.js";
import { foreignNote } from "../../../../web/page/parts/notes/foreign.js";
import { questionNote } from "../../../../web/page/parts/notes/question.js";
import { mountMarkup } from "../../support/page-part.js";

function mount() {
  const ui = mountMarkup("noteText", "noteButton", "generate");
  const notes = new Notes({ text: ui.noteText, button: ui.noteButton, next: ui.generate });
  const back = vi.fn();
  const view = new EditorView({
    extensions: [questionNote(notes, back), foreignNote(notes, () => "en", back)],
    parent: document.body,
  });
  const insert = (text: string, userEvent: string) =>
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, userEvent });
  const type = (text: string) => {
    insert(text, "input.type");
    view.dispatch({ selection: { anchor: text.length } });
    insert(text, "input.type");
  };
  return { ui, type, insert, back };
}

beforeEach(() => localStorage.clear());

it("a question to the model shows one note, whose button returns the focus", () => {
  const { ui, type, back } = mount();
  type("What is the capital of France?");
  expect(ui.noteText.textContent).not.toBe("");
  ui.noteButton.click();
  expect(back).toHaveBeenCalledTimes(1);
  expect(ui.noteText.textContent).toBe("");
  type("What is the capital of Spain?"); // once is enough
  expect(ui.noteText.textContent).toBe("");
});

it("German text gets a note, unless the model wrote it", () => {
  const { ui, type, insert } = mount();
  const german = "Es war einmal ein kleines Mädchen, das wohnte mit der Mutter in einem Haus am Wald.";
  insert(german, "model");
  expect(ui.noteText.textContent).toBe("");
  type(german);
  expect(ui.noteText.textContent).toContain("English");
});
