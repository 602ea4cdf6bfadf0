// Finds the character under the pointer.
import { findClusterBreak } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";

/** The offset after the character under the pointer; undefined if there is none. */
export function characterUnder(view: EditorView, { x, y }: MouseEvent): number | undefined {
  const found = view.posAndSideAtCoords({ x, y });
  if (!found) return undefined;
  const { pos, assoc } = found;
  const line = view.state.doc.lineAt(pos);
  const step = (forward: boolean) => line.from + findClusterBreak(line.text, pos - line.from, forward);
  const [from, to] = assoc < 0 ? [step(false), pos] : [pos, step(true)];
  const box = view.coordsForChar(from);
  const between = view.defaultLineHeight / 2; // a press between two lines counts, too
  const isUnder =
    box && x >= box.left && x <= box.right && y >= box.top - between && y <= box.bottom + between;
  return isUnder ? to : undefined;
}
