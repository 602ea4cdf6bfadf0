// The page's one panel of options.
import { plainButton } from "./buttons.js";
import { elements as ui } from "./elements.js";
import { presets } from "./option-list.js";
import { OptionsPanel } from "./options-panel.js";
import { phrase } from "./language/start.js";

export const options = new OptionsPanel(ui.options, ui.controls);

/** Names all that there is to set. */
export function offerOptions(): void {
  options.label();
  for (const preset of presets) {
    const button = plainButton(phrase(`preset.${preset.name}`), () => options.use(preset));
    button.title = phrase(`preset.${preset.name}.help`);
    ui.presets.append(button);
  }
}
