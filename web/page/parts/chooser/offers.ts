// What the chooser shows about models on the Hub: the released sizes, and the size of a model before its download.
import { isHubId } from "../../../src/client/hub-id.js";
import { baseAddress } from "../../../src/shared/base-address.js";
import { plainButton } from "../../dom/buttons.js";
import { addressOf } from "../../models/model-address.js";
import { isAddress, withScheme } from "../../models/named-model.js";
import type { ChosenModel, PageState } from "../../state/page-state.js";
import type { Elements } from "../../dom/elements.js";
import { phrase } from "../../language/models.js";
import { formatBytes } from "../../language/numbers.js";
import { formatLanguages, formatLarge } from "../../language/quantities.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { releases } from "../../models/estimate.js";
import { expectationOf } from "../../models/expectation.js";
import { languageOf } from "../../models/language.js";
import { askHubSize } from "../../models/hub-size.js";

/** Shows the released sizes; calls `lookUp` with the id of the pressed one. */
export function showReleases(ui: Pick<Elements, "releases">, lookUp: (id: string) => void): void {
  if (ui.releases.childElementCount > 0) return;
  const buttons = releases.map(({ name, id, parameters }) => {
    const button = plainButton("", () => lookUp(id));
    setTranslatedText(button, () => {
      const count = phrase("count", { value: formatLarge(parameters) });
      return phrase("release", { name, count });
    });
    return button;
  });
  ui.releases.replaceChildren(...buttons);
}

export interface Offer {
  isLoadable: boolean;
  /** The model's size, why the size is unknown, or why the model cannot be loaded. */
  sentence: () => string;
}

/** Whether `typed` can be the id of a model or an address. */
export function isName(typed: string): boolean {
  const text = withScheme(typed);
  if (!isAddress(text)) return isHubId(text);
  try {
    return new URL(text, baseAddress()).protocol.startsWith("http");
  } catch {
    return false;
  }
}

/** The languages that a model writes, if known: from `languages`, or for the well-known models from their id. */
export function languageNote(model: ChosenModel, languages: readonly string[] = []): string {
  const known = languages.length > 0 ? languages : [languageOf(model)].filter((code) => code !== "");
  return known.length > 0 ? ` ${phrase("writesIn", { languages: formatLanguages(known) })}` : "";
}

/** For a model on another host: asks the Hub for its size and files, and requests nothing else. */
export async function describeElsewhere(
  ui: Pick<Elements, "hubStatus">,
  state: PageState,
  model: ChosenModel,
  signal: AbortSignal,
): Promise<Offer> {
  const { name, weights, elsewhere: host = "" } = model;
  const unknown = { isLoadable: true, sentence: () => phrase("sizeUnknown", { host, name }) };
  if (!addressOf(model).startsWith("hf:")) return unknown;
  setTranslatedText(ui.hubStatus, () => phrase("asking"));
  const { refusal, silence, bytes, weightBytes, languages } = await askHubSize(name, weights ?? "q8", signal);
  if (refusal !== undefined) return { isLoadable: false, sentence: refusal };
  if (silence !== undefined) return { isLoadable: true, sentence: silence };
  if (bytes === undefined) return unknown;
  const download = () =>
    `${phrase("size", { name, bytes: formatBytes(bytes) })}${languageNote(model, languages)}`;
  if (weightBytes === undefined) return { isLoadable: true, sentence: download };
  const expected = expectationOf(state, weightBytes);
  return { isLoadable: true, sentence: () => `${download()} ${expected()}` };
}
