// The written text: the prompt and what the model wrote after it, in one text node each.

/** Runs `draw` at the next frame, however often it is asked to before. */
export class FrameBatch {
  private frame: number | undefined;

  constructor(private readonly draw: () => void) {}

  request(): void {
    this.frame ??= requestAnimationFrame(() => this.flush());
  }

  /** Draws what was asked for, now. */
  flush(): void {
    if (this.frame === undefined) return;
    cancelAnimationFrame(this.frame);
    this.frame = undefined;
    this.draw();
  }
}

export class OutputView {
  private readonly prompt = document.createElement("span");
  private readonly written = document.createTextNode("");
  /** Stands where the text ends. */
  private readonly caret = document.createElement("span");
  /** The window scrolls with the text, until its reader scrolls up. */
  private isFollowed = false;
  private scrolledTo = 0;

  constructor(private readonly element: HTMLElement) {
    this.prompt.className = "prompt";
    this.caret.className = "caret";
    element.append(this.prompt, this.written, this.caret);
    window.addEventListener("scroll", () => this.noticeScroll(), { passive: true });
  }

  /** All of it: what Continue goes on from. */
  get text(): string {
    return this.element.textContent ?? "";
  }

  /** Puts a new text in the place of the old one. */
  begin(prompt: string): void {
    this.prompt.textContent = prompt;
    this.written.data = "";
    this.scrolledTo = window.scrollY; // a page that became shorter has scrolled by itself
    this.isFollowed = true;
    this.follow();
  }

  append(text: string): void {
    this.written.appendData(text);
    this.follow();
  }

  showBusy(isBusy: boolean): void {
    this.element.classList.toggle("busy", isBusy);
    this.element.setAttribute("aria-busy", String(isBusy));
  }

  private follow(): void {
    if (this.isFollowed) this.caret.scrollIntoView({ block: "nearest" });
  }

  private noticeScroll(): void {
    const isUp = window.scrollY < this.scrolledTo;
    const { top, bottom } = this.caret.getBoundingClientRect();
    const isEndInView = top >= 0 && bottom <= window.innerHeight;
    if (isUp) this.isFollowed = false;
    else if (isEndInView) this.isFollowed = true;
    this.scrolledTo = window.scrollY;
  }
}
