// Suggestions on Tab: what the model would write next, to accept or dismiss.
import { Annotation, Prec, type Extension } from "@codemirror/state";
import { EditorView, ViewPlugin, keymap, type Command, type KeyBinding } from "@codemirror/view";
import type { GenerateOptions, Model } from "../../../src/client/index.js";
import { unlessAborted } from "../../../src/shared/unless-aborted.js";
import { splitPieces, textOf } from "../../document/pieces.js";
import { putPieces } from "../../document/run.js";
import type { RequestQueue } from "../../assistant/request-queue.js";
import { promptOf } from "../../assistant/compose.js";
import { askForSuggestions } from "../../assistant/suggest.js";
import { suggestionBar } from "./bar.js";
import { isTouched } from "../../dom/touch.js";
import { chooseSuggestion, setSuggestions, suggestionsField } from "./field.js";
import { suggestionLabel, suggestionList } from "./list.js";
import { firstWordLength } from "../../assistant/words.js";
import { phrase } from "../../language/editor.js";
import type { ContextFields } from "../../state/context-fields.js";
import "./suggestions.css";

export interface SuggestingSetting {
  dock: HTMLElement;
  bar: HTMLElement;
  /** The sampling options; undefined if a value is refused or the model is busy. */
  sampling: () => GenerateOptions | undefined;
  needModel: () => Promise<Model | undefined>;
  queue: RequestQueue;
  /** The fields that the model reads besides the text. */
  fields: () => ContextFields | undefined;
  /** Shows the status, and announces the suggestions to screen readers. */
  say: (sentence?: () => string) => void;
  speak: (sentence: string) => void;
  fail: (error: unknown) => void;
}

/** Requests shorter than this show no status. */
const silentMs = 300;

/** Marks the change that a request itself makes. */
const byAsking = Annotation.define<true>();

/** Takes the chosen suggestion, or its first word. */
function take(view: EditorView, onlyWord = false): boolean {
  const suggestions = view.state.field(suggestionsField);
  const item = suggestions?.items[suggestions.chosen];
  if (!suggestions || !item) return false;
  const taken = onlyWord ? splitPieces(item, firstWordLength(textOf(item)))[0] : item;
  // After one word is taken, the rest stays, as it does after typing.
  const effects = onlyWord ? [] : setSuggestions.of(null);
  view.dispatch(putPieces(view.state, suggestions.at, suggestions.at, taken), { effects });
  return true;
}

const measureFrom = (start: number, name: string) =>
  requestAnimationFrame(() => performance.measure(name, { start }));

const move =
  (by: number): Command =>
  (view) => {
    const suggestions = view.state.field(suggestionsField);
    if (!suggestions || suggestions.items.length === 0) return false;
    const { length } = suggestions.items;
    view.dispatch({ effects: chooseSuggestion.of((suggestions.chosen + by + length) % length) });
    return true;
  };

export function suggesting(setting: SuggestingSetting): Extension {
  const { dock, bar, sampling, needModel, queue, fields, say, speak, fail } = setting;
  let asking: AbortController | undefined;
  let isWaitSaid = false;

  /** Hides the suggestions and cancels the request. */
  const dismiss: Command = (view) => {
    const isShown = view.state.field(suggestionsField) !== null;
    const isAwaited = asking !== undefined && !asking.signal.aborted;
    if (!isAwaited && !isShown) return false;
    asking?.abort();
    if (isShown) view.dispatch({ effects: setSuggestions.of(null) });
    return true;
  };

  async function ask(view: EditorView): Promise<void> {
    const options = sampling();
    if (!options) return;
    asking?.abort();
    const controller = (asking = new AbortController());
    const { signal } = controller;
    const start = performance.now();
    const progress = { isShown: false, isWhole: false };
    const timer = setTimeout(() => {
      isWaitSaid = true;
      say(() => phrase("looking"));
    }, silentMs);
    const at = view.state.selection.main.to;
    const annotations = byAsking.of(true);
    view.dispatch({ selection: { anchor: at }, effects: setSuggestions.of(null), annotations });
    try {
      const model = await unlessAborted(needModel(), signal);
      if (!model) return;
      const text = view.state.sliceDoc(0, at);
      const prompt = promptOf(model, text, fields(), signal);
      const work = askForSuggestions(model, prompt, options, signal, (items, isGrowing) => {
        if (signal.aborted) return;
        view.dispatch({ effects: setSuggestions.of({ from: at, items, isGrowing }) });
        if (!view.state.field(suggestionsField)) return controller.abort(); // no suggestion continues what was typed since
        if (!progress.isShown) measureFrom(start, "suggestions");
        if (!isGrowing && !progress.isWhole) measureFrom(start, "wholeSuggestions");
        progress.isShown = true;
        progress.isWhole ||= !isGrowing;
      });
      queue.putFirst(work);
      await work;
      signal.throwIfAborted();
      isWaitSaid = false;
      const all = view.state.field(suggestionsField)?.items ?? [];
      if (all.length > 0)
        speak(phrase("suggested", { count: all.length, list: all.map(suggestionLabel).join("; ") }));
      say(() => (progress.isShown ? "" : phrase("nothingToSuggest")));
    } catch (error) {
      if (!signal.aborted) fail(error);
    } finally {
      clearTimeout(timer);
      if (asking === controller) {
        asking = undefined;
        if (isWaitSaid) say();
        isWaitSaid = false;
      }
    }
  }

  const hasBar = isTouched();
  // The bar shows suggestions that the visitor did not request, so these keys keep their usual effect there.
  const ofList: readonly KeyBinding[] = [
    { key: "Enter", run: (view) => take(view) },
    { key: "ArrowDown", run: move(1) },
    { key: "ArrowUp", run: move(-1) },
  ];
  const keys = keymap.of([
    { key: "Tab", run: (view) => take(view) || (void ask(view), true) },
    { key: "Ctrl-ArrowRight", mac: "Alt-ArrowRight", run: (view) => take(view, true) },
    { key: "Escape", run: dismiss, stopPropagation: true },
    ...(hasBar ? [] : ofList),
  ]);

  /** Any edit cancels the request, unless you type what is suggested. */
  const giveUp = EditorView.updateListener.of(({ docChanged, selectionSet, state, transactions }) => {
    const isOwn = transactions.some((transaction) => transaction.annotation(byAsking));
    if ((docChanged || selectionSet) && !isOwn && !state.field(suggestionsField)) asking?.abort();
  });

  const leave = EditorView.domEventObservers({ blur: (_event, view) => void dismiss(view) });
  const view = hasBar
    ? suggestionBar(bar, take, (editor) => void ask(editor))
    : [suggestionList(dock, take), leave];
  const stop = ViewPlugin.define(() => ({ destroy: () => asking?.abort() }));
  return [suggestionsField, Prec.highest(keys), giveUp, view, stop];
}
