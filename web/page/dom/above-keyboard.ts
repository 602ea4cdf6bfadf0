// The dock above the on-screen keyboard, where a browser lays that over the page: Safari on iOS knows no interactive-widget.

/** Pixels of the window that are covered at least where that is a keyboard, and no bar of the browser's own. */
const leastKeyboard = 100;

/** Keeps `dock`, which sticks to the window's lower end, at the lower end of what is seen of it, and at most half as high. */
export function keepAboveKeyboard(dock: HTMLElement): void {
  const seen = window.visualViewport;
  if (!seen) return;
  const place = () => {
    const covered = window.innerHeight - seen.height;
    const isKeyboard = covered >= leastKeyboard && seen.scale < 1.01; // who has zoomed in sees less of the page, too
    dock.style.bottom = isKeyboard ? `${Math.max(0, covered - seen.offsetTop)}px` : "";
    dock.style.maxHeight = isKeyboard ? `${seen.height / 2}px` : "";
  };
  seen.addEventListener("resize", place);
  seen.addEventListener("scroll", place);
  window.addEventListener("resize", place);
}
