// @vitest-environment happy-dom
// Writing at a place where the model ends the text at once.
import { expect, it } from "vitest";
import type { GenerateCall, GenerateSummary, Model, Token } from "../../../web/src/client/index.js";
import { Writing, atEnd } from "../../../web/page/assistant/writing.js";
import type { Editor } from "../../../web/page/document/editor.js";
import { Notes } from "../../../web/page/dom/notes.js";
import { make } from "../../../web/page/dom/make.js";
import { offerParagraph } from "../../../web/page/parts/notes/paragraph.js";
import { PageState, type ChosenModel } from "../../../web/page/state/page-state.js";

/** A page with `text`, whose model ends each text unless ends are ignored. */
function makePage(text: string) {
  const calls: { prompt: string; call: GenerateCall }[] = [];
  const ends = "eos";
  async function* generate(prompt: string, call: GenerateCall): AsyncGenerator<Token> {
    calls.push({ prompt, call });
    if (call.ignoreEos) yield await Promise.resolve({ index: 0, id: 1, text: "So", logprob: 0, rank: 1 });
    const timings = { decodedTokens: 0 };
    call.onSummary?.({ finishReason: ends, droppedTokens: 0, timings } as unknown as GenerateSummary);
  }
  const model = { generate, info: { hasTokenizer: true } } as unknown as Model;
  const state = new PageState({ folder: "m/" } as unknown as ChosenModel);
  const editor = {
    text,
    textBefore: (offset: number) => editor.text.slice(0, offset),
    get length() {
      return editor.text.length;
    },
    open() {},
    end() {},
    focus() {},
    append: () => true,
    view: {
      dispatch({ changes }: { changes: { from: number; insert: string } }) {
        editor.text = editor.text.slice(0, changes.from) + changes.insert;
        if (changes.insert !== "") state.text.value += 1;
      },
    },
  };
  const writing = new Writing({
    state,
    surface: { need: async () => editor } as never,
    needModel: async () => model,
    forgetModel: () => {},
    readOptions: () => ({ temperature: 0.5 }),
    voice: { add() {}, finish() {}, hush() {} },
  });
  const button = () => make("button", { hidden: true });
  const place = { noteText: make("p"), noteButton: button(), noteClose: button(), generate: button() };
  const notes = new Notes(place);
  writing.onNothingWritten = ({ to }) =>
    offerParagraph(notes, state, writing, editor as unknown as Editor, to);
  return { ...place, calls, state, editor, writing };
}

it.each([
  ["The end.", "The end.\n\n"],
  ["The end.\n\n", "The end.\n\n"],
])(
  "the page says that the model ends the text here, and goes on in a new paragraph: %j",
  async (before, prompt) => {
    const { noteText: text, noteButton: button, calls, editor, writing } = makePage(before);
    for (let press = 0; press < 2; press += 1) {
      await writing.write(atEnd);
      expect(text.textContent).toBe("The model ends the text here.");
      expect([button.hidden, button.textContent]).toEqual([false, "Go on in a new paragraph"]);
    }
    button.click();
    await expect.poll(() => calls.length).toBe(3);
    expect(editor.text).toBe(prompt);
    expect(calls[2]).toMatchObject({ prompt, call: { ignoreEos: true, temperature: 0.5 } });
    expect([button.hidden, text.textContent]).toEqual([true, ""]);
  },
);

it("the note disappears when the text changes", async () => {
  const { noteText: text, state, writing } = makePage("The end.");
  await writing.write(atEnd);
  expect(text.textContent).not.toBe("");
  state.text.value += 1;
  expect(text.textContent).toBe("");
});
