// Keeps the text of this tab on the device. Fetched with the editor, because the first paint does not need it.
import type { GenerateOptions } from "../../../src/client/index.js";
import type { Writing } from "../../assistant/writing.js";
import { parseFields } from "../../document/parse-fields.js";
import type { Surface } from "../../document/surface.js";
import type { Elements } from "../../dom/elements.js";
import { parseOptions } from "../../library/parse-options.js";
import { phrase } from "../../language/texts.js";
import { Tab } from "../../library/tab.js";
import { deviceModelOf, parseDeviceModel } from "../../models/device-model.js";
import { onChange, type PageState } from "../../state/page-state.js";
import { hideUnstored, showUnstored, type NoticeElements } from "./notice.js";

export interface KeptOptions {
  /** What the visitor set, without refused values; undefined until it is known. */
  own: GenerateOptions | undefined;
  show: (options: GenerateOptions) => void;
}

/** Stores options, seed, fields and a model of this device with each text. */
export function keepTexts(
  ui: NoticeElements & Pick<Elements, "draft">,
  state: PageState,
  surface: Surface,
  options: KeptOptions,
  writing: Writing,
): Tab {
  const tab: Tab = new Tab({
    surface,
    field: ui.draft,
    beside: {
      read: () => ({
        options: options.own,
        seed: writing.lastSeed,
        fields: state.fields.peek(),
        model: deviceModelOf(state.chosen.peek()) ?? tab.wanted.peek(),
      }),
      show: (stored) => {
        const { options: set, seed, fields, model } = Object(stored) as Record<string, unknown>;
        options.show(parseOptions(set));
        state.fields.value = parseFields(fields);
        tab.wanted.value = parseDeviceModel(model);
        writing.restoreSeed(typeof seed === "number" ? seed : undefined);
      },
    },
    showFailure: (error) => showUnstored(ui, error, () => tab.unstoredTexts),
    showStored: () => hideUnstored(ui),
    showDamage: (what) => state.showError(() => `${phrase(what)}.`),
  });
  onChange(state.chosen, (chosen) => {
    if (!tab.wanted.peek() && !deviceModelOf(chosen)) return;
    tab.wanted.value = undefined;
    tab.noteChange();
  });
  return tab;
}
