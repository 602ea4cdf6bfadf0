// The editor: one text that the visitor and the model write, with one undo history. It is loaded after the first
// paint.
import {
  historyKeymap,
  isolateHistory,
  redo,
  redoDepth,
  standardKeymap,
  undo,
  undoDepth,
} from "@codemirror/commands";
import { Compartment, type EditorState, type Extension, type StateEffect } from "@codemirror/state";
import { EditorView, keymap, placeholder, type ViewUpdate } from "@codemirror/view";
import type { Signal } from "@preact/signals-core";
import type { Token } from "../../src/client/index.js";
import type { ContextFields } from "../state/context-fields.js";
import { alternativeOf, keepAlternatives, toAlternative } from "./alternatives.js";
import { mirrorFields, setFields } from "./fields.js";
import { changeTree, treeField } from "./steps.js";
import { type Tree } from "./tree.js";
import type { KeptText, TextLanguage } from "./kept-text.js";
import { searchAndReplace } from "./find.js";
import { Follower, scrollMargins, type Edges } from "./follower.js";
import { differenceOf } from "./difference.js";
import { asLines, type Piece } from "./pieces.js";
import { inkDecorations } from "./inks.js";
import { keepHistory, keepRun, openKept } from "./kept-history.js";
import { tabAfterEscape } from "./tab-after-escape.js";
import { paragraphs } from "./paragraphs.js";
import { pasteHtml } from "./paste-html.js";
import { closeRun, growRun, lastRun, openRun, putPieces, runField, setRun, type Run } from "./run.js";
import { modeField, setMode } from "./view-mode.js";
import { pressedField, writingPlace } from "./writing-place.js";
import { addWritten, toKeptText, rangesOfParts, writingLanguage } from "./written.js";

export interface EditorSetting {
  parent: HTMLElement;
  edges: Edges;
  /** The language of the model that is writing. */
  modelsLanguage: () => TextLanguage;
  /** The fields of the text. A new text begins with them, and they follow the editor. */
  fields: Signal<ContextFields | undefined>;
  /** Called after each change of the text, the caret or the undo history. */
  onUpdate: (update: ViewUpdate) => void;
  /** Called after `begin` has replaced the text. */
  onBegin: () => void;
  extensions?: Extension;
}

/** The ranges of a stored text that models wrote, as far as they fit a text of `length`. */
const writtenIn = ({ written: parts }: KeptText, length: number) =>
  rangesOfParts(parts.filter(([from, to]) => from < to && to <= length));

export class Editor {
  readonly view: EditorView;
  private readonly follower: Follower;
  private readonly setting: EditorSetting;
  /** The label of the text field, and its placeholder. */
  private readonly words = new Compartment();
  private named: Extension = [];
  /**
   * Whether an input method is composing at the place where the model writes. Inserting text there would end the
   * composition.
   */
  private isComposedThere = false;
  /** Tokens that wait for the end of the composition. */
  private held: Token[] = [];
  private endsAfterComposition = false;

  constructor(kept: KeptText, setting: EditorSetting) {
    this.setting = setting;
    const { parent, edges } = setting;
    this.view = new EditorView({ state: this.stateOf(kept), parent });
    this.follower = new Follower(this.view, edges);
  }

  /** A text with all that can be undone and all branches. */
  private stateOf(kept: KeptText): EditorState {
    const { edges, modelsLanguage, fields, onUpdate, extensions = [] } = this.setting;
    const all: Extension = [
      extensions,
      mirrorFields(fields),
      writingLanguage.of(modelsLanguage),
      inkDecorations,
      pressedField,
      tabAfterEscape,
      searchAndReplace,
      paragraphs,
      pasteHtml,
      keymap.of([...historyKeymap, ...standardKeymap]),
      EditorView.lineWrapping,
      this.words.of(this.named),
      EditorView.contentAttributes.of({
        id: "text",
        "aria-describedby": "way-out",
        spellcheck: "true",
        autocorrect: "on",
        autocapitalize: "sentences",
      }),
      EditorView.scrollMargins.of((view) => scrollMargins(view, edges)),
      EditorView.updateListener.of(onUpdate),
      // The page takes files as a model. CodeMirror would insert their bytes.
      EditorView.domEventHandlers({
        drop: ({ dataTransfer }) => dataTransfer?.types.includes("Files") ?? false,
      }),
      EditorView.domEventObservers({
        compositionstart: (_event, { state }) => {
          this.isComposedThere = state.field(runField)?.to === state.selection.main.head;
        },
        compositionend: () => {
          this.isComposedThere = false;
          this.putAfterComposition();
        },
      }),
    ];
    return openKept(kept, fields.peek(), all);
  }

  /** Replaces the text and its undo history by `kept`. */
  begin(kept: KeptText): void {
    const mode = this.view.state.field(modeField, false);
    this.held = [];
    this.endsAfterComposition = false;
    this.view.setState(this.stateOf(kept));
    this.type(kept);
    if (mode) this.view.dispatch({ effects: setMode.of(mode) });
    this.showCaret();
    this.setting.onBegin();
  }

  /** Applies what was typed before the editor was loaded. A new editor waits for this until its listeners can run. */
  type({ draft = this.text, caret }: KeptText): void {
    const changes = differenceOf(this.text, asLines(draft));
    if (!changes) return;
    const length = this.length + changes.insert.length - (changes.to - changes.from);
    const selection = { anchor: Math.min(caret, length) };
    this.view.dispatch({ changes, selection, userEvent: "input.type" });
  }

  /** Sets the label of the text field and its placeholder, in the page's language. */
  name(label: string, hint: string): void {
    this.named = [EditorView.contentAttributes.of({ "aria-label": label }), placeholder(hint)];
    this.view.dispatch({ effects: this.words.reconfigure(this.named) });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  /** Where the model continues: the caret, or the end of the selection. */
  get caret(): number {
    return writingPlace(this.view.state);
  }

  get length(): number {
    return this.view.state.doc.length;
  }

  textBefore(offset: number): string {
    return this.view.state.sliceDoc(0, offset);
  }

  /** The current or last run; null if there is none. All of its text may be gone. */
  get run(): Run | null {
    return this.view.state.field(runField);
  }

  get kept(): KeptText {
    return toKeptText(this.view.state);
  }

  /** As `kept`, with the last run, the undo history and all branches. */
  get keptWithHistory(): KeptText {
    const { state } = this.view;
    const run = keepRun(lastRun(state));
    const alternatives = keepAlternatives(state);
    return { ...this.kept, run, history: keepHistory(state), tree: this.tree, alternatives };
  }

  /** The branches; undefined if there are none. The current branch has its text from when you switched to it. */
  get tree(): Tree | undefined {
    return this.view.state.field(treeField);
  }

  /** Which alternative at the run's place is in the text; undefined if there is only one. */
  get alternative(): ReturnType<typeof alternativeOf> {
    return alternativeOf(this.view.state);
  }

  /** Shows the next or previous alternative; returns false if there is only one. */
  showAlternative(step: 1 | -1): boolean {
    const change = toAlternative(this.view.state, step);
    if (change) this.view.dispatch(change);
    return change !== undefined;
  }

  get canUndo(): boolean {
    return undoDepth(this.view.state) > 0;
  }

  get canRedo(): boolean {
    return redoDepth(this.view.state) > 0;
  }

  undo(): void {
    undo(this.view);
  }

  redo(): void {
    redo(this.view);
  }

  focus(): void {
    this.view.focus();
  }

  /** Scrolls to the caret if it is out of sight. */
  showCaret(): void {
    this.view.dispatch({ effects: EditorView.scrollIntoView(this.caret, { y: "nearest" }) });
  }

  selectAll(): void {
    this.view.dispatch({ selection: { anchor: 0, head: this.length } });
    this.focus();
  }

  /** Replaces the whole text with `kept`, as one undo step that includes `effects`. The new text has no last run. */
  show(kept: KeptText, effects: readonly StateEffect<unknown>[] = []): void {
    const { text } = kept;
    this.view.dispatch({
      changes: { from: 0, to: this.length, insert: text },
      selection: { anchor: Math.min(kept.caret, text.length) },
      effects: [addWritten.of(writtenIn(kept, text.length)), setRun.of(null), ...effects],
      annotations: isolateHistory.of("full"),
      scrollIntoView: true,
    });
  }

  /** Replaces the text, its fields and its branches. One step of Undo brings back all of them. */
  showOther(kept: KeptText, fields?: ContextFields): void {
    const branches = this.tree ? [changeTree.of({ kind: "replace" })] : [];
    this.show(kept, [setFields.of(fields ?? null), ...branches]);
  }

  /** Replaces everything after `from` with the model's `pieces`, as one undo step that includes `effects`. */
  replaceFrom(from: number, pieces: readonly Piece[], effects: readonly StateEffect<unknown>[]): void {
    this.view.dispatch(putPieces(this.view.state, from, this.length, pieces), {
      effects: [setRun.of(null), ...effects],
    });
  }

  /** Starts a run of the model at `from`, which replaces the text up to `to`, and may join the step of `breakParagraph`. */
  open(from: number, to: number, joins?: boolean): void {
    this.held = [];
    this.endsAfterComposition = false;
    const { caret } = this;
    if (caret !== this.view.state.selection.main.to) this.view.dispatch({ selection: { anchor: caret } });
    this.view.dispatch(openRun(from, to, joins));
    this.follower.begin();
  }

  /** Appends tokens to the run; returns false if the run has ended. */
  append(tokens: readonly Token[]): boolean {
    const { run } = this;
    if (!run || run.stage === "closed") return false;
    this.held.push(...tokens);
    if (!this.isComposedThere) this.putHeld(run);
    return true;
  }

  private putHeld(run: Run): void {
    this.view.dispatch(growRun(this.view.state, run, this.held.splice(0)));
    this.follower.follow();
  }

  /** Ends the run. If an input method is composing, the run ends after the held tokens are inserted. */
  end(): void {
    const { run } = this;
    if (!run) return;
    if (this.held.length > 0 && run.stage !== "closed") {
      if (this.isComposedThere) {
        this.endsAfterComposition = true;
        return;
      }
      this.putHeld(run);
    }
    this.view.dispatch(closeRun(this.run ?? run));
  }

  /** Waits until the view has read what the input method left in the document. */
  private putAfterComposition(): void {
    requestAnimationFrame(() => {
      if (this.view.composing) return this.putAfterComposition();
      if (!this.endsAfterComposition || this.isComposedThere) return;
      this.endsAfterComposition = false;
      this.end();
    });
  }

  showBusy(isBusy: boolean): void {
    this.view.contentDOM.ariaBusy = String(isBusy);
  }
}
