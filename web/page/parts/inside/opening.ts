// Opens the view inside the model when it is selected. Its code is fetched then, because few visitors use it.
import type { Extension } from "@codemirror/state";
import { ViewPlugin, type EditorView, type PluginValue, type ViewUpdate } from "@codemirror/view";
import type { HeadPlace } from "../../../src/figures/index.js";
import { keepTranslated } from "../../language/keep-translated.js";
import { modeField } from "../../document/view-mode.js";
import type { Inside, InsideSetting } from "./inside.js";

export interface OpeningSetting extends InsideSetting {
  root: HTMLElement;
}

class Opening implements PluginValue {
  private readonly view: EditorView;
  private readonly setting: OpeningSetting;
  private readonly forget: () => void;
  private inside: Inside | undefined;
  private isComing = false;
  /** Another text is shown, which has its own instance. */
  private isGone = false;
  /** The head that was selected there. */
  private head: HeadPlace | undefined;

  constructor(view: EditorView, setting: OpeningSetting) {
    this.view = view;
    this.setting = setting;
    keepTranslated(this, () => this.renew());
    this.forget = setting.onModelChange(() => (this.head = undefined)); // the new model may not have it
  }

  /** Shows it again in the page's language: the token is inspected again. */
  private renew(): void {
    const { inside } = this;
    if (!inside) return;
    inside.destroy();
    this.inside = undefined;
    this.head = inside.head;
    if (this.isOpen) void this.open();
  }

  private get isOpen(): boolean {
    return this.view.state.field(modeField) === "inside";
  }

  update(update: ViewUpdate): void {
    const wasOpen = update.startState.field(modeField) === "inside";
    if (this.isOpen === wasOpen) return this.inside?.update(update);
    this.setting.root.hidden = !this.isOpen;
    if (this.isOpen) void this.open();
    else this.inside?.close();
  }

  destroy(): void {
    this.isGone = true;
    this.forget();
    this.inside?.destroy();
    this.inside = undefined;
    this.setting.root.hidden = true;
  }

  private async open(): Promise<void> {
    if (this.isComing) return;
    this.isComing = true;
    try {
      const { Inside } = await import("./inside.js");
      if (!this.isOpen || this.isGone) return;
      const { root } = this.setting;
      if (this.inside) this.inside.open();
      else this.inside = new Inside(this.view, root, this.setting, this.head);
      if (matchMedia("(max-width: 59.99rem)").matches) root.scrollIntoView(); // it is below the text
    } catch (error) {
      this.setting.fail(error);
    } finally {
      this.isComing = false;
    }
  }
}

export const lookingInside = (setting: OpeningSetting): Extension =>
  ViewPlugin.define((view) => new Opening(view, setting));
