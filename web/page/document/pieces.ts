// Pieces of the model's text. A piece is one token, or several tokens that together form whole characters.
import type { Range } from "@codemirror/state";
import type { Token } from "../../src/client/index.js";
import type { TextLanguage } from "./kept-text.js";
import { Written } from "./written.js";

export interface Piece {
  readonly text: string;
  /** Empty if the piece is a part of a token. */
  readonly tokens: readonly Token[];
}

/** Normalizes line ends to one character, as the editor does. */
export const asLines = (text: string) => text.replace(/\r\n?/g, "\n");

export function piecesOf(tokens: readonly Token[]): Piece[] {
  const pieces: Piece[] = [];
  let parts: Token[] = [];
  for (const token of tokens) {
    parts.push(token);
    if (token.text === "") continue; // the character is incomplete so far
    pieces.push({ text: asLines(token.text), tokens: parts });
    parts = [];
  }
  return pieces;
}

export const textOf = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join("");

/** Splits `pieces` after `length` characters. */
export function splitPieces(pieces: readonly Piece[], length: number): [Piece[], Piece[]] {
  const before: Piece[] = [];
  const after: Piece[] = [];
  let place = 0;
  for (const piece of pieces) {
    const inside = Math.min(Math.max(length - place, 0), piece.text.length);
    place += piece.text.length;
    if (inside === piece.text.length) before.push(piece);
    else if (inside === 0) after.push(piece);
    else {
      before.push({ text: piece.text.slice(0, inside), tokens: [] });
      after.push({ text: piece.text.slice(inside), tokens: [] });
    }
  }
  return [before, after];
}

/** The ranges of `pieces` in a text that contains them at `from`, in language `lang`. */
export function rangesAt(from: number, pieces: readonly Piece[], lang: TextLanguage): Range<Written>[] {
  let place = from;
  return pieces.map(({ text, tokens }) => {
    const start = place;
    place += text.length;
    return new Written(tokens, lang).range(start, place);
  });
}
