// The window scrolls with what the model writes, until its reader scrolls up.
import { EditorView } from "@codemirror/view";
import { runField } from "./run.js";

const sticks = (dock: HTMLElement) => getComputedStyle(dock).position === "sticky";

/** Height of what `dock` covers of what is seen of the window, in pixels; it does where it sticks to its lower end. */
export const coveredBy = (dock: HTMLElement): number => (sticks(dock) ? dock.offsetHeight : 0);

/** The lowest line of the window that is neither covered by `dock` nor by the keyboard that it may be above. */
export const lowestFree = (dock: HTMLElement): number =>
  window.innerHeight - (sticks(dock) ? dock.offsetHeight + parseFloat(getComputedStyle(dock).bottom) : 0);

/** Pixels that are kept free above and below the line that is written. */
export const margin = 24;

export class Follower {
  private readonly view: EditorView;
  private readonly dock: HTMLElement;
  private isFollowed = false;
  private scrolledTo = 0;

  constructor(view: EditorView, dock: HTMLElement) {
    this.view = view;
    this.dock = dock;
    window.addEventListener("scroll", () => this.noticeScroll(), { passive: true });
  }

  private get end(): number {
    return this.view.state.field(runField)?.to ?? 0;
  }

  begin(): void {
    this.scrolledTo = window.scrollY; // a page that became shorter has scrolled by itself
    this.isFollowed = true;
    this.follow();
  }

  follow(): void {
    if (!this.isFollowed) return;
    const place = this.view.coordsAtPos(this.end);
    if (place) {
      // At once, so that whatever else scrolls until the next frame is its reader's doing.
      const lowest = lowestFree(this.dock) - margin;
      if (place.bottom > lowest) window.scrollBy(0, place.bottom - lowest);
      else if (place.top < margin) window.scrollBy(0, place.top - margin);
      this.scrolledTo = window.scrollY;
    } else {
      // Too far away to be laid out: the view scrolls in the next frame.
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
