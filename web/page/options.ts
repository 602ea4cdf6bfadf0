// The page's one panel of options.
import { elements as ui } from "./elements.js";
import { OptionsPanel } from "./options-panel.js";

export const options = new OptionsPanel(ui.options, ui.controls);
