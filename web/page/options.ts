// The page's one panel of options.
import { elements as ui } from "./elements.js";
import { presets } from "./option-list.js";
import { OptionsPanel } from "./options-panel.js";

export const options = new OptionsPanel(ui.options, ui.controls);

for (const preset of presets) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain";
  button.textContent = preset.name;
  button.title = preset.help;
  button.addEventListener("click", () => options.use(preset));
  ui.presets.append(button);
}
