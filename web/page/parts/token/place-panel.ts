// Places a token's details beside the token. If the window has no room for that, they become a sheet in the dock.
import type { EditorView } from "@codemirror/view";
import { lowestFree } from "../../document/follower.js";

/** In a smaller window, measured in the root's type size, a popover would hide the text around it. */
const leastRem = { width: 40, height: 30 };
/** Pixels between the panel and its token's line, and around the panel. */
const gap = 4;

const isSmall = () => {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const height = window.visualViewport?.height ?? window.innerHeight;
  return window.innerWidth < leastRem.width * rem || height < leastRem.height * rem;
};

interface Box {
  left: number;
  top: number;
  bottom: number;
}

/** The place nearest to `token` for a panel of `size`, between the window's edges and `lowest`. */
export function placeBeside(
  token: Box,
  size: { width: number; height: number },
  room: { width: number; lowest: number },
): { left: number; top: number } {
  const left = Math.max(gap, Math.min(token.left, room.width - size.width - gap));
  const below = token.bottom + gap;
  const above = token.top - gap - size.height;
  const fitsBelow = below + size.height <= room.lowest;
  return { left, top: fitsBelow || above < 0 ? below : above };
}

/** Places `panel` near the token at `from`. A sheet replaces the other contents of `dock`. */
export function placePanel(view: EditorView, panel: HTMLElement, dock: HTMLElement, from: number): void {
  view.requestMeasure({
    key: panel,
    read: () => {
      const isSheet = isSmall();
      dock.classList.toggle("has-sheet", isSheet && !panel.hidden);
      panel.classList.toggle("popover", !isSheet);
      if (isSheet || panel.hidden) return undefined;
      const lowest = lowestFree(dock);
      const token = from <= view.state.doc.length ? view.coordsAtPos(from, 1) : null;
      const { width, height } = panel.getBoundingClientRect();
      // When a token scrolls out of sight, its details disappear, too.
      const isSeen = token !== null && token.bottom > 0 && token.top < lowest;
      // The side panel takes the place beside the text.
      const { right } = view.dom.getBoundingClientRect();
      const room = { width: Math.max(right, width + 2 * gap), lowest };
      return { isSeen, place: token && placeBeside(token, { width, height }, room) };
    },
    write: (measured) => {
      panel.style.visibility = measured && !measured.isSeen ? "hidden" : "";
      panel.style.left = measured?.place ? `${measured.place.left}px` : "";
      panel.style.top = measured?.place ? `${measured.place.top}px` : "";
    },
  });
}
