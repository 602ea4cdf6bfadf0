// The view *What the model sees*: it greys out the text that the model does not read before it writes on at the caret. Its two
// fields hold what the model reads in addition to the text.
import { StateEffect } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import type { Model } from "../../../src/client/index.js";
import { compose } from "../../assistant/compose.js";
import { prefillAgain } from "../../assistant/prefilling.js";
import type { PageRequest, RequestQueue } from "../../assistant/request-queue.js";
import { typeFields } from "../../document/fields.js";
import { readsField, setReads } from "../../document/reads.js";
import { writingPlace } from "../../document/writing-place.js";
import { make } from "../../dom/make.js";
import { phrase } from "../../language/editor.js";
import { keepTranslated, setTranslatedText } from "../../language/keep-translated.js";
import { countWords } from "../../library/preview.js";
import { fieldsOf, mostUnits } from "../../state/context-fields.js";
import { whyInFull } from "../../language/why.js";
import { isAbort } from "../../state/errors.js";
import { onChange, type PageState } from "../../state/page-state.js";
import "./sees.css";

export interface SeesSetting {
  state: PageState;
  /** The text. The fields stand above it, and in a narrow window below. */
  text: HTMLElement;
  queue: RequestQueue;
  /** To be called after each change of a field by the visitor. */
  noteChange: () => void;
  /** Says how much the model reads. */
  tell: (sentence: () => string) => void;
}

/** Milliseconds after the last change. */
const readAfterMs = 150;

const names = ["remember", "note"] as const;

/** Adds a field with its label and an explanation. */
function addField(root: HTMLElement, name: (typeof names)[number]): HTMLTextAreaElement {
  const id = `field-${name}`;
  const label = make("label", { htmlFor: id });
  const field = make("textarea", { id, rows: 1, lang: "", dir: "auto", maxLength: mostUnits });
  root.append(make("div", {}, label, field));
  setTranslatedText(label, () => phrase(`field.${name}`));
  keepTranslated(field, () => {
    field.placeholder = field.ariaDescription = phrase(`field.${name}.help`);
  });
  return field;
}

/** A phone shows the text first. */
const narrow = "(max-width: 40rem)";

/** Places the fields where there is room for them. Returns a function that ends that. */
function placeFields(root: HTMLElement, text: HTMLElement): () => void {
  const query = matchMedia(narrow);
  const place = () => {
    const focused = root.contains(document.activeElement) ? document.activeElement : null;
    if (query.matches) text.after(root);
    else text.before(root);
    if (focused instanceof HTMLElement) focused.focus(); // a turned phone keeps its keyboard
  };
  query.addEventListener("change", place);
  place();
  return () => query.removeEventListener("change", place);
}

export class Sees {
  private readonly view: EditorView;
  private readonly setting: SeesSetting;
  private readonly request: PageRequest;
  private readonly root = make("section");
  private readonly fields: readonly [HTMLTextAreaElement, HTMLTextAreaElement];
  private readonly ends: readonly (() => void)[];
  private isOpen = false;
  /** Whether it was opened and has not shown yet where the reading begins. */
  private isNew = false;

  constructor(view: EditorView, setting: SeesSetting) {
    const { root } = this;
    const { state } = setting;
    this.view = view;
    this.setting = setting;
    this.request = setting.queue.requests("cut", (error) => this.showFailure(error));
    root.id = "sees";
    root.className = "card";
    root.setAttribute("aria-labelledby", "tab-sees");
    root.hidden = true;
    this.fields = [addField(root, "remember"), addField(root, "note")];
    root.addEventListener("input", () => this.readFields());
    view.dispatch({ effects: StateEffect.appendConfig.of(readsField) });
    const showFields = () => {
      const set = state.fields.peek();
      for (const [place, field] of this.fields.entries()) {
        const text = set?.[names[place] ?? "note"] ?? "";
        if (field.value.trim() !== text.trim()) field.value = text; // otherwise the visitor is typing in it
      }
      this.readSoon(readAfterMs);
    };
    showFields();
    this.ends = [
      placeFields(root, setting.text),
      onChange(state.fields, showFields),
      onChange(state.loaded, () => this.readSoon(0)),
    ];
  }

  /** To be called when the view is chosen or left, or when text or caret have changed. */
  update(isOpen: boolean, { isOther, isChanged }: { isOther: boolean; isChanged: boolean }): void {
    this.isOpen = isOpen;
    this.root.hidden = !isOpen;
    this.isNew ||= isOther;
    if (!isOpen) this.request.stop();
    else if (isOther || isChanged) this.readSoon(isOther ? 0 : readAfterMs);
  }

  destroy(): void {
    this.request.stop();
    for (const end of this.ends) end();
    this.root.remove();
  }

  private readFields(): void {
    const [remember, note] = this.fields;
    this.view.dispatch(typeFields(fieldsOf(remember.value, note.value)), {
      effects: prefillAgain.of(null),
    });
    this.setting.noteChange();
  }

  private readSoon(ms: number): void {
    if (!this.isOpen) return;
    const { state, tell } = this.setting;
    this.request.schedule(
      ms,
      (model, signal) => this.read(model, signal),
      () => tell(() => phrase(state.loaded.peek() ? "awaitsWriting" : "awaitsModel")),
    );
  }

  private async read(model: Model, signal: AbortSignal): Promise<void> {
    const { state: page, tell } = this.setting;
    const { state } = this.view;
    if (!model.info.hasTokenizer) return tell(() => phrase("noTokenizer"));
    const set = page.fields.peek();
    const to = writingPlace(state);
    const { tokens, from, noteAt } = await compose(model, state.sliceDoc(0, to), set, signal);
    signal.throwIfAborted();
    const lines = [
      { at: from, label: phrase("field.remember"), text: set?.remember.trim() ?? "" },
      { at: noteAt, label: phrase("field.note"), text: set?.note.trim() ?? "" },
    ].filter(({ text }) => text !== "");
    this.view.dispatch({ effects: setReads.of({ from, to, lines }) });
    if (this.isNew && from > 0)
      this.view.dispatch({ effects: EditorView.scrollIntoView(from, { y: "center" }) });
    this.isNew = false;
    this.setInvalid(false);
    const words = countWords(state.sliceDoc(from, to));
    const total = countWords(state.doc.toString());
    const most = model.info.config.nPositions;
    const isFull = this.fields.some(({ value }) => value.length >= mostUnits);
    tell(() => {
      const said = phrase("reads", { words, total, tokens, most });
      return isFull ? `${said} ${phrase("fieldFull")}` : said;
    });
  }

  private showFailure(error: unknown): void {
    if (isAbort(error)) return;
    this.setInvalid(true);
    this.view.dispatch({ effects: setReads.of({ from: 0, to: 0, lines: [] }) }); // nothing is read, and nothing written
    this.setting.tell(() => `${whyInFull(error)}.`);
  }

  private setInvalid(isInvalid: boolean): void {
    for (const field of this.fields) field.ariaInvalid = isInvalid ? "true" : null;
  }
}
