// Drawing once a frame.

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
