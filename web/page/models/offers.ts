// What the chooser tells of the hub: the released sizes, and what a model would take.
import { plainButton } from "../buttons.js";
import type { ChosenModel } from "../chosen-model.js";
import { elements as ui } from "../elements.js";
import { phrase } from "../language/models.js";
import { formatBytes, formatLarge } from "../language/numbers.js";
import { phrase as phraseOfStart } from "../language/start.js";
import { releases } from "./estimate.js";
import { expectationOf } from "./expectation.js";
import { askHubSize } from "./hub-size.js";

/** Shows the released sizes; `lookUp` is called with the id of the one that is pressed. */
export function showReleases(lookUp: (id: string) => void): void {
  if (ui.releases.childElementCount > 0) return;
  const buttons = releases.map(({ name, id, parameters }) => {
    const count = phraseOfStart("count", { value: formatLarge(parameters) });
    return plainButton(phrase("release", { name, count }), () => lookUp(id));
  });
  ui.releases.replaceChildren(...buttons);
}

export interface HubOffer {
  isLoadable: boolean;
  /** What it would take, that the hub does not tell, or why it cannot be loaded. */
  sentence: string;
}

/** Asks the hub, which the page then says, and nothing else; undefined where the model is not there, or the hub. */
export async function describeHub(
  { name, weights }: ChosenModel,
  signal: AbortSignal,
): Promise<HubOffer | undefined> {
  ui.hubStatus.textContent = phrase("asking");
  const told = await askHubSize(name, weights ?? "q8", signal);
  if (!told) return undefined;
  const { refusal, bytes, weightBytes } = told;
  if (refusal !== undefined) return { isLoadable: false, sentence: refusal };
  if (bytes === undefined) return { isLoadable: true, sentence: phrase("untold", { name }) };
  const download = phrase("size", { name, bytes: formatBytes(bytes) });
  const expected = weightBytes === undefined ? "" : ` ${await expectationOf(weightBytes)}`;
  return { isLoadable: true, sentence: download + expected };
}
