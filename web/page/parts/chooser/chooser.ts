// The card in which another model is chosen: of this site, of the hub by its id, or from this device.
import { onPress } from "../../dom/buttons.js";
import { addressOf, filesModel, namedModel, queryOf, type ChosenModel } from "../../models/chosen-model.js";
import { elements as ui } from "../../dom/elements.js";
import { mayChoose } from "../../models/host.js";
import { changeModel, chosenModel, whenModel } from "../../models/loading.js";
import { pageAddress, viewOf } from "../../dom/view-address.js";
import { showError } from "../../state/messages.js";
import { messageOf } from "../../state/errors.js";
import { isRepeated } from "../../dom/visit.js";
import { isWriting, stopWriting } from "../../assistant/writing.js";
import { phrase } from "../../language/start.js";
import { put } from "../../language/told.js";

/** The id whose size is shown: the next press of the button loads it. */
let lookedUp: string | undefined;
let asking: AbortController | undefined;

const weights = () => ui.chooserWeights.value;

/** The choice of this visit, so that a reload need not ask again. Others of the same host share the storage. */
const choiceKey = `gpt2-model ${location.pathname}`;

function keepChoice(query: string): void {
  history.replaceState(null, "", (query || pageAddress()) + viewOf(location.hash));
  try {
    sessionStorage.setItem(choiceKey, query);
  } catch {
    // There is none, as in a sandboxed frame.
  }
}

/** Whether the page's reader chose what its address names. */
export function isChosen(): boolean {
  try {
    return sessionStorage.getItem(choiceKey) === location.search;
  } catch {
    return false;
  }
}

/** Says that a part of the chooser could not be fetched, where nothing else is said. */
function sayMissing(error: unknown): undefined {
  if (!ui.hubStatus.textContent) put(ui.hubStatus, () => phrase("noPart", { why: messageOf(error) }));
}

/** Lets another model write; the text that is there stays. */
function change(model: ChosenModel): Promise<void> {
  return changeModel(model, {
    stop: stopWriting,
    isBusy: isWriting,
    placed: () => {
      keepChoice(queryOf(model));
      ui.chooserName.textContent = model.name;
    },
  });
}

/** As `change`, of one that was just chosen here. */
function choose(model: ChosenModel): Promise<void> {
  forgetLookup();
  ui.chooser.open = false;
  return change(model);
}

function forgetLookup(): void {
  asking?.abort();
  lookedUp = undefined;
  ui.hubId.ariaInvalid = null;
  put(ui.hubStatus, () => "");
  put(ui.hubLoad, () => phrase("lookUp"));
}

/** Says what is expected of the field, and goes there. */
function refuseName(): void {
  put(ui.hubStatus, () => phrase("giveId"));
  ui.hubId.ariaInvalid = "true";
  ui.hubId.focus();
}

/** First how much it is, or that nobody tells; then, once more pressed, the model. */
async function lookUp(): Promise<void> {
  const text = ui.hubId.value.trim();
  if (text === "") return refuseName();
  if (lookedUp === text) return choose(namedModel(text, weights()));
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  const isOver = () => signal.aborted;
  put(ui.hubStatus, () => "");
  const offers = await import("./offers.js").catch(sayMissing);
  if (!offers || isOver()) return;
  if (!offers.isName(text)) return refuseName();
  const model = namedModel(text, weights());
  const { problem } = model;
  if (problem) return put(ui.hubStatus, () => phrase("notLoaded", { why: problem() }));
  if (model.elsewhere === undefined) return choose(model);
  const offer = await offers.describeElsewhere(model, signal);
  if (isOver()) return;
  put(ui.hubStatus, offer.sentence);
  if (!offer.isLoadable) return;
  lookedUp = text;
  put(ui.hubLoad, () => phrase("download"));
}

/** Takes the files that `picked` gives, and the name of their model; the one that is there, or comes, stays where they are none. */
async function takeFiles(picked: () => Promise<{ files: readonly File[]; name?: string }>): Promise<void> {
  try {
    const { files, name } = await picked();
    const { checkFiles } = await import("../../models/check-files.js");
    await checkFiles(files);
    const model = filesModel(files, weights());
    await choose(name ? { ...model, name } : model);
  } catch (error) {
    showError(() => phrase("notLoaded", { why: messageOf(error) }));
  }
}

function offerPicking(input: HTMLInputElement, button: HTMLButtonElement): void {
  onPress(button, () => input.click());
  input.addEventListener("change", () => {
    const files = [...(input.files ?? [])];
    if (files.length > 0) void takeFiles(async () => ({ files }));
    input.value = ""; // so that the same ones can be picked again
  });
}

/** Has to be called while the drop is handled: what was dropped is forgotten afterwards. */
function takeDrop(dropped: DataTransfer): void {
  const entries = [...dropped.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const plain = [...dropped.files];
  void takeFiles(async () => (await import("../../models/dropped-files.js")).filesOfDrop(entries, plain));
}

function offerDropping(): void {
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  const show = (isOver: boolean) => document.body.classList.toggle("dropping", isOver);
  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return; // text is dropped into the field as ever
    event.preventDefault();
    show(true);
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) show(false);
  });
  document.addEventListener("drop", (event) => {
    show(false);
    if (!hasFiles(event) || !event.dataTransfer) return;
    event.preventDefault();
    takeDrop(event.dataTransfer);
  });
}

/** Fetches the parts that tell what there is to choose. */
function fillChooser(): void {
  const chooseIt = (model: ChosenModel) => void choose(model);
  import("./site-models.js").then(({ showSiteModels }) => showSiteModels(chooseIt)).catch(sayMissing);
  import("./stored.js").then(({ showStored }) => showStored(chooseIt)).catch(sayMissing);
  import("./offers.js")
    .then(({ showReleases }) =>
      showReleases((id) => {
        forgetLookup();
        ui.hubId.value = id;
        void lookUp();
      }),
    )
    .catch(sayMissing);
}

/** Goes on with the model that was coming when this page was loaded once more. */
async function goOnLoading(): Promise<void> {
  const { keptComing, dropComing } = await import("../../models/coming.js");
  const coming = keptComing();
  if (!coming) return;
  const before = chosenModel();
  await whenModel();
  // Who has chosen another one meanwhile has that; who is about to goes on with it.
  if (chosenModel() === before) await change(coming);
  else dropComing(coming);
}

/** Shows the chooser, where the page can have another model than its own. */
export function offerModels(): void {
  ui.chooser.hidden = !mayChoose;
  if (!mayChoose) return;
  ui.chooser.classList.remove("later");
  ui.chooserName.textContent = chosenModel().name;
  ui.chooserWeights.value = chosenModel().weights ?? "q8";
  ui.chooser.addEventListener("toggle", () => {
    if (ui.chooser.open) fillChooser();
  });
  ui.hubForm.addEventListener("submit", (event) => {
    event.preventDefault();
    void lookUp();
  });
  ui.hubLoad.addEventListener("click", (event) => {
    // The second click of two is meant for what was there before.
    if (event.detail > 1) event.preventDefault();
  });
  ui.hubId.addEventListener("input", forgetLookup);
  offerPicking(ui.pickFolder, ui.pickFolderButton);
  offerPicking(ui.pickFiles, ui.pickFilesButton);
  offerDropping();
  if (isRepeated()) void goOnLoading().catch(() => undefined); // the user can choose it again
}

/** Asks before anything leaves for a host that only the page's address names: whoever made a link is not its reader. */
export function askForElsewhere({ name, elsewhere = "" }: ChosenModel): void {
  ui.chooser.open = true;
  ui.hubId.value = addressOf(chosenModel());
  put(ui.hubStatus, () => phrase("elsewhere", { name, host: elsewhere }));
}
