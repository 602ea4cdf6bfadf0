// Asks who chooses another language before the page is loaded once more for it, where something would be lost by that.
import { plainButton } from "../buttons.js";
import { phrase } from "../language/models.js";

/** Whether the page may be loaded once more, though the files of the model `name` have to be picked again after that. */
export function mayForgetFiles(name: string): Promise<boolean> {
  const dialog = document.createElement("dialog");
  const said = document.createElement("p");
  said.id = "forget-files";
  said.textContent = phrase("filesGo", { name });
  dialog.setAttribute("aria-labelledby", said.id);
  const buttons = document.createElement("div");
  buttons.className = "buttons";
  buttons.append(
    plainButton(phrase("stayHere"), () => dialog.close()),
    plainButton(phrase("reloadAnyway"), () => dialog.close("yes")),
  );
  dialog.append(said, buttons);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((answer) => {
    dialog.addEventListener("close", () => {
      answer(dialog.returnValue === "yes");
      dialog.remove();
    });
  });
}
