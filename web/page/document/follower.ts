// Scrolls the window along with the model's text until the reader scrolls up.
import { EditorView } from "@codemirror/view";
import { runField } from "./run.js";

/** Height in pixels that a `part` at the edge of the window covers; 0 if it scrolls with the page. */
const coveredBy = (part: HTMLElement): number =>
  getComputedStyle(part).position === "static" ? 0 : part.offsetHeight;

/** The lowest line of the window, in pixels, that neither `dock` nor the on-screen keyboard covers. */
export const lowestFree = (dock: HTMLElement): number =>
  window.innerHeight - dock.offsetHeight - parseFloat(getComputedStyle(dock).bottom);

/** Pixels to keep free above and below the line that the model is writing. */
export const margin = 24;

/** Pixels of the window that stay free of the caret. The tabs count only while they cover text: before it, they hide none. */
export function scrollMargins({ scrollDOM }: EditorView, { tabs, dock }: Edges) {
  const { bottom } = tabs.getBoundingClientRect();
  const top = bottom > scrollDOM.getBoundingClientRect().top ? bottom : 0;
  return { top: Math.max(0, top) + margin, bottom: coveredBy(dock) + margin };
}

/** What covers the upper and the lower end of the window. */
export interface Edges {
  tabs: HTMLElement;
  dock: HTMLElement;
}

export class Follower {
  private readonly view: EditorView;
  private readonly tabs: HTMLElement;
  private readonly dock: HTMLElement;
  private isFollowed = false;
  private scrolledTo = 0;
  private lowest = 0;

  constructor(view: EditorView, { tabs, dock }: Edges) {
    this.view = view;
    this.tabs = tabs;
    this.dock = dock;
    window.addEventListener("scroll", () => this.noticeScroll(), { passive: true });
    const resizing = new ResizeObserver(() => this.noticeSize());
    for (const part of [tabs, dock]) resizing.observe(part);
  }

  /** Tells the styles what is covered. A status or an error does not cover the line that was the lowest one in sight. */
  private noticeSize(): void {
    const { style } = document.documentElement;
    style.setProperty("--tabs", `${coveredBy(this.tabs)}px`);
    style.setProperty("--dock", `${this.dock.offsetHeight}px`);
    const before = this.lowest;
    this.lowest = lowestFree(this.dock);
    if (this.dock.classList.contains("has-sheet")) return; // the sheet's word comes into sight
    const lines = [this.end, this.view.state.selection.main.head].map(
      (place) => this.view.coordsAtPos(place)?.bottom ?? 0,
    );
    const hidden = Math.max(0, ...lines.filter((bottom) => bottom <= before)) - this.lowest;
    if (hidden > 0) window.scrollBy(0, hidden + margin);
  }

  private get end(): number {
    return this.view.state.field(runField)?.to ?? 0;
  }

  begin(): void {
    this.scrolledTo = window.scrollY; // the browser scrolls by itself when the page becomes shorter
    this.isFollowed = true;
    this.follow();
  }

  follow(): void {
    if (!this.isFollowed) return;
    const place = this.view.coordsAtPos(this.end);
    if (place) {
      // Scrolls at once: any other scroll before the next frame then comes from the reader.
      const lowest = lowestFree(this.dock) - margin;
      const highest = coveredBy(this.tabs) + margin;
      if (place.bottom > lowest) window.scrollBy(0, place.bottom - lowest);
      else if (place.top < highest) window.scrollBy(0, place.top - highest);
      this.scrolledTo = window.scrollY;
    } else {
      // The place is too far away to be laid out: the view scrolls in the next frame.
      this.view.dispatch({ effects: EditorView.scrollIntoView(this.end, { y: "nearest" }) });
      requestAnimationFrame(() => (this.scrolledTo = window.scrollY));
    }
  }

  private noticeScroll(): void {
    if (this.view.state.field(runField)?.stage === "open") {
      const isUp = window.scrollY < this.scrolledTo;
      const place = this.view.coordsAtPos(this.end);
      const isEndInView = place !== null && place.top >= 0 && place.bottom <= lowestFree(this.dock);
      if (isUp) this.isFollowed = false;
      else if (isEndInView) this.isFollowed = true;
    }
    this.scrolledTo = window.scrollY;
  }
}
