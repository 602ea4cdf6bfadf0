// The models that lie beside the page: models/index.json, which `npm run model` writes.
import { baseAddress } from "../../../src/shared/base-address.js";
import { plainButton } from "../../dom/buttons.js";
import { folderModel } from "../../models/chosen-model.js";
import type { ChosenModel, PageState } from "../../state/page-state.js";
import { elements as ui } from "../../dom/elements.js";
import { formatBytes, formatLarge } from "../../language/numbers.js";
import { phrase as phraseOfStart } from "../../language/start.js";
import { phrase } from "../../language/models.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { languageNote } from "./offers.js";
import { expectationOf } from "../../models/expectation.js";

/** A folder in models/, as index.json lists it. */
interface ListedModel {
  folder: string;
  name: string;
  parameters: number;
  /** To download. */
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

/** Those that the host has; none where it has no list, or another one; undefined where it does not answer. */
async function fetchList(): Promise<ListedModel[] | undefined> {
  try {
    const response = await fetch(new URL("models/index.json", baseAddress()), { cache: "no-cache" });
    if (!response.ok) return response.status === 404 ? [] : undefined;
    const list: unknown = await response.json();
    return Array.isArray(list) ? list.filter(isListed) : [];
  } catch {
    return undefined; // no network: the other ways to a model say so
  }
}

/** A listed model with its button. */
interface Shown {
  button: HTMLButtonElement;
  size: () => string;
  bytes: number;
}

/** The models of this site in the chooser. `choose` is called with the one that is pressed. */
export class SiteModels {
  private readonly state: PageState;
  private readonly choose: (model: ChosenModel) => void;
  private shown: readonly Shown[] | undefined;

  constructor(state: PageState, choose: (model: ChosenModel) => void) {
    this.state = state;
    this.choose = choose;
  }

  private add({ folder, name, parameters, bytes }: ListedModel): Shown {
    const model = { ...folderModel(`models/${folder}/`), name };
    const size = () => {
      const count = phraseOfStart("count", { value: formatLarge(parameters) });
      return `${phrase("listed", { name, count, bytes: formatBytes(bytes) })}.${languageNote(model)}`;
    };
    const button = plainButton("", () => this.choose(model));
    setTranslatedText(button, size);
    ui.siteModelsList.append(button);
    return { button, size, bytes };
  }

  /** Shows the list, fetched when it is first wanted. */
  async show(): Promise<void> {
    const list = this.shown ? [] : await fetchList();
    if (!list) return;
    this.shown ??= list.map((listed) => this.add(listed));
    ui.siteModels.hidden = this.shown.length === 0;
    // Anew each time: the speed may not have been there to tell.
    for (const { button, size, bytes } of this.shown) {
      const expected = await expectationOf(this.state, bytes);
      setTranslatedText(button, () => `${size()} ${expected()}`);
    }
  }
}
