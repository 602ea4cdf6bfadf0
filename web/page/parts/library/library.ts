// The library: lists all texts of this page, with their actions. Fetched when its section is opened.
import { hideKeepingFocus, plainButton } from "../../dom/buttons.js";
import { download } from "../../dom/download.js";
import { make } from "../../dom/make.js";
import { keepTranslated, setTranslatedText } from "../../language/keep-translated.js";
import { phrase as ofEditor } from "../../language/editor.js";
import { phrase } from "../../language/library.js";
import { kindsOfTexts } from "../../library/kinds-of-texts.js";
import { readTexts } from "../../library/read-texts.js";
import { inSlices, SearchedText, type Passage } from "../../library/search.js";
import type { ListedText, Removal, Texts } from "../../library/texts.js";
import { reasonOf } from "./reason.js";
import { Row, shownName, type RowActions } from "./row.js";
import "./library.css";

export interface LibrarySetting {
  place: HTMLElement;
  texts: Pick<Texts, "list" | "current" | "rename" | "duplicate" | "remove" | "exportAll" | "importAll">;
  /** Shows a text, or a new one; returns false if another tab has it. */
  open: (id?: string) => Promise<boolean>;
  /** Stops the model; resolves when it has stopped. */
  stop: () => Promise<void>;
  /** Announces what is shown now, and offers the way back. */
  leave: (sentence: () => string) => void;
}

/** Milliseconds after the last letter of the search. */
const searchAfterMs = 150;

type Said = (() => string) | undefined;

/** The texts that were found, by their ids, and the passages in those that have one. */
interface Found {
  query: string;
  passages: ReadonlyMap<string, Passage | undefined>;
}

export class Library {
  private readonly setting: LibrarySetting;
  private all: readonly ListedText[] = [];
  /** Why the texts cannot be listed. */
  private failure: { readonly error: unknown } | undefined;
  private readonly rows = new Map<string, Row>();
  /** undefined: all texts are listed. */
  private found: Found | undefined;
  private searching = new AbortController();
  /** Whether the search has changed and its result is not announced yet. The next listing announces it. */
  private isUnsaid = false;
  /** The texts of the current search, by their ids. */
  private readonly searched = new Map<string, SearchedText>();
  /** The last deleted text, which may be restored. */
  private removal: (Removal & { text: ListedText }) | undefined;
  /** Settles when all requested actions are done: they run one at a time. */
  private done: Promise<void> = Promise.resolve();
  private readonly search = make("input", { type: "search" });
  private readonly list = make("ul");
  private readonly none = make("p", { className: "quiet" });
  private readonly status = make("p", { className: "quiet", role: "status" });
  private readonly undo = plainButton("", () => this.restore());
  private readonly files = make("input", {
    type: "file",
    accept: kindsOfTexts,
    multiple: true,
    hidden: true,
  });
  private readonly exporting = plainButton("", () => this.act(() => this.exportAll()));

  private readonly actions: RowActions = {
    open: (text) => this.actOn(text, (now) => this.open(now)),
    rename: (text, name) =>
      this.actOn(text, ({ id }) => this.setting.texts.rename(id, name).then(() => undefined)),
    duplicate: (text) =>
      this.actOn(text, async ({ id, ...now }) => {
        await this.setting.texts.duplicate(id, phrase("copyOf", { name: shownName(now) }));
        return () => ofEditor("copied");
      }),
    remove: (text) => this.actOn(text, (now) => this.remove(now)),
  };

  constructor(setting: LibrarySetting) {
    this.setting = setting;
    const { search, list, none, status, undo, files, exporting } = this;
    const begin = plainButton("", () => this.act(() => this.open(undefined)));
    const importing = plainButton("", () => files.click());
    let timer: ReturnType<typeof setTimeout> | undefined;
    search.addEventListener("input", () => {
      clearTimeout(timer);
      this.searching.abort(); // the query has changed
      timer = setTimeout(() => void this.showFound(), searchAfterMs);
    });
    search.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || search.value === "") return;
      event.stopPropagation(); // Escape must not have another effect
      event.preventDefault();
      search.value = "";
      void this.showFound();
    });
    // The second click of a double click was meant for the row that the first one has moved or removed.
    list.addEventListener("click", (event) => event.detail > 1 && event.stopPropagation(), true);
    files.addEventListener("change", () => this.act(() => this.importAll()));
    undo.hidden = true;
    const top = make("div", { className: "text-top" }, begin, search);
    const said = make("div", { className: "text-said" }, status, undo);
    const ends = make("div", { className: "buttons" }, exporting, importing, files);
    setting.place.replaceChildren(top, said, list, none, ends);
    keepTranslated(this, () => {
      begin.textContent = phrase("newText");
      search.placeholder = search.ariaLabel = phrase("search");
      undo.textContent = phrase("undo");
      exporting.textContent = phrase("exportAll");
      importing.textContent = phrase("importAll");
      this.draw();
    });
  }

  /** Reads all texts again. */
  async refresh(): Promise<void> {
    try {
      this.all = await this.setting.texts.list();
      this.failure = undefined;
    } catch (error) {
      this.all = [];
      this.failure = { error };
    }
    await this.show();
  }

  /** The text of this tab was changed or replaced. */
  async refreshCurrent(): Promise<void> {
    const { current } = this.setting.texts;
    const listed = this.all.find(({ where }) => where === "here");
    if (!current || listed?.id !== current.id) return this.refresh();
    this.all = this.all.map((each) => (each === listed ? { ...each, ...current } : each));
    await this.show();
  }

  /** Called when the page is left: the last deletion becomes permanent. */
  finish(): void {
    void this.settle().catch(() => undefined);
  }

  private searchedText({ id, text }: ListedText): SearchedText {
    const known = this.searched.get(id);
    if (known?.text === text) return known; // already folded
    const made = new SearchedText(text);
    this.searched.set(id, made);
    return made;
  }

  /** Searches in all texts. Yields wherever the page may draw, or another search may begin. */
  private *findAll(query: string): Generator<undefined, Found, undefined> {
    const passages = new Map<string, Passage | undefined>();
    for (const text of this.all) {
      const passage = yield* this.searchedText(text).find(query);
      if (passage ?? (yield* new SearchedText(shownName(text)).find(query))) passages.set(text.id, passage);
      yield undefined;
    }
    return { query, passages };
  }

  /** Lists the texts that match the search, or all; does nothing if another search has begun in the meantime. */
  private async show(): Promise<void> {
    this.searching.abort();
    const { signal } = (this.searching = new AbortController());
    const query = this.search.value.trim();
    try {
      this.found = query === "" ? undefined : await inSlices(this.findAll(query), signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    if (query === "") this.searched.clear(); // it takes as much memory as the texts
    this.draw();
    if (this.isUnsaid && !this.removal) this.sayFound();
  }

  private draw(): void {
    const { list, rows, found, all } = this;
    const shown = all.filter(({ id }) => found === undefined || found.passages.has(id));
    const [known, listed] = [all, shown].map((texts) => new Set(texts.map(({ id }) => id)));
    for (const [id, { item }] of rows) {
      if (!listed?.has(id)) item.remove();
      if (!known?.has(id)) rows.delete(id);
    }
    for (const [place, text] of shown.entries()) {
      const row = rows.get(text.id) ?? new Row(text, this.actions);
      rows.set(text.id, row);
      row.update(text, found?.passages.get(text.id));
      const there = list.children[place];
      if (there !== row.item) list.insertBefore(row.item, there ?? null); // a row that stays in place keeps the focus
    }
    list.hidden = shown.length === 0;
    setTranslatedText(this.none, () => {
      if (this.failure) return phrase("notListed", { why: reasonOf(this.failure.error) });
      if (found) return shown.length === 0 ? phrase("missing", { query: found.query }) : "";
      return all.length < 2 ? phrase("alone") : "";
    });
  }

  private showFound(): Promise<void> {
    this.isUnsaid = true;
    return this.show();
  }

  private sayFound(): void {
    const count = this.found?.passages.size ?? 0;
    this.say(count > 0 ? () => phrase("found", { count }) : undefined);
  }

  private say(sentence: Said): void {
    this.isUnsaid = false;
    setTranslatedText(this.status, sentence ?? (() => ""));
  }

  /** Runs actions one after another, if they are possible by then. An earlier deletion becomes permanent. */
  private act(action: () => Promise<Said>, isPossible = () => true): void {
    this.done = this.done
      .then(async () => {
        if (!isPossible()) return;
        await this.settle();
        this.say(await action());
      })
      .catch((error: unknown) => this.say(() => phrase("notDone", { why: reasonOf(error) })))
      .then(() => this.refresh());
  }

  /** Runs `action` with the text as it is listed by then: an action before it may have opened or deleted the text. */
  private actOn({ id }: ListedText, action: (now: ListedText) => Promise<Said>): void {
    const find = () => this.all.find((each) => each.id === id);
    this.act(
      async () => {
        const now = find();
        return now && action(now);
      },
      () => find() !== undefined,
    );
  }

  private async settle(): Promise<void> {
    const { removal } = this;
    this.removal = undefined;
    hideKeepingFocus(this.undo, this.search);
    await removal?.finish();
  }

  private async open(text: ListedText | undefined): Promise<Said> {
    const { open, stop, leave } = this.setting;
    const name = text ? shownName(text) : phrase("newText");
    await stop(); // the rest of the model's text belongs to the text that is left
    if (text?.where !== "here" && !(await open(text?.id))) return () => phrase("inOtherTab", { name });
    leave(() => phrase("opened", { name }));
    return undefined;
  }

  private async remove(text: ListedText): Promise<Said> {
    const name = shownName(text);
    if (text.where === "here") await this.setting.stop();
    const removal = await this.setting.texts.remove(text.id);
    if (!removal) return () => phrase("inOtherTab", { name });
    this.removal = { ...removal, text };
    this.undo.hidden = false;
    this.undo.focus();
    return () => phrase("removed", { name });
  }

  private restore(): void {
    const { removal } = this;
    if (!removal) return;
    this.removal = undefined;
    this.act(async () => {
      if (removal.text.where === "here") await this.setting.stop();
      await removal.restore();
      await this.refresh();
      this.rows.get(removal.text.id)?.focus();
      return () => phrase("restored", { name: shownName(removal.text) });
    });
  }

  private async exportAll(): Promise<Said> {
    const json = await this.setting.texts.exportAll();
    const file = `texts-${new Date().toISOString().slice(0, 10)}.json`;
    download(file, [new Blob([json])], "application/json");
    return () => phrase("exported", { file });
  }

  private async importAll(): Promise<Said> {
    const files = [...(this.files.files ?? [])];
    if (files.length === 0) return undefined;
    try {
      const { added, known } = await this.setting.texts.importAll(await readTexts(files));
      return () => phrase("imported", { count: added, known });
    } finally {
      this.files.value = ""; // so that the same file can be chosen again
    }
  }
}
