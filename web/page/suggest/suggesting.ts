// Tab: what the model would write next, to take or to leave.
import { Annotation, Prec, type Extension } from "@codemirror/state";
import { EditorView, ViewPlugin, keymap, type Command } from "@codemirror/view";
import type { GenerateOptions, Model } from "../../src/client/index.js";
import { unlessAborted } from "../../src/shared/unless-aborted.js";
import { cut, textOf } from "../editor/pieces.js";
import { putPieces } from "../editor/run.js";
import { askForSuggestions } from "./ask.js";
import { isTouched, suggestionBar } from "./bar.js";
import { choose, suggest, suggestionsField, type Suggestions } from "./field.js";
import { shown, suggestionList } from "./list.js";
import { firstWordLength } from "./words.js";
import { phrase } from "../language/editor.js";

export interface SuggestingSetting {
  dock: HTMLElement;
  bar: HTMLElement;
  /** What the model is to sample with; undefined where that is refused, or it is at work. */
  sampling: () => GenerateOptions | undefined;
  needModel: () => Promise<Model | undefined>;
  /** Lets what else is asked of the model wait for `work`. */
  makeWay: (work: Promise<unknown>) => void;
  /** Tells how it goes, and what is suggested to those who do not see it. */
  say: (sentence: string) => void;
  speak: (sentence: string) => void;
  fail: (error: unknown) => void;
}

/** Shorter than this, nobody asks what it does. */
const silentMs = 300;

/** Of the changes that asking itself makes. */
const byAsking = Annotation.define<true>();

/** Takes the chosen one, or its first word. */
function take(view: EditorView, onlyWord = false): boolean {
  const suggestions = view.state.field(suggestionsField);
  const item = suggestions?.items[suggestions.chosen];
  if (!suggestions || !item) return false;
  const length = onlyWord ? firstWordLength(textOf(item)) : Infinity;
  const [taken, rest] = cut(item, length);
  const insertion = putPieces(suggestions.at, suggestions.at, taken);
  const end = suggestions.at + textOf(taken).length;
  // Of what is taken word by word, the rest stays.
  const next = rest.length > 0 ? { at: end, items: [rest], chosen: 0 } : null;
  view.dispatch(insertion, { effects: suggest.of(next), sequential: true });
  return true;
}

/** The place among `items` of the one that is chosen, which has perhaps grown since. */
function chosenAmong(items: Suggestions["items"], shownNow: Suggestions | null): number {
  const chosen = shownNow?.items[shownNow.chosen];
  if (!chosen) return 0;
  const text = textOf(chosen);
  return Math.max(
    0,
    items.findIndex((item) => textOf(item).startsWith(text)),
  );
}

const measureFrom = (start: number, name: string) =>
  requestAnimationFrame(() => performance.measure(name, { start }));

const move =
  (by: number): Command =>
  (view) => {
    const suggestions = view.state.field(suggestionsField);
    if (!suggestions) return false;
    const { length } = suggestions.items;
    view.dispatch({ effects: choose.of((suggestions.chosen + by + length) % length) });
    return true;
  };

export function suggesting(setting: SuggestingSetting): Extension {
  const { dock, bar, sampling, needModel, makeWay, say, speak, fail } = setting;
  let asking: AbortController | undefined;
  let isWaitSaid = false;

  /** What is shown goes, and what is asked for is wanted no more. */
  const dismiss: Command = (view) => {
    const isShown = view.state.field(suggestionsField) !== null;
    const isAwaited = asking !== undefined && !asking.signal.aborted;
    if (!isAwaited && !isShown) return false;
    asking?.abort();
    if (isShown) view.dispatch({ effects: suggest.of(null) });
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
      say(phrase("looking"));
    }, silentMs);
    const at = view.state.selection.main.to;
    const annotations = byAsking.of(true);
    view.dispatch({ selection: { anchor: at }, effects: suggest.of(null), annotations });
    try {
      const model = await unlessAborted(needModel(), signal);
      if (!model) return;
      const text = view.state.sliceDoc(0, at);
      const work = askForSuggestions(model, text, options, signal, (items, isGrowing) => {
        if (signal.aborted) return;
        const chosen = chosenAmong(items, view.state.field(suggestionsField));
        view.dispatch({ effects: suggest.of({ at, items, chosen, isGrowing }), annotations });
        if (!progress.isShown) measureFrom(start, "suggestions");
        if (!isGrowing && !progress.isWhole) measureFrom(start, "wholeSuggestions");
        progress.isShown = true;
        progress.isWhole ||= !isGrowing;
      });
      makeWay(work);
      await work;
      signal.throwIfAborted();
      isWaitSaid = false;
      const all = view.state.field(suggestionsField)?.items ?? [];
      if (all.length > 0) speak(phrase("suggested", { count: all.length, list: all.map(shown).join("; ") }));
      say(progress.isShown ? "" : phrase("nothingToSuggest"));
    } catch (error) {
      if (!signal.aborted) fail(error);
    } finally {
      clearTimeout(timer);
      if (asking === controller) {
        asking = undefined;
        if (isWaitSaid) say("");
        isWaitSaid = false;
      }
    }
  }

  const keys = keymap.of([
    { key: "Tab", run: (view) => take(view) || (void ask(view), true) },
    // Where there is a bar, the suggestions lie beside what is typed: a new line is one.
    { key: "Enter", run: (view) => !isTouched() && take(view) },
    { key: "ArrowDown", run: move(1) },
    { key: "ArrowUp", run: move(-1) },
    { key: "Ctrl-ArrowRight", mac: "Alt-ArrowRight", run: (view) => take(view, true) },
    { key: "Escape", run: dismiss, stopPropagation: true },
  ]);

  /** Who goes on by hand wants no answer any more. */
  const giveUp = EditorView.updateListener.of(({ docChanged, selectionSet, transactions }) => {
    const isOwn = transactions.some((transaction) => transaction.annotation(byAsking));
    if ((docChanged || selectionSet) && !isOwn) asking?.abort();
  });

  const leave = EditorView.domEventObservers({ blur: (_event, view) => void dismiss(view) });
  const view = isTouched()
    ? suggestionBar(bar, take, (editor) => void ask(editor))
    : [suggestionList(dock, take), leave];
  const stop = ViewPlugin.define(() => ({ destroy: () => asking?.abort() }));
  return [suggestionsField, Prec.highest(keys), giveUp, view, stop];
}
