// The suggestions at the caret: how they grow, shrink while you type them, and disappear.
import { EditorState, type TransactionSpec } from "@codemirror/state";
import { expect, it } from "vitest";
import { textOf } from "../../../web/page/document/pieces.js";
import { growRun, openRun, putPieces, runField, runs } from "../../../web/page/document/run.js";
import {
  chooseSuggestion,
  setSuggestions,
  suggestionsField,
} from "../../../web/page/parts/suggestions/field.js";

const piecesOf = (text: string) => [{ text, tokens: [] }];

/** An editor's state behind "Once", in which suggestions can be found. */
class Typist {
  private state = EditorState.create({
    doc: "Once",
    selection: { anchor: 4 },
    extensions: [suggestionsField, runs],
  });

  do(...specs: TransactionSpec[]): this {
    this.state = this.state.update(...specs).state;
    return this;
  }

  find(items: string[], isGrowing = true): this {
    return this.do({ effects: setSuggestions.of({ from: 4, items: items.map(piecesOf), isGrowing }) });
  }

  type(text: string): this {
    return this.do(this.state.replaceSelection(text));
  }

  /** Writes as the model does. */
  put(text: string): this {
    const { head } = this.state.selection.main;
    return this.do(putPieces(this.state, head, head, piecesOf(text)));
  }

  write(text: string): this {
    this.do(openRun(this.state.selection.main.head, this.state.selection.main.head));
    const run = this.state.field(runField);
    if (!run) throw new Error("there is no run");
    return this.do(growRun(this.state, run, [{ id: 1, text, index: 0, logprob: 0, rank: 1 }]));
  }

  /** The items, the chosen one in brackets, and whether more is coming. */
  get shown(): string | null {
    const suggestions = this.state.field(suggestionsField);
    if (!suggestions) return null;
    expect(suggestions.at).toBe(this.state.selection.main.head);
    const items = suggestions.items.map((item, place) =>
      place === suggestions.chosen ? `[${textOf(item)}]` : textOf(item),
    );
    return items.join("|") + (suggestions.isGrowing ? "…" : "");
  }
}

const found = (...items: string[]) => new Typist().find(items);

it("growing suggestions keep their places, and new ones are added at the end", () => {
  const typist = found(" a", " the");
  expect(typist.shown).toBe("[ a]| the…");
  expect(typist.find([" a big", " a small", " the"]).shown).toBe("[ a big]| the| a small…");
  expect(typist.find([" a big dog", " a small", " the end"], false).shown).toBe(
    "[ a big dog]| the end| a small",
  );
});

it("growing suggestions keep the chosen one", () => {
  const typist = found(" a", " the").do({ effects: chooseSuggestion.of(1) });
  expect(typist.find([" a big", " a small", " the end"]).shown).toBe(" a big|[ the end]| a small…");
});

it("growing suggestions continue after what is typed or taken", () => {
  expect(found(" a", " the").type(" t").shown).toBe("[he]…");
  expect(found(" a", " the").type(" t").find([" a big", " the end", " to it"]).shown).toBe("[he end]|o it…");
  expect(found(" a big", " the").put(" a").find([" a big dog", " the end"], false).shown).toBe("[ big dog]");
});

it("growing suggestions return when they have grown beyond what was typed", () => {
  const typist = found(" a", " the").put(" the");
  expect(typist.shown).toBe("…");
  expect(typist.type(" e").shown).toBe("…");
  expect(typist.find([" a", " the"]).shown).toBe("…");
  expect(typist.find([" a big", " the end"]).shown).toBe("[nd]…");
});

it("growing suggestions are empty if none continues what was typed", () => {
  expect(found(" a", " the").type(" the").type("y").find([" a big", " the end"], false).shown).toBe(null);
});

it.each<[string, (typist: Typist) => Typist]>([
  ["something else is typed", (typist) => typist.type("#")],
  ["something is typed elsewhere", (typist) => typist.do({ changes: { from: 0, insert: " a" } })],
  ["something is typed over", (typist) => typist.do({ changes: { from: 3, to: 4, insert: "e a" } })],
  ["two carets type", (typist) => typist.do({ changes: [0, 4].map((from) => ({ from, insert: " " })) })],
  ["the caret stays before it", (typist) => typist.do({ changes: { from: 4, insert: " a" } })],
  ["the caret moves", (typist) => typist.do({ selection: { anchor: 2 } })],
  ["something is selected", (typist) => typist.do({ selection: { anchor: 0, head: 4 } })],
  ["the model writes just that", (typist) => typist.write(" a")],
])("suggestions disappear if %s", (_what, act) => {
  expect(act(found(" a big", " the")).shown).toBe(null);
  expect(act(found(" a big", " the").find([" a big dog", " the end"], false)).shown).toBe(null);
});

it("suggestions end with their last character, unless more text arrives", () => {
  const typist = found(" a").find([" a dog"], false);
  expect(typist.type(" a do").shown).toBe("[g]");
  expect(typist.type("g").shown).toBe(null);
});
