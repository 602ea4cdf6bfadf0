// The status of the scoring. Its beginning and its end are announced; the share between them, which changes often, is not.
import { make } from "../../dom/make.js";
import { setTranslatedText } from "../../language/keep-translated.js";

/** Shows the status, and the share that is done if there is one. */
export type TellScoring = (sentence: () => string, share?: () => string) => void;

export function scoringStatus(place: HTMLElement): TellScoring {
  const status = make("span", { role: "status" });
  const share = make("span");
  place.replaceChildren(status, share);
  return (sentence, done = () => "") => {
    setTranslatedText(status, sentence);
    setTranslatedText(share, done);
  };
}
