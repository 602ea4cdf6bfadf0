// Scrolls the window along with the model's text until the reader scrolls up.
import { EditorView } from "@codemirror/view";
import { runField } from "./run.js";

const sticks = (dock: HTMLElement) => getComputedStyle(dock).position === "sticky";

/** Height in pixels that `dock` covers at the lower end of the window; 0 if the dock is not sticky. */
export const coveredBy = (dock: HTMLElement): number => (sticks(dock) ? dock.offsetHeight : 0);

/** The lowest line of the window, in pixels, that neither `dock` nor the on-screen keyboard covers. */
export const lowestFree = (dock: HTMLElement): number =>
  window.innerHeight - (sticks(dock) ? dock.offsetHeight + parseFloat(getComputedStyle(dock).bottom) : 0);

/** Pixels to keep free above and below the line that the model is writing. */
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
      if (place.bottom > lowest) window.scrollBy(0, place.bottom - lowest);
      else if (place.top < margin) window.scrollBy(0, place.top - margin);
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
