// The models that lie beside the page: models/index.json, which `npm run model` writes.
import { onPress } from "../buttons.js";
import { folderModel, type ChosenModel } from "../chosen-model.js";
import { elements as ui } from "../elements.js";
import { formatBytes, formatLarge } from "../language/numbers.js";
import { phrase as phraseOfStart } from "../language/start.js";
import { phrase } from "../language/models.js";
import { expectationOf } from "./expectation.js";

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

/** Those that the host has; none where it has no list, or another one. */
async function fetchList(): Promise<ListedModel[]> {
  try {
    const response = await fetch("models/index.json", { cache: "no-cache" });
    const list: unknown = response.ok ? await response.json() : [];
    return Array.isArray(list) ? list.filter(isListed) : [];
  } catch {
    return []; // no network: the other ways to a model say so
  }
}

let isFetched = false;

/** Shows the list, when it is first wanted. `choose` is called with the model that is pressed. */
export async function showSiteModels(choose: (model: ChosenModel) => void): Promise<void> {
  if (isFetched) return;
  isFetched = true;
  const list = await fetchList();
  ui.siteModels.hidden = list.length === 0;
  for (const { folder, name, parameters, bytes } of list) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    const count = phraseOfStart("count", { value: formatLarge(parameters) });
    const size = phrase("listed", { name, count, bytes: formatBytes(bytes) });
    button.textContent = size;
    void expectationOf(bytes).then((expected) => (button.textContent = `${size}. ${expected}`));
    onPress(button, () => choose({ ...folderModel(`models/${folder}/`), name }));
    ui.siteModelsList.append(button);
  }
}
