// The part of the chooser that lists the models stored on this device, loads, keeps and removes them. Fetched when
// the chooser is opened.
import { keepModel, listModels, removeModel, type StoredModel } from "../../../src/client/index.js";
import { plainButton } from "../../dom/buttons.js";
import { namedModel } from "../../models/named-model.js";
import type { ChosenModel } from "../../state/page-state.js";
import type { Elements } from "../../dom/elements.js";
import { make } from "../../dom/make.js";
import { formatBytes } from "../../language/numbers.js";
import { phrase } from "../../language/models.js";
import { keepTranslated, setTranslatedText } from "../../language/keep-translated.js";
import { whyInFull } from "../../language/why.js";

type StoredElements = Pick<Elements, "stored" | "storedList" | "storedStatus" | "chooser">;

/** The model's name for the visitor. The Hub's default revision is left out. */
function chosenOf({ id, weights }: StoredModel): ChosenModel {
  return namedModel(id.replace(/^(hf:.*)@main$/, "$1"), weights);
}

function describe({ bytes, totalBytes, isComplete, weights }: StoredModel): string {
  const size = isComplete
    ? formatBytes(bytes)
    : phrase("part", { bytes: formatBytes(bytes), total: formatBytes(totalBytes) });
  return weights === "q4" ? phrase("fourBits", { size }) : size;
}

/** A button that shows in the status line of the list why its action failed. */
function button(
  { storedStatus }: StoredElements,
  text: string,
  label: string,
  action: () => Promise<void>,
): HTMLButtonElement {
  const made = plainButton(text, () => {
    setTranslatedText(storedStatus, () => ""); // so that the same failure is announced again
    action().catch((error: unknown) =>
      setTranslatedText(storedStatus, () => phrase("notDone", { why: whyInFull(error) })),
    );
  });
  made.ariaLabel = label;
  return made;
}

function rowOf(ui: StoredElements, model: StoredModel, choose: (model: ChosenModel) => void): HTMLLIElement {
  const chosen = chosenOf(model);
  const { name } = chosen;
  const size = make("span", { className: "quiet" }, describe(model));
  const title = make("span", { className: "name", title: model.id }, name, " ", size);
  const load = button(ui, phrase("load"), phrase("loadNamed", { name }), async () => choose(chosen));
  const keepLabel = phrase("keepNamed", { name });
  const keep = button(ui, phrase(model.isKept ? "kept" : "keep"), keepLabel, async () => {
    const isAgreed = await keepModel(model.id, !model.isKept);
    const kept = () => phrase(isAgreed ? "stays" : "mayGo", { name });
    await showStored(ui, choose, model.isKept ? () => phrase("makesRoom", { name }) : kept, keepLabel);
  });
  keep.ariaPressed = String(model.isKept);
  const remove = button(ui, phrase("remove"), phrase("removeNamed", { name }), async () => {
    await removeModel(model.id);
    await showStored(ui, choose, () => phrase("removed", { name }));
  });
  return make("li", {}, title, make("div", { className: "buttons" }, load, keep, remove));
}

/**
 * Shows the stored models; calls `choose` with one to load. The focus moves to the button with `label`, or to one
 * near it.
 */
export async function showStored(
  ui: StoredElements,
  choose: (model: ChosenModel) => void,
  said = () => "",
  label?: string,
): Promise<void> {
  const models = await listModels().catch(() => []); // if the module that lists them cannot be fetched, nothing is stored
  const hadFocus = ui.storedList.contains(document.activeElement);
  keepTranslated(ui.storedList, () =>
    ui.storedList.replaceChildren(...models.map((model) => rowOf(ui, model, choose))),
  );
  setTranslatedText(ui.storedStatus, said);
  ui.stored.hidden = models.length === 0 && said() === "";
  if (!hadFocus) return;
  const buttons = [...ui.storedList.querySelectorAll("button")];
  const next = buttons.find((each) => each.ariaLabel === label) ?? buttons[0];
  (next ?? ui.chooser.querySelector("summary"))?.focus();
}
