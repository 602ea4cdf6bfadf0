// The search in all texts. A long text is folded and searched block by block, so that the page stays responsive; the next search
// finds it folded.

/** Equal for texts that differ only in case, in accents or in the kinds of their spaces. */
const fold = (text: string): string =>
  text
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/\s/gu, " ")
    .toUpperCase(); // lower case would keep ß, and has two forms of σ

/** UTF-16 code units that are folded or searched at once, in some milliseconds. */
const blockUnits = 2 ** 16;
/** UTF-16 code units that are folded at once to locate a match. The last such piece is searched letter by letter. */
const pieceUnits = 2 ** 10;

/** The end of the piece of `text` that begins at `from`: after whole letters with their accents. */
function endOfPiece(text: string, from: number, units: number): number {
  let end = Math.min(from + units, text.length);
  while (end < text.length && /[\p{M}\p{Cs}]/u.test(String.fromCodePoint(text.codePointAt(end) ?? 0)))
    end += 1;
  return end;
}

/** The part of a text around a match. */
export interface Passage {
  before: string;
  match: string;
  after: string;
}

/** UTF-16 code units shown before and after a match. */
const unitsAround = 40;

/** The offset in `text` of the character that begins at `wanted` in the folded text, or contains it. */
function offsetOf(text: string, wanted: number): number {
  let folded = 0;
  let offset = 0;
  while (offset < text.length) {
    const end = endOfPiece(text, offset, pieceUnits);
    const { length } = fold(text.slice(offset, end));
    if (folded + length > wanted) break;
    folded += length;
    offset = end;
  }
  for (const character of text.slice(offset)) {
    folded += fold(character).length;
    if (folded > wanted) return offset;
    offset += character.length;
  }
  return offset;
}

/** The passage of `text` around the match from `from` to `to`. */
function passageAt(text: string, from: number, to: number): Passage {
  const start = text.slice(0, from).slice(-unitsAround);
  const end = text.slice(to, to + unitsAround);
  return {
    before: from > unitsAround ? `…${start.replace(/^\S*\s/u, "")}` : start,
    match: text.slice(from, to),
    after: to + unitsAround < text.length ? `${end.replace(/\s\S*$/u, "")}…` : end,
  };
}

/** A text, folded as far as a search has needed. */
export class SearchedText {
  readonly text: string;
  /** The folded blocks, and where each begins in the text. */
  private readonly blocks: { folded: string; from: number }[] = [];
  /** End in the text of the last block. */
  private end = 0;

  constructor(text: string) {
    this.text = text;
  }

  private block(place: number): { folded: string; from: number } | undefined {
    const known = this.blocks[place];
    if (known || this.end >= this.text.length) return known;
    const from = this.end;
    this.end = endOfPiece(this.text, from, blockUnits);
    const made = { folded: fold(this.text.slice(from, this.end)), from };
    this.blocks.push(made);
    return made;
  }

  /** The first `length` folded characters after the block `place`. */
  private foldedAfter(place: number, length: number): string {
    let after = "";
    for (let next = place + 1; after.length < length; next += 1) {
      const block = this.block(next);
      if (!block) break;
      after += block.folded;
    }
    return after.slice(0, length);
  }

  /**
   * Finds `query` in the text, ignoring case and accents; undefined if it is not there. Yields after each block, so that the caller
   * can pause or give up.
   */
  *find(query: string): Generator<undefined, Passage | undefined, undefined> {
    const wanted = fold(query.trim());
    if (wanted === "") return undefined;
    for (let place = 0; ; place += 1) {
      const block = this.block(place);
      if (!block) return undefined;
      const at = (block.folded + this.foldedAfter(place, wanted.length - 1)).indexOf(wanted);
      if (at !== -1) {
        const from = block.from + offsetOf(this.text.slice(block.from), at);
        // With the accents of its last letter, which fold to nothing.
        return passageAt(this.text, from, from + offsetOf(this.text.slice(from), wanted.length));
      }
      yield undefined;
    }
  }
}

/** Milliseconds of work after which the page draws and takes keys: half of a frame. */
const workMs = 8;

const pause = () => new Promise((resolve) => setTimeout(resolve));

/** The result of `steps`, between which the page stays responsive. Rejects with the signal's reason when that aborts. */
export async function inSlices<T>(
  steps: Generator<undefined, T, undefined>,
  signal: AbortSignal,
): Promise<T> {
  let began = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - began < workMs) continue;
    await pause();
    began = performance.now();
  }
}
