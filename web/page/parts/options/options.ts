// Creates the page's Options panel.
import { plainButton } from "../../dom/buttons.js";
import type { Elements } from "../../dom/elements.js";
import { make } from "../../dom/make.js";
import { phrase } from "../../language/editor.js";
import { keepTranslated, setTranslatedText } from "../../language/keep-translated.js";
import type { PageState } from "../../state/page-state.js";
import { presets } from "./option-list.js";
import { OptionsPanel } from "./options-panel.js";
import "./options.css";

/** Creates the panel, labels all its options, and shows each model's defaults. */
export function offerOptions(
  ui: Pick<Elements, "options" | "controls" | "presets" | "tabSees">,
  state: PageState,
): OptionsPanel {
  const options = new OptionsPanel(() => {
    state.panel.value = "options";
    ui.options.open = true; // if the panel is already open
  }, ui.controls);
  keepTranslated(options, () => options.label());
  const offered = presets.map((preset) => {
    const { name } = preset;
    const button = plainButton("", () => options.use(preset));
    setTranslatedText(button, () => phrase(`preset.${name}`));
    const help = make("small", { id: `help-${name}` });
    setTranslatedText(help, () => phrase(`preset.${name}.help`));
    button.setAttribute("aria-describedby", help.id);
    ui.presets.append(make("div", {}, button, help));
    return { preset, button };
  });
  const fields = plainButton("", () => {
    state.panel.value = undefined; // it may cover the text
    ui.tabSees.click();
    ui.tabSees.focus();
  });
  setTranslatedText(fields, () => `${phrase("field.remember")}, ${phrase("field.note")}…`);
  ui.controls.after(fields);
  const showPreset = () => {
    const set = options.presetOf(presets);
    for (const { preset, button } of offered) button.ariaPressed = String(preset === set);
    state.preset.value = () => phrase(set ? `preset.${set.name}` : "ownPreset");
  };
  state.loaded.subscribe((model) => {
    if (model) options.showDefaults(model.info.defaults);
    showPreset();
  });
  ui.controls.addEventListener("input", showPreset);
  showPreset();
  return options;
}
