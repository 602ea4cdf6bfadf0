// How the text is shown: plain, or tinted by token. Tints differ in lightness and in the line below the token, so
// that they are visible without colour and on paper.
import {
  RangeSetBuilder,
  StateEffect,
  StateField,
  type EditorState,
  type Extension,
} from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, type DecorationSet } from "@codemirror/view";
import {
  attentionField,
  bandOfWeight,
  isQueryToken,
  attentionBands,
  weightOf,
  type AttentionRow,
} from "./attention.js";
import { scoredField, type Scored } from "./scored.js";

export const modes = ["text", "probability", "rank", "tokens", "inside", "sees"] as const;
export type Mode = (typeof modes)[number];
/** The views that tint the text by the model's probabilities. */
export type Tint = Extract<Mode, "probability" | "rank">;
export const isTint = (mode: Mode): mode is Tint => mode === "probability" || mode === "rank";

/** Whether a press of a word shows no details in this view: the view has a panel of its own. */
export const hasPanel = (mode: Mode): boolean => mode === "inside" || mode === "sees";

export const setMode = StateEffect.define<Mode>();

export const modeField = StateField.define<Mode>({
  create: () => "text",
  update: (mode, { effects }) => effects.find((effect) => effect.is(setMode))?.value ?? mode,
});

/** Smallest probability of each band. */
const leastOf = [0.5, 0.1, 0.01, 0] as const;
/** Largest rank of each band. */
const mostOf = [1, 10, 100, Infinity] as const;
/** The bands, from the most probable tokens to the least. */
export const bands = [0, 1, 2, 3] as const;

const bandOfProbability = (probability: number): number => leastOf.findIndex((least) => probability >= least);
const bandOfRank = (rank: number): number => mostOf.findIndex((most) => rank <= most);

function shareOf(probability: number): string {
  const percent = Math.round(probability * 100);
  return percent > 0 ? String(percent) : "<1";
}

/** Tokens of the same band and number share one mark. */
const bandMarks = new Map<string, Decoration>();

/** The mark holds the number, too: paper shows it instead of the tint. */
function bandMarkOf(band: number, number: string): Decoration {
  const key = `${band} ${number}`;
  const mark =
    bandMarks.get(key) ??
    Decoration.mark({ class: `token band-${band}`, attributes: { "data-number": number } });
  bandMarks.set(key, mark);
  return mark;
}

function tintOf(tint: Tint, { logprob, rank }: Pick<Scored, "logprob" | "rank">): Decoration | undefined {
  if (logprob == null || rank == null) return undefined;
  if (tint === "rank") return bandMarkOf(bandOfRank(rank), String(rank));
  const probability = Math.exp(logprob);
  return bandMarkOf(bandOfProbability(probability), shareOf(probability));
}

const cutMarks = [0, 1].map((parity) => Decoration.mark({ class: `token cut-${parity}` }));
const lookMarks = attentionBands.map((band) => Decoration.mark({ class: `token look-${band}` }));
const lookingMarks = attentionBands.map((band) => Decoration.mark({ class: `token look-${band} looking` }));

function lookMarkOf(attended: AttentionRow | null, scored: Scored): Decoration | undefined {
  const weight = attended ? weightOf(attended, scored) : undefined;
  if (!attended || weight === undefined) return undefined;
  return (isQueryToken(attended, scored) ? lookingMarks : lookMarks)[bandOfWeight(weight)];
}

function markOf(mode: Mode, scored: Scored, attended: AttentionRow | null): Decoration | undefined {
  if (mode === "inside") return lookMarkOf(attended, scored);
  return isTint(mode) ? tintOf(mode, scored) : cutMarks[scored.index % 2];
}

/** A word, with the score of its least probable token. */
interface Word extends Pick<Scored, "logprob" | "rank"> {
  from: number;
  to: number;
}

const beginsWord = /^[\p{L}\p{M}\p{N}'’]/u;
const endsWord = /[\p{L}\p{M}\p{N}'’]$/u;

/** Where the word of a token begins: a mark on the space before it would remain alone at the end of a line. */
export function wordStart(text: string, start: number): number {
  const word = text.trimStart();
  return word === "" ? start : start + text.length - word.length;
}

/** Tints whole words without the spaces before them. */
function tintWords(
  state: EditorState,
  mode: Tint,
  { from, to }: { from: number; to: number },
  builder: RangeSetBuilder<Decoration>,
): number {
  let word: Word | undefined;
  let drawn = from;
  const draw = () => {
    const mark = word && tintOf(mode, word);
    if (word && mark) builder.add(word.from, word.to, mark);
  };
  state.field(scoredField).between(from, to, (start, end, { logprob, rank }) => {
    if (start < from) return;
    const text = state.sliceDoc(start, end);
    drawn = end;
    if (word?.to === start && beginsWord.test(text) && endsWord.test(state.sliceDoc(word.from, start))) {
      const isWorse = logprob != null && (word.logprob == null || logprob < word.logprob);
      word = {
        from: word.from,
        to: end,
        logprob: isWorse ? logprob : word.logprob,
        rank: worst(word.rank, rank),
      };
      return;
    }
    draw();
    const first = start + (text.length - text.trimStart().length);
    word = first < end ? { from: first, to: end, logprob, rank } : undefined;
  });
  draw();
  return drawn;
}

const worst = (one: Scored["rank"], other: Scored["rank"]): Scored["rank"] =>
  one == null || other == null ? (one ?? other) : Math.max(one, other);

function marksOf({ state, visibleRanges }: EditorView): DecorationSet {
  const mode = state.field(modeField);
  const attended = state.field(attentionField);
  const builder = new RangeSetBuilder<Decoration>();
  if (mode === "text" || mode === "sees") return builder.finish();
  let drawn = 0; // two visible ranges may share a token
  if (isTint(mode)) {
    for (const { from, to } of visibleRanges)
      drawn = tintWords(state, mode, { from: Math.max(from, drawn), to }, builder);
    return builder.finish();
  }
  for (const { from, to } of visibleRanges) {
    state.field(scoredField).between(from, to, (start, end, scored) => {
      const mark = start >= drawn ? markOf(mode, scored, attended) : undefined;
      const first = mode === "tokens" ? start : wordStart(state.sliceDoc(start, end), start);
      if (mark) builder.add(first, end, mark);
      drawn = Math.max(drawn, end);
    });
  }
  return builder.finish();
}

const marks = ViewPlugin.define(
  (view) => {
    let decorations = marksOf(view);
    return {
      update({ startState, state, view: updated, viewportChanged }) {
        const isSame = [scoredField, modeField, attentionField].every(
          (field) => startState.field<unknown>(field) === state.field<unknown>(field),
        );
        if (!isSame || viewportChanged) decorations = marksOf(updated);
      },
      get decorations() {
        return decorations;
      },
    };
  },
  { decorations: (plugin) => plugin.decorations },
);

/** Set through the editor's attributes: CodeMirror resets its classes whenever the focus changes. */
const seen = EditorView.editorAttributes.compute([modeField], (state): Record<string, string> =>
  state.field(modeField) === "text" ? {} : { class: "seen" },
);

export const viewMode: Extension = [modeField, scoredField, attentionField, marks, seen];
