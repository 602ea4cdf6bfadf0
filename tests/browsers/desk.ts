// The project's page in every browser: what a user does on it.
import type { Tab } from "./tab.js";

/** The editor's element, with its CodeMirror view once that has loaded. */
type Editor = HTMLElement & {
  view?: {
    state: { doc: { length: number; toString(): string } };
    dispatch(transaction: object): void;
  };
};

export class Desk {
  private readonly tab: Tab;

  constructor(tab: Tab) {
    this.tab = tab;
  }

  /** Opens the page, and waits for its model. */
  async open(url: string): Promise<void> {
    await this.tab.open(url);
    await this.contains("#engine", "thread");
    await this.tab.until(() => document.querySelector("#editor .cm-content"));
  }

  /** Replaces the text, lets the model continue it, and waits for its end. */
  async writeOn(text: string): Promise<void> {
    await this.tab.run((insert) => {
      const { view } = document.getElementById("editor") as Editor;
      const changes = { from: 0, to: view?.state.doc.length, insert };
      view?.dispatch({ changes, selection: { anchor: insert.length } });
      document.getElementById("generate")?.click();
    }, text);
    await this.contains("#finish", "Finished");
  }

  text(): Promise<string> {
    return this.tab.run(() => (document.getElementById("editor") as Editor).view?.state.doc.toString() ?? "");
  }
  shows(text: string): Promise<void> {
    return this.tab.until((expected) => {
      const editor: Editor | null = document.getElementById("editor");
      return editor?.view?.state.doc.toString() === expected;
    }, text);
  }
  contains(selector: string, text: string): Promise<void> {
    return this.tab.until(
      ([wanted, expected]) => document.querySelector(wanted)?.textContent.includes(expected),
      [selector, text] as const,
    );
  }
}
