// The tab's title: the name of its text or its first words, by which it is found among other tabs.
import type { ReadonlySignal } from "@preact/signals-core";
import { keepTranslated } from "../../language/keep-translated.js";
import { firstWords } from "../../library/preview.js";
import type { PageState } from "../../state/page-state.js";

/** UTF-16 code units that are read at most. */
const mostUnits = 1000;

/** `begin` returns the text up to an offset. */
export function showTitle(
  { text }: Pick<PageState, "text">,
  name: ReadonlySignal<string | undefined> | undefined,
  begin: (end: number) => string,
): void {
  const show = () => {
    const words = name?.peek() ?? firstWords(begin(mostUnits));
    document.title = [words, "GPT-2"].filter((part) => part !== "").join(" – ");
  };
  text.subscribe(show);
  name?.subscribe(show);
  keepTranslated(text, show); // a change of language sets the page's own title
}
