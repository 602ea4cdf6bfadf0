// Renames an item of a list in its place.
import { make } from "./make.js";

/**
 * Replaces the contents of `item` by a field with `name`. `done` is called once. It gets the new name after Enter or when
 * the field loses the focus, and undefined after Escape or if the field is empty.
 */
export function askName(
  item: HTMLElement,
  name: string,
  label: string,
  done: (name: string | undefined) => void,
): void {
  const field = make("input", { value: name, ariaLabel: label });
  let isDone = false;
  const finish = (isWanted: boolean) => {
    if (isDone) return;
    isDone = true;
    done((isWanted && field.value.trim()) || undefined);
  };
  field.addEventListener("keydown", (event) => {
    if ((event.key !== "Enter" && event.key !== "Escape") || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    finish(event.key === "Enter");
  });
  field.addEventListener("blur", () => finish(true));
  item.replaceChildren(field);
  field.focus();
  field.select();
}
