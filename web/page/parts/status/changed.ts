// Shows that the model writes without some of its parts. A press switches them on again.
import { hideKeepingFocus, onPress } from "../../dom/buttons.js";
import type { Elements } from "../../dom/elements.js";
import { phrase } from "../../language/editor.js";
import { keepTranslated } from "../../language/keep-translated.js";
import type { PageState } from "../../state/page-state.js";

export function showChanged(
  ui: Pick<Elements, "changed" | "generate">,
  { change }: Pick<PageState, "change">,
): void {
  const show = () => {
    const count = change.peek().length;
    if (count === 0) return hideKeepingFocus(ui.changed, ui.generate);
    ui.changed.textContent = `${phrase("partsOff", { count })} ✕`;
    ui.changed.ariaLabel = `${phrase("partsOff", { count })}. ${phrase("switchOn")}`;
    ui.changed.hidden = false;
  };
  onPress(ui.changed, () => (change.value = []));
  change.subscribe(show);
  keepTranslated(ui.changed, show);
}
