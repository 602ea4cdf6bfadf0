// The tab's title: the first words of its text, by which it is found among other tabs.
import { keepTranslated } from "../../language/keep-translated.js";
import { firstWords } from "../../library/preview.js";
import type { PageState } from "../../state/page-state.js";

/** UTF-16 code units that are read at most. */
const mostUnits = 1000;

/** `begin` returns the text up to an offset. */
export function showTitle({ text }: Pick<PageState, "text">, begin: (end: number) => string): void {
  const show = () => {
    document.title = [firstWords(begin(mostUnits)), "GPT-2"].filter((words) => words !== "").join(" – ");
  };
  text.subscribe(show);
  keepTranslated(text, show); // a change of language sets the page's own title
}
