// The list of keys that the page supports.
import { plainButton } from "../../dom/buttons.js";
import { make } from "../../dom/make.js";
import { isTouched } from "../../dom/touch.js";
import { phrase } from "../../language/editor.js";
import { keepTranslated } from "../../language/keep-translated.js";
import "./keys.css";

/** Keys, and what they do. */
function listKeys(): readonly (readonly [keys: string, action: string])[] {
  const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  const control = isMac ? "⌘" : phrase("key.control");
  const option = isMac ? "⌥" : "Alt";
  return [
    ["Tab", phrase(isTouched() ? "keys.tab.bar" : "keys.tab")],
    [`${isMac ? "⌥" : control} →`, phrase("keys.word")],
    [phrase("key.details", { option }), phrase("keys.details")],
    [phrase("key.views", { option }), phrase("keys.views")],
    ["Esc", phrase("keys.escape")],
    [phrase("key.leave"), phrase("keys.leave")],
    [phrase("key.write", { control }), phrase("keys.write")],
    [phrase("key.alternative", { option }), phrase("keys.alternative")],
    [`${control} Z`, phrase("keys.undo")],
    [isMac ? "⇧ ⌘ Z" : `${control} Y`, phrase("keys.redo")],
    [`${control} F`, phrase("keys.find")],
    [phrase("key.stage", { option }), phrase("keys.stage")],
    [phrase("key.clicker"), phrase("keys.clicker")],
    ["?", phrase("keys.sheet")],
  ];
}

function makeSheet(): HTMLDialogElement {
  const title = make("h2", { id: "keys-title", textContent: phrase("keys") });
  const rows = listKeys().map(([name, action]) =>
    make("div", {}, make("dt", {}, make("kbd", {}, name)), make("dd", {}, action)),
  );
  const close = plainButton(phrase("close"), () => dialog.close());
  const dialog = make("dialog", { id: "keys-sheet" }, title, make("dl", {}, ...rows), close);
  dialog.setAttribute("aria-labelledby", title.id);
  document.body.append(dialog);
  return dialog;
}

/** Shows the list when `button` is pressed, or when "?" is pressed outside a text field. */
export function offerKeys(button: HTMLButtonElement): void {
  let sheet: HTMLDialogElement | undefined;
  /** After closing, the focus returns to where it was. */
  const show = () => {
    sheet ??= makeSheet();
    if (!sheet.open) sheet.showModal();
  };
  button.classList.remove("later");
  keepTranslated(button, () => {
    sheet?.remove(); // rebuilt in the page's current language
    sheet = undefined;
  });
  button.addEventListener("click", show);
  document.addEventListener("keydown", (event) => {
    const isTyping =
      event.target instanceof HTMLElement &&
      (event.target.isContentEditable || event.target.matches("input, select, textarea"));
    if (event.key === "?" && !isTyping) show();
  });
}
