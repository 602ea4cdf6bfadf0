// A note that the text was written with a model of this device, which a reload of the page has lost.
import { effect, type ReadonlySignal } from "@preact/signals-core";
import type { Elements } from "../../dom/elements.js";
import type { Note, Notes } from "../../dom/notes.js";
import { phrase } from "../../language/editor.js";
import { deviceModelOf } from "../../models/device-model.js";
import { mayChoose } from "../../models/host.js";
import type { DeviceModel, PageState } from "../../state/page-state.js";

/** Offers to choose the files again, until a model is chosen or another text is shown. */
export function offerDeviceModel(
  notes: Notes,
  ui: Pick<Elements, "pickFolder" | "pickFiles">,
  { chosen }: Pick<PageState, "chosen">,
  wanted: ReadonlySignal<DeviceModel | undefined>,
): void {
  if (!mayChoose) return;
  let shown: Note | undefined;
  effect(() => {
    notes.hide(shown);
    if (!wanted.value || deviceModelOf(chosen.value)?.name === wanted.value.name) return;
    const { name, isFile } = wanted.value;
    const note: Note = {
      sentence: () => phrase("deviceModel", { name, other: chosen.peek().name }),
      label: () => phrase(isFile ? "chooseFile" : "chooseFolder"),
      press: () => {
        (isFile ? ui.pickFiles : ui.pickFolder).click();
        notes.show(note); // the visitor may close the picker
      },
    };
    notes.show((shown = note));
  });
}
