// The page's one panel of options.
import { plainButton } from "../../dom/buttons.js";
import { elements as ui } from "../../dom/elements.js";
import { phrase } from "../../language/start.js";
import { keepTranslated, setTranslatedText } from "../../language/keep-translated.js";
import { onChange, type PageState } from "../../state/page-state.js";
import { presets } from "./option-list.js";
import { OptionsPanel } from "./options-panel.js";

/** Makes it, names all that there is to set, and shows each model's own values. */
export function offerOptions(state: PageState): OptionsPanel {
  const options = new OptionsPanel(ui.options, ui.controls);
  keepTranslated(options, () => options.label());
  for (const preset of presets) {
    const { name } = preset;
    const item = document.createElement("div");
    const button = plainButton("", () => options.use(preset));
    setTranslatedText(button, () => phrase(`preset.${name}`));
    const help = document.createElement("small");
    help.id = `help-${name}`;
    setTranslatedText(help, () => phrase(`preset.${name}.help`));
    button.setAttribute("aria-describedby", help.id);
    item.append(button, help);
    ui.presets.append(item);
  }
  onChange(state.loaded, (model) => {
    if (model) options.showDefaults(model.info.defaults);
  });
  return options;
}
