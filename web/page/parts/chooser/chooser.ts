// The card that offers other models: of this site, of the Hub by id, or from this device. Fetched after the first
// paint.
import { onPress } from "../../dom/buttons.js";
import type { Drop } from "../../dom/drops.js";
import type { Elements } from "../../dom/elements.js";
import { isRepeated } from "../../dom/visit.js";
import { phrase } from "../../language/models.js";
import { phrase as phraseOfStart } from "../../language/start.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { filesModel, namedModel, queryOf } from "../../models/named-model.js";
import { isOfModel } from "../../library/kinds-of-texts.js";
import { mayChoose } from "../../models/host.js";
import type { Loading } from "../../models/loading.js";
import { whyInFull } from "../../language/why.js";
import type { ChosenModel, PageState } from "../../state/page-state.js";
import { rememberChoice } from "./choice.js";
import { showModelLine, type LineElements } from "./model-line.js";
import type { SiteModels } from "./site-models.js";
import "./choices.css";

type ChooserElements = LineElements &
  Pick<
    Elements,
    | ("chooserName" | "chooserWeights" | "siteModels" | "siteModelsList" | "releases")
    | ("hubForm" | "hubId" | "hubLoad" | "hubStatus" | "stored" | "storedList" | "storedStatus")
    | ("pickFolder" | "pickFolderButton" | "pickFiles" | "pickFilesButton")
  >;

class Chooser {
  private readonly ui: ChooserElements;
  private readonly state: PageState;
  private readonly loading: Loading;
  /** The id whose size is shown. The next press of the button loads that model. */
  private lookedUp: string | undefined;
  private asking: AbortController | undefined;
  private siteModels: SiteModels | undefined;

  constructor(ui: ChooserElements, state: PageState, loading: Loading) {
    this.ui = ui;
    this.state = state;
    this.loading = loading;
  }

  private get weights(): string {
    return this.ui.chooserWeights.value;
  }

  /** Reports that a part of the chooser could not be fetched, unless another error is shown. */
  private readonly sayMissing = (error: unknown): undefined => {
    const { hubStatus } = this.ui;
    if (!hubStatus.textContent)
      setTranslatedText(hubStatus, () => phraseOfStart("noPart", { why: whyInFull(error) }));
  };

  /** Explains what the field expects and focuses it. */
  private refuseName(): void {
    const { hubStatus, hubId } = this.ui;
    setTranslatedText(hubStatus, () => phrase("giveId"));
    hubId.ariaInvalid = "true";
    hubId.focus();
  }

  /** Switches to another model; the text stays. */
  private change(model: ChosenModel): Promise<void> {
    return this.loading.change(model, () => {
      rememberChoice(queryOf(model));
      setTranslatedText(this.ui.chooserName, () => model.name);
    });
  }

  /** Switches to a model that was just chosen here. */
  private readonly choose = (model: ChosenModel): Promise<void> => {
    this.forgetLookup();
    this.ui.chooser.open = false;
    return this.change(model);
  };

  readonly forgetLookup = (): void => {
    this.asking?.abort();
    this.lookedUp = undefined;
    this.ui.hubId.ariaInvalid = null;
    setTranslatedText(this.ui.hubStatus, () => "");
    setTranslatedText(this.ui.hubLoad, () => phrase("lookUp"));
  };

  /** The first press shows the size, or that it is unknown. The second press loads the model. */
  async lookUp(): Promise<void> {
    const text = this.ui.hubId.value.trim();
    if (text === "") return this.refuseName();
    if (this.lookedUp === text) return this.choose(namedModel(text, this.weights));
    this.asking?.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    const isOver = () => signal.aborted;
    setTranslatedText(this.ui.hubStatus, () => "");
    const offers = await import("./offers.js").catch(this.sayMissing);
    if (!offers || isOver()) return;
    if (!offers.isName(text)) return this.refuseName();
    const model = namedModel(text, this.weights);
    const { problem } = model;
    if (problem)
      return setTranslatedText(this.ui.hubStatus, () => phraseOfStart("notLoaded", { why: problem() }));
    if (model.elsewhere === undefined) return this.choose(model);
    const offer = await offers.describeElsewhere(this.ui, this.state, model, signal);
    if (isOver()) return;
    setTranslatedText(this.ui.hubStatus, offer.sentence);
    if (!offer.isLoadable) return;
    this.lookedUp = text;
    setTranslatedText(this.ui.hubLoad, () => phrase("download"));
  }

  readonly lookUpId = (id: string): void => {
    this.forgetLookup();
    this.ui.hubId.value = id;
    void this.lookUp();
  };

  /**
   * Loads a model from the `picked` files. If they contain no model, the current one stays, also if it is still
   * loading.
   */
  private async takeFiles(picked: () => Promise<{ files: readonly File[]; name?: string }>): Promise<void> {
    try {
      const { files, name } = await picked();
      const { checkFiles } = await import("../../models/check-files.js");
      await checkFiles(files);
      const model = filesModel(files, this.weights);
      await this.choose(name ? { ...model, name } : model);
    } catch (error) {
      this.state.showError((why) => phraseOfStart("notLoaded", { why }), error);
    }
  }

  offerPicking(input: HTMLInputElement, button: HTMLButtonElement): void {
    onPress(button, () => input.click());
    const take = () => {
      const files = [...(input.files ?? [])];
      if (files.length > 0) void this.takeFiles(async () => ({ files }));
      input.value = ""; // so that the same files can be picked again
    };
    input.addEventListener("change", take);
    take(); // files that were picked before the chooser was loaded
  }

  readonly takeDrop = ({ entries, files }: Drop): void => {
    void this.takeFiles(async () =>
      (await import("../../models/dropped-files.js")).filesOfDrop(entries, files),
    );
  };

  /** Fetches the parts that list models. */
  fill(): void {
    const chooseIt = (model: ChosenModel) => void this.choose(model);
    import("./site-models.js")
      .then(({ SiteModels }) => (this.siteModels ??= new SiteModels(this.ui, this.state, chooseIt)).show())
      .catch(this.sayMissing);
    import("./stored.js").then(({ showStored }) => showStored(this.ui, chooseIt)).catch(this.sayMissing);
    import("./offers.js")
      .then(({ showReleases }) => showReleases(this.ui, this.lookUpId))
      .catch(this.sayMissing);
  }

  /** After a reload, continues to load the model that was loading before. */
  async goOnLoading(): Promise<void> {
    const { rememberedDownload, forgetDownload } = await import("../../models/remembered-download.js");
    const coming = rememberedDownload();
    if (!coming) return;
    const before = this.state.chosen.peek();
    await this.loading.whenReady();
    // If the visitor has chosen another model in the meantime, that choice stays.
    if (this.state.chosen.peek() === before) await this.change(coming);
    else forgetDownload(coming);
  }
}

/** Shows the chooser if the page can load other models. `takeDrops` sets what takes dropped files. */
export function offerModels(
  ui: ChooserElements,
  state: PageState,
  loading: Loading,
  takeDrops: (take: (drop: Drop) => void) => void,
): void {
  ui.chooser.hidden = !mayChoose;
  ui.modelOffer.hidden = !mayChoose;
  if (!mayChoose) return takeDrops(({ files }) => (state.dropped.value = files));
  const chooser = new Chooser(ui, state, loading);
  const { name, weights: format } = state.chosen.peek();
  ui.chooser.classList.remove("later");
  ui.chooserName.textContent = name;
  ui.chooserWeights.value = format ?? "q8";
  showModelLine(ui, state, chooser.lookUpId);
  const fillOpen = () => {
    if (ui.chooser.open) chooser.fill();
  };
  ui.chooser.addEventListener("toggle", fillOpen);
  fillOpen();
  ui.hubForm.addEventListener("submit", (event) => {
    event.preventDefault();
    void chooser.lookUp();
  });
  ui.hubLoad.addEventListener("click", (event) => {
    // The second click of a double click was meant for the button's earlier action.
    if (event.detail > 1) event.preventDefault();
  });
  ui.hubId.addEventListener("input", chooser.forgetLookup);
  chooser.offerPicking(ui.pickFolder, ui.pickFolderButton);
  chooser.offerPicking(ui.pickFiles, ui.pickFilesButton);
  takeDrops((drop) => {
    const { entries, files } = drop;
    const isModel = files.length === 0 || files.some(isOfModel) || entries.some(({ isFile }) => !isFile);
    if (isModel) chooser.takeDrop(drop);
    else state.dropped.value = files;
  });
  if (isRepeated()) void chooser.goOnLoading().catch(() => undefined); // the visitor can choose it again
}
