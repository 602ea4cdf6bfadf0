// The page's one panel of options.
import { plainButton } from "../../dom/buttons.js";
import { elements as ui } from "../../dom/elements.js";
import { presets } from "./option-list.js";
import { OptionsPanel } from "./options-panel.js";
import { phrase } from "../../language/start.js";
import { put, keepTold } from "../../language/told.js";

export const options = new OptionsPanel(ui.options, ui.controls);

/** Names all that there is to set. */
export function offerOptions(): void {
  keepTold(options, () => options.label());
  for (const preset of presets) {
    const { name } = preset;
    const item = document.createElement("div");
    const button = plainButton("", () => options.use(preset));
    put(button, () => phrase(`preset.${name}`));
    const help = document.createElement("small");
    help.id = `help-${name}`;
    put(help, () => phrase(`preset.${name}.help`));
    button.setAttribute("aria-describedby", help.id);
    item.append(button, help);
    ui.presets.append(item);
  }
}
