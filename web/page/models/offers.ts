// What the chooser offers: the models of the site, the released sizes, and what one of the hub would take.
import { onPress } from "../buttons.js";
import type { ChosenModel } from "../chosen-model.js";
import { elements as ui } from "../elements.js";
import { phrase } from "../language/models.js";
import { formatBytes, formatLarge } from "../language/numbers.js";
import { phrase as phraseOfStart } from "../language/start.js";
import { releases } from "./estimate.js";
import { expectationOf } from "./expectation.js";
import { askHubSize } from "./hub-size.js";

export { showSiteModels } from "./site-models.js";

/** Shows the released sizes; `lookUp` is called with the id of the one that is pressed. */
export function showReleases(lookUp: (id: string) => void): void {
  if (ui.releases.childElementCount > 0) return;
  const buttons = releases.map(({ name, id, parameters }) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    const count = phraseOfStart("count", { value: formatLarge(parameters) });
    button.textContent = phrase("release", { name, count });
    onPress(button, () => lookUp(id));
    return button;
  });
  ui.releases.replaceChildren(...buttons);
}

export interface HubOffer {
  /** Why it cannot be loaded, as a sentence. */
  refusal?: string;
  /** What it would take, in sentences; undefined where the hub does not tell. */
  size?: string;
}

/** Asks the hub, which the page then says, and nothing else. */
export async function describeHub({ name, weights }: ChosenModel, signal: AbortSignal): Promise<HubOffer> {
  ui.hubStatus.textContent = phrase("asking");
  const { bytes, parameters, refusal } = await askHubSize(name, signal);
  if (refusal !== undefined) return { refusal };
  if (bytes === undefined) return {};
  const download = phrase("size", { name, bytes: formatBytes(bytes) });
  return { size: `${download} ${await expectationOf(bytes, parameters, weights ?? "q8")}` };
}
