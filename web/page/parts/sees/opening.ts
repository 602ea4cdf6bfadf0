// Fetches and opens *What the model sees* when its view is chosen. Its tab shows whether one of the two fields is in use.
import type { Extension } from "@codemirror/state";
import { ViewPlugin, type EditorView, type PluginValue, type ViewUpdate } from "@codemirror/view";
import { modeField } from "../../document/view-mode.js";
import { writingPlace } from "../../document/writing-place.js";
import { phrase } from "../../language/editor.js";
import { keepTranslated } from "../../language/keep-translated.js";
import { phrase as missing } from "../../language/start.js";
import "./opening.css";
import type { Sees, SeesSetting } from "./sees.js";

export interface OpeningSetting extends SeesSetting {
  tab: HTMLElement;
}

class Opening implements PluginValue {
  private readonly view: EditorView;
  private readonly setting: OpeningSetting;
  private sees: Promise<Sees> | undefined;

  constructor(view: EditorView, setting: OpeningSetting) {
    this.view = view;
    this.setting = setting;
    const { state, tab } = setting;
    const show = () => {
      const isSet = state.fields.peek() !== undefined;
      tab.classList.toggle("is-set", isSet);
      tab.ariaDescription = isSet ? phrase("fieldsSet") : null;
    };
    keepTranslated(tab, show);
    state.fields.subscribe(show);
  }

  update(update: ViewUpdate): void {
    const isOpen = update.state.field(modeField) === "sees";
    const wasOpen = update.startState.field(modeField) === "sees";
    if (!isOpen && !wasOpen) return;
    this.sees ??= import("./sees.js").then(({ Sees }) => new Sees(this.view, this.setting));
    const isChanged = update.docChanged || writingPlace(update.startState) !== writingPlace(update.state);
    this.sees.then(
      (sees) => sees.update(isOpen, { isOther: isOpen !== wasOpen, isChanged }),
      (error: unknown) => {
        this.sees = undefined; // another choice of the view fetches it again
        this.setting.state.showError((why) => missing("noPart", { why }), error);
      },
    );
  }

  destroy(): void {
    void this.sees?.then((sees) => sees.destroy());
  }
}

export const seeingContext = (setting: OpeningSetting): Extension =>
  ViewPlugin.define((view) => new Opening(view, setting));
