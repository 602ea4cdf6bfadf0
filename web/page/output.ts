// The written text: the prompt and what the model wrote after it, in one text node each.

/** Runs `draw` at the next frame, however often it is asked to before. */
export class FrameBatch {
  private frame: number | undefined;

  private readonly draw: () => void;

  constructor(draw: () => void) {
    this.draw = draw;
  }

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

/** Characters of a prompt that are shown: laying out a megabyte anew at every frame would take seconds. */
const shownOfPrompt = 16_000;

export class OutputView {
  private wholePrompt = "";
  private readonly elided = document.createElement("p");
  private readonly shownPrompt = document.createElement("span");
  private readonly writtenNode = document.createTextNode("");
  /** Stands where the text ends. */
  private readonly caret = document.createElement("span");
  /** The window scrolls with the text, until its reader scrolls up. */
  private isFollowed = false;
  private scrolledTo = 0;

  private readonly element: HTMLElement;

  constructor(element: HTMLElement) {
    this.element = element;

    this.shownPrompt.className = "prompt";
    this.caret.className = "caret";
    this.elided.className = "quiet";
    this.elided.hidden = true;
    element.append(this.elided, this.shownPrompt, this.writtenNode, this.caret);
    window.addEventListener("scroll", () => this.noticeScroll(), { passive: true });
  }

  /** All of it: what Continue goes on from, and Copy takes. */
  get text(): string {
    return this.wholePrompt + this.written;
  }

  /** All of the prompt; the element may show only its end. */
  get prompt(): string {
    return this.wholePrompt;
  }

  get written(): string {
    return this.writtenNode.data;
  }

  /** Puts a new text in the place of the old one. */
  begin(prompt: string): void {
    this.wholePrompt = prompt;
    const shown = prompt.slice(-shownOfPrompt).replace(/^[\udc00-\udfff]/, ""); // no half character
    this.shownPrompt.textContent = shown;
    this.elided.hidden = shown === prompt;
    this.elided.textContent = this.elided.hidden
      ? ""
      : `The first ${(prompt.length - shown.length).toLocaleString("en")} characters are not shown; Copy takes them, too.`;
    this.writtenNode.data = "";
    this.scrolledTo = window.scrollY; // a page that became shorter has scrolled by itself
    this.isFollowed = true;
    this.follow();
  }

  append(text: string): void {
    this.writtenNode.appendData(text);
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
