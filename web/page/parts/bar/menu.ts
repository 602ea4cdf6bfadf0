// The menu beside the buttons: what one does less often. On a small screen Undo and Redo are in it, too.
import { elements as ui } from "../../dom/elements.js";

/** The row has room for them from here on. */
const roomy = "(min-width: 40rem)";

/** Keeps Undo and Redo in the row where it has room for them. */
function placeSteps(): void {
  const query = matchMedia(roomy);
  const place = () => {
    if (query.matches) ui.menuButton.before(ui.undo, ui.redo);
    else ui.menu.prepend(ui.undo, ui.redo);
  };
  query.addEventListener("change", place);
  place();
}

/** Opens the menu above its button. An item, Escape, or a press elsewhere closes it. */
export function offerMenu(): void {
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
    const { right, top } = menuButton.getBoundingClientRect();
    menu.style.right = `${document.documentElement.clientWidth - right}px`;
    menu.style.bottom = `${window.innerHeight - top + 4}px`;
    items()[0]?.focus();
  }

  placeSteps();
  menuButton.classList.remove("later");
  menuButton.addEventListener("click", () => show(!isOpen()));
  menu.addEventListener("click", () => show(false), { capture: true }); // before what the item does takes the focus
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
