// The section of the texts, whose list is fetched when it is opened.
import { isTouched } from "../../dom/touch.js";
import { phrase } from "../../language/start.js";
import { whyInFull } from "../../language/why.js";
import { onChange } from "../../state/page-state.js";
import type { LibraryPlace } from "./bring.js";
import type { Library } from "./library.js";

/** Milliseconds after a change of the text. */
const refreshAfterMs = 600;

async function makeLibrary({ ui, state, writing, tab, focusText }: LibraryPlace): Promise<Library> {
  const [{ Library }, { Texts }] = await Promise.all([
    import("./library.js"),
    import("../../library/texts.js"),
  ]);
  const own = tab();
  if (!own) throw new Error(phrase("noPart", { why: "library/tab" }));
  return new Library({
    place: ui.libraryPanel,
    texts: new Texts(own),
    open: (id) => own.open(id),
    stop: writing.stop,
    leave: (sentence) => {
      state.sayOfText(sentence);
      if (!matchMedia("(min-width: 64rem)").matches) state.panel.value = undefined; // the panel covers the text
      if (!isTouched()) focusText();
    },
  });
}

export function offerLibrary(place: LibraryPlace): void {
  const { ui, state } = place;
  let library: Library | undefined;
  let coming: Promise<Library> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = () => {
    if (!ui.library.open) return;
    coming ??= makeLibrary(place); // opened again before it has loaded, the section still gets only one
    coming.then(
      (made) => {
        library = made;
        return library.refresh();
      },
      (error: unknown) => {
        coming = undefined; // it is fetched again when the section is opened again
        ui.libraryPanel.textContent = phrase("noPart", { why: whyInFull(error) });
      },
    );
  };
  ui.library.addEventListener("toggle", show);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") show(); // other tabs may have changed the texts
  });
  state.dropped.subscribe((files) => {
    if (files.length === 0) return;
    import("./bring.js")
      .then(({ bringTexts }) => bringTexts(files, place))
      .catch((error: unknown) => state.showError((why) => phrase("noPart", { why }), error));
  });
  onChange(state.text, () => {
    clearTimeout(timer);
    timer = setTimeout(() => ui.library.open && void library?.refreshCurrent(), refreshAfterMs);
  });
  addEventListener("pagehide", () => library?.finish());
  show();
}
