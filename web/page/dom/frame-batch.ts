// Draws at most once per frame.

/**
 * Runs `draw` in the next frame, however often a drawing is requested before. A hidden page has no frames: there, `draw`
 * runs at once, because the browser may discard the page.
 */
export class FrameBatch {
  private frame: number | undefined;

  private readonly draw: () => void;

  constructor(draw: () => void) {
    this.draw = draw;
  }

  request(): void {
    this.frame ??= requestAnimationFrame(() => this.flush());
    if (document.hidden) this.flush();
  }

  /** Draws now if a drawing was requested. */
  flush(): void {
    if (this.frame === undefined) return;
    cancelAnimationFrame(this.frame);
    this.frame = undefined;
    this.draw();
  }
}
