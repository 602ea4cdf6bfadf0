// The choice of views of the text, and their legends. The view inside the model has its own tab.
import type { EditorView } from "@codemirror/view";
import { setAttention } from "../../document/attention.js";
import { make } from "../../dom/make.js";
import { offerTabs, showTab } from "../../dom/tabs.js";
import { keepView, nameIn } from "../../dom/view-address.js";
import { bands, isTint, modeField, modes, setMode, type Mode } from "../../document/view-mode.js";
import { phrase } from "../../language/editor.js";
import { keepTranslated } from "../../language/keep-translated.js";
import type { ContextFields } from "../../state/context-fields.js";

function legendOf(mode: Mode, hasFields: boolean): Node[] {
  if (mode === "text" || mode === "inside") return []; // inside the model, the panel explains everything
  const said = [phrase(`view.${mode}.help`)];
  if (hasFields && isTint(mode)) said.push(phrase("withoutFields"));
  if (mode !== "sees") said.push(phrase("pressWord"));
  const sentence = make("span", {}, said.join(" "));
  if (!isTint(mode)) return [sentence];
  const swatches = bands.map((band) =>
    make("span", { className: `token band-${band}` }, phrase(`band.${mode}.${band}`)),
  );
  return [sentence, ...swatches, make("span", { className: "on-paper" }, phrase(`view.${mode}.print`))];
}

export interface ViewParts {
  /** A list of tabs, one for each mode, whose ids end in the mode's name, and the panel that they share. */
  tabs: { list: HTMLElement; panel: HTMLElement };
  /** The legend of the selected view, which ends with `scored`. */
  legend: HTMLElement;
  scored: HTMLElement;
}

/**
 * Offers all views. Shows the one in the page's address, also when that changes. `fields` are what the model reads beside the
 * text.
 */
export function offerViews(
  { tabs, legend, scored }: ViewParts,
  view: EditorView,
  fields: () => ContextFields | undefined,
): void {
  const buttons = new Map(
    [...tabs.list.querySelectorAll("button")].map((tab) => [tab, tab.id.replace("tab-", "") as Mode]),
  );
  const all = [...buttons.keys()];
  if (all[0]) showTab(all, all[0], tabs.panel);

  function show(mode: Mode): void {
    const chosen = all.find((tab) => buttons.get(tab) === mode);
    if (chosen) showTab(all, chosen, tabs.panel);
    keepTranslated(legend, () => {
      const said = legendOf(mode, fields() !== undefined);
      legend.replaceChildren(...said, scored);
      legend.hidden = said.length === 0;
    });
    view.dispatch({ effects: [setMode.of(mode), setAttention.of(null)] });
    keepView(mode === "text" ? undefined : mode);
  }

  offerTabs(all, (tab) => show(buttons.get(tab) ?? "text"));
  tabs.list.classList.remove("later");
  document.addEventListener("keydown", (event) => {
    const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
    const isChoice = key === "ArrowUp" && altKey && !ctrlKey && !metaKey && !shiftKey;
    const isBack = key === "Escape" && tabs.list.contains(document.activeElement);
    if (document.querySelector("dialog[open]") || !(isChoice || isBack)) return;
    event.preventDefault();
    if (isChoice) all.find(({ ariaSelected }) => ariaSelected === "true")?.focus();
    else view.focus();
  });
  const follow = (name: string | undefined) => {
    const named = modes.find((each) => each === name);
    if (named && named !== view.state.field(modeField)) show(named);
  };
  // Going back from a link to a view leads to an address without one.
  addEventListener("hashchange", () => follow(location.hash === "" ? "text" : nameIn(location.hash)));
  follow(nameIn(location.hash));
}
