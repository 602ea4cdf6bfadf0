// Keeps the dock above the on-screen keyboard in browsers that lay the keyboard over the page. Safari on iOS does not
// support `interactive-widget`.

/** If fewer pixels are covered, the cause is a bar of the browser and not a keyboard. */
const leastKeyboard = 100;

/**
 * Keeps the sticky `dock` at the lower end of the visible part of the window, and at most half as high as that part.
 */
export function keepAboveKeyboard(dock: HTMLElement): void {
  const seen = window.visualViewport;
  if (!seen) return;
  const place = () => {
    const covered = window.innerHeight - seen.height;
    const isKeyboard = covered >= leastKeyboard && seen.scale < 1.01; // zooming in also makes the visible part smaller
    dock.style.bottom = isKeyboard ? `${Math.max(0, covered - seen.offsetTop)}px` : "";
    dock.style.maxHeight = isKeyboard ? `${seen.height / 2}px` : "";
  };
  seen.addEventListener("resize", place);
  seen.addEventListener("scroll", place);
  window.addEventListener("resize", place);
}
