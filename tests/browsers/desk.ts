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
  setOption(name: string, value: string | number): Promise<void> {
    return this.tab.run(
      ([id, text]) => void ((document.getElementById(`option-${id}`) as HTMLInputElement).value = text),
      [name, String(value)] as const,
    );
  }
  focus(selector: string): Promise<void> {
    return this.tab.run((wanted) => document.querySelector<HTMLElement>(wanted)?.focus(), selector);
  }
  click(selector: string): Promise<void> {
    return this.tab.run((wanted) => document.querySelector<HTMLElement>(wanted)?.click(), selector);
  }
  contains(selector: string, text: string): Promise<void> {
    return this.tab.until(
      ([wanted, expected]) => document.querySelector(wanted)?.textContent.includes(expected),
      [selector, text] as const,
    );
  }

  async openLibrary(): Promise<void> {
    await this.tab.until(() =>
      document.querySelector("#library-open")?.checkVisibility({ visibilityProperty: true }),
    );
    await this.click("#library-open");
  }
  /** Presses the button `name` of the library, or of the row of the text `of`. Without a name, it opens that text. */
  library(name: string | null, of = ""): Promise<void> {
    return this.tab.run(
      ([wanted, text]) => {
        const rows = [...document.querySelectorAll("#library-panel li")];
        const inside = text ? rows.find((row) => row.textContent.startsWith(text)) : document;
        const buttons = [...(inside?.querySelectorAll<HTMLElement>("#library-panel button") ?? [])];
        buttons.find((each) => wanted === null || each.textContent === wanted)?.click();
      },
      [name, of] as const,
    );
  }
  lists(...names: string[]): Promise<void> {
    return this.tab.until((expected) => {
      const found = [...document.querySelectorAll("#library-panel .text-name")];
      return (
        found
          .map((name) => name.textContent)
          .sort()
          .join() === expected
      );
    }, names.sort().join());
  }
}
