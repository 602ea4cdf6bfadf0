// Brings dropped files of texts into the library, and shows the last of them. Fetched with the first drop.
import type { Writing } from "../../assistant/writing.js";
import type { Elements } from "../../dom/elements.js";
import { phrase } from "../../language/library.js";
import { readTexts } from "../../library/read-texts.js";
import type { Tab } from "../../library/tab.js";
import { Texts } from "../../library/texts.js";
import type { PageState } from "../../state/page-state.js";

export interface LibraryPlace {
  ui: Pick<Elements, "library" | "libraryPanel">;
  state: PageState;
  writing: Writing;
  /** undefined if the module that stores the texts could not be fetched. */
  tab: () => Tab | undefined;
  focusText: () => void;
}

/** The current text stays in the library. On failure, nothing is added. */
export async function bringTexts(
  files: readonly File[],
  { state, writing, tab: ownTab }: LibraryPlace,
): Promise<void> {
  const tab = ownTab();
  if (!tab) return; // the page has reported that it cannot keep texts
  try {
    const { added, known, ids } = await new Texts(tab).importAll(await readTexts(files));
    await writing.stop();
    const last = ids.at(-1);
    if (last !== undefined && last !== tab.id) await tab.open(last);
    state.sayOfText(() => phrase("imported", { count: added, known }));
  } catch (error) {
    state.showError((why) => phrase("notDone", { why }), error);
  }
}
