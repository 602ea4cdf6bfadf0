// The models that the site's owner put beside the page, listed in models/index.json by `npm run model`.
import { baseAddress } from "../../../src/shared/base-address.js";
import { plainButton } from "../../dom/buttons.js";
import { folderModel } from "../../models/chosen-model.js";
import { isDemo } from "../../models/model-address.js";
import type { ChosenModel, PageState } from "../../state/page-state.js";
import type { Elements } from "../../dom/elements.js";
import { formatBytes } from "../../language/numbers.js";
import { formatLarge } from "../../language/quantities.js";
import { phrase } from "../../language/models.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { languageNote } from "./offers.js";
import { expectationOf } from "../../models/expectation.js";

/** A folder in models/, as listed in index.json. */
interface ListedModel {
  folder: string;
  name: string;
  parameters: number;
  /** Size of the download. */
  bytes: number;
}

function isListed(value: unknown): value is ListedModel {
  const { folder, name, parameters, bytes } = Object(value) as Record<string, unknown>;
  return (
    typeof folder === "string" &&
    /^[\w-][\w.-]*$/.test(folder) &&
    typeof name === "string" &&
    typeof parameters === "number" &&
    typeof bytes === "number"
  );
}

/** The models of the host; empty if it has no valid list; undefined if it does not answer. */
async function fetchList(): Promise<ListedModel[] | undefined> {
  try {
    const response = await fetch(new URL("models/index.json", baseAddress()), { cache: "no-cache" });
    if (!response.ok) return response.status === 404 ? [] : undefined;
    const list: unknown = await response.json();
    return Array.isArray(list) ? list.filter(isListed) : [];
  } catch {
    return undefined; // without a network, the other ways to load a model report it
  }
}

/** The demo has a name in each language; the site's owner named the others. */
function modelOf({ folder, name }: ListedModel): ChosenModel {
  const model = folderModel(`models/${folder}/`);
  if (!isDemo(model)) return { ...model, name };
  return {
    ...model,
    get name() {
      return phrase("demoName");
    },
  };
}

/** A listed model with its button. */
interface Shown {
  button: HTMLButtonElement;
  size: () => string;
  bytes: number;
}

/** The models of this site in the chooser. Calls `choose` with the pressed one. */
export class SiteModels {
  private readonly ui: Pick<Elements, "siteModels" | "siteModelsList">;
  private readonly state: PageState;
  private readonly choose: (model: ChosenModel) => void;
  private shown: readonly Shown[] | undefined;

  constructor(
    ui: Pick<Elements, "siteModels" | "siteModelsList">,
    state: PageState,
    choose: (model: ChosenModel) => void,
  ) {
    this.ui = ui;
    this.state = state;
    this.choose = choose;
  }

  private add(listed: ListedModel): Shown {
    const { parameters, bytes } = listed;
    const model = modelOf(listed);
    const size = () => {
      const count = phrase("count", { value: formatLarge(parameters) });
      const { name } = model;
      return `${phrase("listed", { name, count, bytes: formatBytes(bytes) })}.${languageNote(model)}`;
    };
    const button = plainButton("", () => this.choose(model));
    setTranslatedText(button, size);
    this.ui.siteModelsList.append(button);
    return { button, size, bytes };
  }

  /** Shows the list, which is fetched on first use. */
  async show(): Promise<void> {
    const list = this.shown ? [] : await fetchList();
    if (!list) return;
    this.shown ??= list.map((listed) => this.add(listed));
    this.ui.siteModels.hidden = this.shown.length === 0;
    // Computed anew each time, because the page may have written a text since.
    for (const { button, size, bytes } of this.shown) {
      const expected = expectationOf(this.state, bytes);
      setTranslatedText(button, () => `${size()} ${expected()}`);
    }
  }
}
