// The side panel: the library, options, sharing, saving and the device, one section each. On a small screen it covers the text.
import type { Elements } from "../../dom/elements.js";
import { phrase } from "../../language/editor.js";
import { keepTranslated } from "../../language/keep-translated.js";
import type { PageState, PanelSection } from "../../state/page-state.js";
import "./panel.css";

type PanelElements = Pick<
  Elements,
  "panel" | "panelClose" | "menu" | "menuButton" | "libraryOpen" | "presetShown"
>;

const sections: Readonly<Record<PanelSection, true>> = {
  library: true,
  options: true,
  sharing: true,
  "saving-texts": true,
  device: true,
};

const isSection = (name = ""): name is PanelSection => Object.hasOwn(sections, name);

/** Opens the panel from the menu, from the status line, and if a value is refused. Escape or its button close it. */
export function offerPanel(ui: PanelElements, state: PageState): void {
  const sectionsOf = () => ui.panel.querySelectorAll("details");
  /** The element that had the focus before the panel was opened. */
  let opener: HTMLElement = ui.menuButton;

  function open(section: PanelSection, from: HTMLElement): void {
    opener = from;
    state.panel.value = section;
    sectionOf(section)?.querySelector("summary")?.focus();
  }
  const sectionOf = (section: PanelSection) => [...sectionsOf()].find(({ id }) => id === section);

  state.panel.subscribe((section) => {
    const hadFocus = ui.panel.contains(document.activeElement);
    ui.panel.hidden = section === undefined;
    if (section === undefined) {
      for (const each of sectionsOf()) each.open = false;
      if (hadFocus) opener.focus();
      return;
    }
    const shown = sectionOf(section);
    if (shown) shown.open = true;
  });
  ui.menu.addEventListener("click", ({ target }) => {
    const name = target instanceof HTMLElement ? target.dataset.section : undefined;
    if (isSection(name)) open(name, ui.menuButton);
  });
  ui.libraryOpen.addEventListener("click", () => open("library", ui.libraryOpen));
  ui.libraryOpen.classList.remove("later");
  ui.presetShown.addEventListener("click", () => open("options", ui.presetShown));
  ui.panelClose.addEventListener("click", () => (state.panel.value = undefined));
  ui.panel.addEventListener("keydown", (event) => {
    const isWriting = state.activity.peek().kind === "writing"; // then Escape stops the model
    if (event.key !== "Escape" || event.isComposing || isWriting) return;
    event.stopPropagation(); // Escape must not have another effect
    state.panel.value = undefined;
  });
  const showPreset = () => {
    const preset = state.preset.peek()();
    ui.presetShown.textContent = preset;
    ui.presetShown.ariaLabel = phrase("presetNow", { preset });
  };
  keepTranslated(ui.presetShown, showPreset);
  state.preset.subscribe(showPreset);
  ui.presetShown.classList.remove("later");
}
