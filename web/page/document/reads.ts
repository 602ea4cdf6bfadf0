// Shows what the model reads: text that it does not read is grey, and the two fields are shown where it reads them.
import { StateEffect } from "@codemirror/state";
import { Decoration, EditorView, WidgetType, type DecorationSet } from "@codemirror/view";
import { make } from "../dom/make.js";
import { harmlessField } from "./harmless.js";
import { setMode } from "./view-mode.js";

export interface Reads {
  /** Offsets between which the model reads the text. */
  from: number;
  to: number;
  /** The fields that are in use, each with the offset in the text before which the model reads it. */
  lines: readonly { at: number; label: string; text: string }[];
}

export const setReads = StateEffect.define<Reads>();

class LineBeside extends WidgetType {
  private readonly label: string;
  private readonly text: string;

  constructor(label: string, text: string) {
    super();
    this.label = label;
    this.text = text;
  }

  override eq(other: LineBeside): boolean {
    return other.label === this.label && other.text === this.text;
  }

  toDOM(): HTMLElement {
    return make("span", { className: "beside" }, make("span", {}, this.label), ` ${this.text}`);
  }
}

const unread = Decoration.mark({ class: "unread" });

function decorationsOf(reads: Reads, length: number): DecorationSet {
  const [from, to] = [Math.min(reads.from, length), Math.min(reads.to, length)];
  const grey = [
    { from: 0, to: from },
    { from: to, to: length },
  ];
  return Decoration.set(
    [
      ...grey.filter((part) => part.from < part.to).map((part) => unread.range(part.from, part.to)),
      ...reads.lines.map(({ at, label, text }, place) =>
        Decoration.widget({ widget: new LineBeside(label, text), side: place - reads.lines.length }).range(
          Math.min(at, length),
        ),
      ),
    ],
    true,
  );
}

/** Removed when another view is chosen. */
export const readsField = harmlessField<DecorationSet>(
  Decoration.none,
  (set, { changes, effects, newDoc }) => {
    let next = set.map(changes);
    for (const effect of effects) {
      if (effect.is(setMode)) next = Decoration.none;
      if (effect.is(setReads)) next = decorationsOf(effect.value, newDoc.length);
    }
    return next;
  },
  { provide: (field) => EditorView.decorations.from(field) },
);
