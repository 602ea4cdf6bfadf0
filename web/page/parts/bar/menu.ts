// The menu beside the buttons, for less frequent actions. On a small screen it also holds Undo and Redo.
import type { Elements } from "../../dom/elements.js";
import "./menu.css";

/** From this width on, the row has room for Undo and Redo. */
const roomy = "(min-width: 40rem)";

type MenuElements = Pick<Elements, "menu" | "menuButton" | "undo" | "redo">;

/** Keeps Undo and Redo in the row if there is room. */
function placeSteps(ui: MenuElements): void {
  const query = matchMedia(roomy);
  const place = () => {
    if (query.matches) ui.menuButton.before(ui.undo, ui.redo);
    else ui.menu.prepend(ui.undo, ui.redo);
  };
  query.addEventListener("change", place);
  place();
}

/** Pixels from the menu to its button, and at least to the edge of the window. */
const gap = 4;

/** Places the menu above or below its button, where there is more room, and no larger than that. */
function placeMenu({ menu, menuButton }: MenuElements): void {
  const { right, top, bottom } = menuButton.getBoundingClientRect();
  const below = window.innerHeight - bottom;
  const isAbove = top >= below;
  menu.style.right = `${document.documentElement.clientWidth - right}px`;
  menu.style.top = isAbove ? "" : `${bottom + gap}px`;
  menu.style.bottom = isAbove ? `${window.innerHeight - top + gap}px` : "";
  menu.style.maxHeight = `${Math.max(top, below) - 2 * gap}px`;
}

/** Opens the menu beside its button. Choosing an item, Escape, or a press outside closes it. */
export function offerMenu(ui: MenuElements): void {
  const { menu, menuButton } = ui;
  const items = () => [...menu.querySelectorAll<HTMLButtonElement>("button")];
  const isOpen = () => menu.dataset.open !== undefined;

  function show(isShown: boolean): void {
    if (isShown === isOpen()) return;
    const hadFocus = menu.contains(document.activeElement);
    menu.hidden = !isShown;
    menuButton.ariaExpanded = String(isShown);
    if (!isShown) {
      delete menu.dataset.open;
      if (hadFocus) menuButton.focus();
      return;
    }
    menu.dataset.open = "";
    placeMenu(ui);
    items()[0]?.focus();
  }

  placeSteps(ui);
  menuButton.classList.remove("later");
  menuButton.addEventListener("click", () => show(!isOpen()));
  menu.addEventListener("click", () => show(false), { capture: true }); // closes the menu before the item's action moves the focus
  document.addEventListener("pointerdown", ({ target }) => {
    if (target instanceof Node && !menu.contains(target) && !menuButton.contains(target)) show(false);
  });
  menu.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !menu.contains(relatedTarget)) show(false);
  });
  menu.addEventListener("keydown", (event) => {
    const all = items();
    const place = all.findIndex((each) => each === document.activeElement);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: place + 1,
      ArrowUp: place - 1 + all.length,
      Home: 0,
      End: all.length - 1,
    };
    const step = steps[event.key];
    if (event.key === "Escape") {
      event.stopPropagation();
      show(false);
    } else if (step !== undefined) {
      event.preventDefault();
      all[step % all.length]?.focus();
    }
  });
}
