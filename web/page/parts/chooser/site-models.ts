// The models that lie beside the page: models/index.json, which `npm run model` writes.
import { baseAddress } from "../../../src/shared/base-address.js";
import { plainButton } from "../../dom/buttons.js";
import { folderModel, type ChosenModel } from "../../models/chosen-model.js";
import { elements as ui } from "../../dom/elements.js";
import { formatBytes, formatLarge } from "../../language/numbers.js";
import { phrase as phraseOfStart } from "../../language/start.js";
import { phrase } from "../../language/models.js";
import { put } from "../../language/told.js";
import { writesIn } from "./offers.js";
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

/** What was fetched, each with its button. */
let shown: { button: HTMLButtonElement; size: () => string; bytes: number }[] | undefined;

/** Shows the list, fetched when it is first wanted. `choose` is called with the model that is pressed. */
export async function showSiteModels(choose: (model: ChosenModel) => void): Promise<void> {
  const list = shown ? [] : await fetchList();
  if (!list) return;
  shown ??= list.map(({ folder, name, parameters, bytes }) => {
    const model = { ...folderModel(`models/${folder}/`), name };
    const size = () => {
      const count = phraseOfStart("count", { value: formatLarge(parameters) });
      return `${phrase("listed", { name, count, bytes: formatBytes(bytes) })}.${writesIn(model)}`;
    };
    const button = plainButton("", () => choose(model));
    put(button, size);
    ui.siteModelsList.append(button);
    return { button, size, bytes };
  });
  ui.siteModels.hidden = shown.length === 0;
  // Anew each time: the speed may not have been there to tell.
  for (const { button, size, bytes } of shown) {
    const expected = await expectationOf(bytes);
    put(button, () => `${size()} ${expected()}`);
  }
}
