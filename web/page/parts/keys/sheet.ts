// The list of keys that the page supports.
import { plainButton } from "../../dom/buttons.js";
import { isTouched } from "../../dom/touch.js";
import { phrase } from "../../language/editor.js";
import { keepTranslated } from "../../language/keep-translated.js";

/** Keys, and what they do. */
function listKeys(): readonly (readonly [keys: string, action: string])[] {
  const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  const control = isMac ? "⌘" : phrase("key.control");
  return [
    ["Tab", phrase(isTouched() ? "keys.tab.bar" : "keys.tab")],
    [`${isMac ? "⌥" : control} →`, phrase("keys.word")],
    [phrase("key.details", { option: isMac ? "⌥" : "Alt" }), phrase("keys.details")],
    ["Esc", phrase("keys.escape")],
    [phrase("key.leave"), phrase("keys.leave")],
    [phrase("key.write", { control }), phrase("keys.write")],
    [phrase("key.alternative", { option: isMac ? "⌥" : "Alt" }), phrase("keys.alternative")],
    [`${control} Z`, phrase("keys.undo")],
    [isMac ? "⇧ ⌘ Z" : `${control} Y`, phrase("keys.redo")],
    [`${control} F`, phrase("keys.find")],
    [phrase("key.stage", { option: isMac ? "⌥" : "Alt" }), phrase("keys.stage")],
    [phrase("key.clicker"), phrase("keys.clicker")],
    ["?", phrase("keys.sheet")],
  ];
}

function make(): HTMLDialogElement {
  const dialog = document.createElement("dialog");
  dialog.id = "keys-sheet";
  dialog.setAttribute("aria-labelledby", "keys-title");
  const title = document.createElement("h2");
  title.id = "keys-title";
  title.textContent = phrase("keys");
  const list = document.createElement("dl");
  for (const [name, action] of listKeys()) {
    const row = document.createElement("div");
    const term = document.createElement("dt");
    const key = document.createElement("kbd");
    key.textContent = name;
    term.append(key);
    const what = document.createElement("dd");
    what.textContent = action;
    row.append(term, what);
    list.append(row);
  }
  const close = plainButton(phrase("close"), () => dialog.close());
  dialog.append(title, list, close);
  document.body.append(dialog);
  return dialog;
}

/** Shows the list when `button` is pressed, or when "?" is pressed outside a text field. */
export function offerKeys(button: HTMLButtonElement): void {
  let sheet: HTMLDialogElement | undefined;
  /** After closing, the focus returns to where it was. */
  const show = () => {
    sheet ??= make();
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
