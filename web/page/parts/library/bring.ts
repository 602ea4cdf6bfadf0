// Brings dropped files of texts into the library, and shows the last of them. Fetched with the first drop.
import type { Writing } from "../../assistant/writing.js";
import { phrase } from "../../language/library.js";
import { readTexts } from "../../library/read-texts.js";
import type { Tab } from "../../library/tab.js";
import { Texts } from "../../library/texts.js";
import type { PageState } from "../../state/page-state.js";
import { reasonOf } from "./reason.js";

export interface BringPlace {
  state: PageState;
  writing: Pick<Writing, "stop">;
  tab: Tab;
}

/** The current text stays in the library. On failure, nothing is added. */
export async function bringTexts(files: readonly File[], { state, writing, tab }: BringPlace): Promise<void> {
  try {
    const read = (await Promise.all(files.map(readTexts))).flat();
    const { added, known, ids } = await new Texts(tab).importAll(read);
    await writing.stop();
    const last = ids.at(-1);
    if (last !== undefined && last !== tab.id) await tab.open(last);
    state.sayOfText(() => phrase("imported", { count: added, known }));
  } catch (error) {
    state.showError(() => phrase("notDone", { why: reasonOf(error) }));
  }
}
