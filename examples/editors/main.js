import { defaultKeymap, history as codeHistory, historyKeymap } from "@codemirror/commands";
import { EditorView, keymap as codeKeymap } from "@codemirror/view";
import "gpt2-wasm/element";
import { baseKeymap } from "prosemirror-commands";
import { history, undo } from "prosemirror-history";
import { keymap } from "prosemirror-keymap";
import { schema } from "prosemirror-schema-basic";
import { EditorState } from "prosemirror-state";
import { EditorView as ProseMirror } from "prosemirror-view";
import { codeMirrorField } from "./codemirror.js";
import { contentEditableField } from "./contenteditable.js";
import { proseMirrorField } from "./prosemirror.js";

const codeMirror = new EditorView({
  extensions: [codeHistory(), codeKeymap.of([...defaultKeymap, ...historyKeymap])],
  parent: document.querySelector("#codemirror"),
});
const proseMirror = new ProseMirror(document.querySelector("#prosemirror"), {
  state: EditorState.create({ schema, plugins: [history(), keymap({ "Mod-z": undo }), keymap(baseKeymap)] }),
});
for (const field of [
  contentEditableField(document.querySelector("#contenteditable")),
  codeMirrorField(codeMirror),
  proseMirrorField(proseMirror),
]) {
  const suggestions = document.createElement("gpt2-autocomplete");
  suggestions.setAttribute("model", "models/demo/");
  suggestions.field = field;
  document.body.append(suggestions);
}
