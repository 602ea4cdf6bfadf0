// The page's one panel of options.
import { elements as ui } from "./elements.js";
import { presets } from "./option-list.js";
import { OptionsPanel } from "./options-panel.js";
import { phrase } from "./language/start.js";

export const options = new OptionsPanel(ui.options, ui.controls);

/** Names all that there is to set. */
export function offerOptions(): void {
  options.label();
  for (const preset of presets) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    button.textContent = phrase(`preset.${preset.name}`);
    button.title = phrase(`preset.${preset.name}.help`);
    button.addEventListener("click", () => options.use(preset));
    ui.presets.append(button);
  }
}
