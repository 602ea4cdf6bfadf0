// The text of this tab: restored when the page is opened, and stored as it changes. Each tab has its own text.
import { signal, type Signal } from "@preact/signals-core";
import { differenceOf } from "../document/difference.js";
import type { KeptText } from "../document/kept-text.js";
import type { Surface } from "../document/surface.js";
import { phrase } from "../language/texts.js";
import type { DeviceModel } from "../state/page-state.js";
import { claim } from "./claims.js";
import { writeLastChange } from "./last-change.js";
import { storeSoon } from "./store-soon.js";
import { path, readStored, writeStored } from "../state/storage.js";
import { takeTextInPage, textForPage } from "./text-in-page.js";
import { parseName, TextStore, type TextToStore } from "./store.js";
import { patienceMs, readText, takeText, textIn, type FoundText, type TakenText } from "./take.js";
import { dropTyped, keepTyped } from "./typed.js";

/** A text that only this tab writes until it is released. */
interface OwnText {
  readonly id: string;
  /** Version of the last attempt to store it; 0: none. */
  version: number;
  /** The version that is known to be stored. */
  stored: { version: number; text: string };
  /** When it was last changed. */
  changed: number;
  /** Whether this tab knows a name that is not stored in the text's own record yet. */
  isNamed: boolean;
  /** What is to be stored, until it is. */
  waiting?: TextToStore & { content: KeptText };
  release: () => void;
}

export interface TabSetting {
  surface: Surface;
  /** The plain field that is used until the editor is loaded. */
  field: HTMLTextAreaElement;
  /** Data that is stored with a text. `show` receives it from a storage that other pages can write to. */
  beside: { read: () => object; show: (stored: unknown) => void };
  /** Shows why the text is not stored, until it is. */
  showFailure: (error: unknown) => void;
  showStored: () => void;
  /** Reports that a stored text, or the one in a page in one file, cannot be read. */
  showDamage: (what: "damagedText" | "damagedFile") => void;
}

const idKey = `gpt2-text-id ${path}`;
/** Prefix of an id in the names of the items that tell other tabs the new name of a text. */
const renamePrefix = `gpt2-text-name ${path} `;

/** Tells the tab that writes the text its new name. */
export function tellName(id: string, name: string): void {
  writeStored("localStorage", renamePrefix + id, name);
  writeStored("localStorage", renamePrefix + id);
}

export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (each) => each.toString(16)).join("-");

/** A change of this many UTF-16 code units is stored at once. */
const manyUnits = 50_000;
/** The longest time that the editor waits for the store. */
const mostMs = 4000;
/** The pause after a failed attempt to store a text. */
const pauseMs = 5000;

export class Tab {
  private readonly setting: TabSetting;
  /** The text that every page starts with. */
  private readonly firstText: string;
  private store: TextStore | undefined;
  /** undefined until the stored text is read: until then nothing may be stored. */
  private own: OwnText | undefined;
  /** The texts that could not be stored, also replaced ones. */
  private readonly failed = new Set<OwnText>();
  private isChanged = false;
  /** Whether options are being restored, which does not count as a change of the text. */
  private isShowing = false;
  private isBeingStored = false;
  /** Settles with the last attempt to store. */
  private storing: Promise<void> = Promise.resolve();
  /** The early words that this page left to the next one. */
  private leftWords: string | undefined;
  /** Whether this page was left. It may be shown again. */
  private isLeft = false;
  private hasFailedToRead = false;
  /** The model of this device that the text was stored with, until another one is chosen. */
  readonly wanted: Signal<DeviceModel | undefined> = signal<DeviceModel | undefined>(undefined);
  /** The name of the text in the library, if it has one. */
  readonly name: Signal<string | undefined> = signal<string | undefined>(undefined);
  private readonly storeSoon = storeSoon(() => {
    // While it is being stored, a change waits. A page that was left may run this before it knows that it is shown again.
    if (this.isChanged && !this.isBeingStored && !this.isLeft) this.storeNow();
  });

  constructor(setting: TabSetting) {
    this.setting = setting;
    this.firstText = setting.field.defaultValue;
  }

  /** Shows that all texts are stored. If texts could not be read, only once they can be. */
  private async showStored(): Promise<void> {
    if (this.failed.size > 0) return;
    try {
      if (this.hasFailedToRead) await (await this.openStore()).ids();
      this.hasFailedToRead = false;
      this.setting.showStored();
    } catch {
      // The failure stays shown.
    }
  }

  async openStore(): Promise<TextStore> {
    return (this.store ??= await TextStore.open(path, () => (this.store = undefined)));
  }

  /** Starts a new, unstored text in this tab. */
  private beginText(): OwnText {
    const id = newId();
    const stored = { version: 0, text: this.firstText };
    const begun: OwnText = {
      id,
      version: 0,
      stored,
      changed: 0,
      isNamed: false,
      release: () => undefined,
    };
    void claim(id, 0).then((release) => (begun.release = release ?? begun.release));
    writeStored("sessionStorage", idKey, id);
    this.name.value = undefined;
    return begun;
  }

  /** Call this after each change of what is stored; `units` is the number of UTF-16 code units added or removed. */
  noteChange(units = 0): void {
    if (this.isShowing) return;
    const { own, store } = this;
    this.isChanged = true;
    if (own) own.changed = store?.timeOfChange() ?? Date.now();
    if (units < manyUnits || this.isBeingStored) this.storeSoon();
    else this.storeNow();
  }

  /** The text with its history and what is stored beside it. */
  private get whole(): KeptText {
    const { surface, beside } = this.setting;
    return { ...surface.keptWithHistory, ...beside.read() };
  }

  /** Stores the text and returns it, unless it equals the text that every page starts with and `always` is not set. */
  private storeNow(always = false): string | undefined {
    const { own } = this;
    if (!own || (!always && !this.isChanged && own.version === 0)) return undefined;
    const content = this.whole;
    own.version += 1;
    const { id, version, changed, isNamed } = own;
    this.isChanged = false;
    this.isBeingStored = true;
    this.storing = this.put(own, { id, version, changed, name: this.name.peek(), isNamed, content });
    this.storing
      .catch(() => undefined) // `put` shows the failure and tries again
      .finally(() => {
        this.isBeingStored = false;
        if (this.isChanged) this.storeSoon();
      });
    return textIn(content);
  }

  /** Stores a version; rejects if that fails, and tries again until it succeeds or a later one is to be stored. */
  private async put(own: OwnText, next: NonNullable<OwnText["waiting"]>): Promise<void> {
    own.waiting = next;
    const isLast = () => own.waiting === next;
    try {
      // At once if the store is open, because the page may be about to close.
      if (!(await (this.store ?? (await this.openStore())).put([next], isLast))) return;
    } catch (error) {
      if (isLast()) {
        this.failed.add(own);
        this.setting.showFailure(error);
        const repeat = () => void this.put(own, next).catch(() => undefined);
        setTimeout(() => isLast() && !(this.isLeft && own === this.own) && repeat(), pauseMs);
      }
      throw error;
    }
    own.stored = { version: next.version, text: textIn(next.content) };
    writeLastChange(own.id, undefined);
    if (!isLast()) return;
    own.isNamed = false;
    this.giveUp(own);
    void this.showStored();
    if (own !== this.own) own.release(); // it was replaced meanwhile
  }

  /** A text no longer waits to be stored. Returns whether it could not be stored. */
  private giveUp(own: OwnText): boolean {
    delete own.waiting;
    return this.failed.delete(own);
  }

  /** The id of this tab's text; undefined until it is known. */
  get id(): string | undefined {
    return this.own?.id;
  }

  /** Names the text; it is stored with the next change. */
  setName(name: string | undefined): void {
    this.name.value = name;
    if (this.own) this.own.isNamed = true;
  }

  /** The current text. */
  get text(): string {
    return this.setting.surface.kept.text;
  }

  /** The texts that are not stored; this tab's if none is known. */
  get unstoredTexts(): string[] {
    const replaced = [...this.failed].filter((each) => each !== this.own);
    const texts = replaced.flatMap(({ waiting }) => (waiting ? [textIn(waiting.content)] : []));
    return texts.length > 0 && texts.length === this.failed.size ? texts : [this.text, ...texts];
  }

  /** The text `id` if this tab shows it, or could not store it before it was replaced. */
  held(id: string): OwnText | undefined {
    return this.own?.id === id ? this.own : this.unstoredText(id);
  }

  private unstoredText(id: string): OwnText | undefined {
    return [...this.failed].find((each) => each.id === id);
  }

  /** Claims a text that this tab does not show, also one that it could not store; undefined if another tab has it. */
  async claim(id: string): Promise<(() => void) | undefined> {
    const unstored = this.unstoredText(id);
    if (!unstored) return claim(id, patienceMs);
    const { release } = unstored;
    unstored.release = () => undefined;
    return release;
  }

  /** Gives up a claim, but not that of a text that still waits to be stored. */
  unclaim(id: string, release: () => void): void {
    const unstored = this.unstoredText(id);
    if (unstored) unstored.release = release;
    else release();
  }

  /** A text is deleted, or shown again: what waits of it is not stored. Returns whether something has waited. */
  forget(id: string): boolean {
    const unstored = this.unstoredText(id);
    if (!unstored) return false;
    this.giveUp(unstored);
    void this.showStored();
    return true;
  }

  /** Finds the text `id` in this tab or the store, with the data stored beside it; undefined if it is deleted. */
  async find(id: string): Promise<FoundText | "damaged" | undefined> {
    const held = this.held(id);
    if (!held) return readText(await this.openStore(), id, this.firstText);
    const { changed, stored, waiting } = held;
    const isShown = held === this.own || !waiting;
    const content = isShown ? this.whole : waiting.content;
    const name = isShown ? this.name.peek() : waiting.name;
    return { id, version: stored.version, changed, name, kept: content, beside: content, base: stored.text };
  }

  /** The text `id`. Rejects with the reason if it is damaged, or if another tab has deleted it. */
  async need(id: string): Promise<FoundText> {
    const found = await this.find(id);
    if (typeof found === "object") return found;
    throw new Error(phrase(found === "damaged" ? "unreadable" : "deleted"));
  }

  /** Stores the text, even if it is unchanged; rejects if that fails. */
  async storeWhole(): Promise<void> {
    this.storeNow(true);
    await this.storing;
    if (this.own && this.isChanged) await this.storeWhole();
  }

  /** Stores unstored changes; a new text without words is not kept. */
  private async storeRest(): Promise<void> {
    const { own, setting } = this;
    const isBlank = setting.surface.kept.text.trim() === "" && own?.version === 0;
    if (own && !isBlank && (this.isChanged || own.version !== own.stored.version)) await this.storeWhole();
    this.isChanged = false;
  }

  /**
   * Shows the text `id`, or a new one, after the current text is stored. Rejects, and changes nothing, if that fails or
   * the text cannot be read. Returns false if another tab has it.
   */
  async open(id?: string): Promise<boolean> {
    const { surface, beside } = this.setting;
    await surface.need();
    if (id === undefined) {
      await this.storeRest();
      this.own?.release();
      this.own = this.beginText();
      this.showBeside({ ...beside.read(), seed: undefined, fields: undefined, model: undefined });
      await surface.restore({ text: "", caret: 0, written: [] });
      return true;
    }
    if (id === this.id) return true;
    const release = await this.claim(id);
    if (!release) return false;
    try {
      const found = await this.need(id);
      await this.storeRest();
      this.own?.release();
      const wasUnstored = this.forget(id);
      await this.show({ ...found, release });
      if (wasUnstored) this.noteChange();
      return true;
    } catch (error) {
      this.unclaim(id, release);
      throw error;
    }
  }

  /** Stores the current text and releases it; this tab then shows another one. */
  setAside(): void {
    const { own } = this;
    if (!own || this.setting.surface.kept.text.trim() === "") return;
    const whole = this.storeNow();
    this.wanted.value = undefined;
    if (whole === undefined) return; // it is the text that every page starts with
    this.storeLastChange(own, whole); // restores the text until it is stored
    this.own = this.beginText(); // no other tab gets the old one until it is stored
  }

  /** Saves changes that the database may not store in time. */
  private storeLastChange({ id, stored: { version, text } }: OwnText, whole: string): void {
    const change = differenceOf(text, whole) ?? { from: 0, to: 0, insert: "" };
    const { surface, beside } = this.setting;
    writeLastChange(id, { version, change, caret: surface.kept.caret, beside: beside.read() });
  }

  /** Stores the text at once, because the page may be about to close. */
  private leave(isClosed: boolean): void {
    if (this.isLeft) return;
    const { own } = this;
    const whole = this.storeNow();
    const { unstored } = this;
    if (own && whole !== undefined) this.storeLastChange(own, whole);
    else if (unstored !== undefined) {
      keepTyped(unstored, isClosed);
      this.leftWords = unstored;
    }
  }

  /** Text that is not in the store: it was typed before the stored text was read. Until then, nothing is stored. */
  private get unstored(): string | undefined {
    const { surface } = this.setting;
    return surface.typedInField ?? (!this.own && this.isChanged ? surface.kept.text : undefined);
  }

  private showBeside(stored: unknown): void {
    this.isShowing = true;
    this.setting.beside.show(stored);
    this.isShowing = false;
  }

  private async show({ release, ...found }: TakenText): Promise<void> {
    const { id, version, changed, name, kept, beside, base } = found;
    this.own = release
      ? { id, version, changed, release, isNamed: true, stored: { version, text: base } }
      : this.beginText();
    writeStored("sessionStorage", idKey, this.own.id);
    if (release) this.name.value = name;
    this.showBeside(beside);
    await this.setting.surface.restore(kept);
    if (!release || kept.draft !== undefined) this.noteChange(); // not stored yet
  }

  /** The text that a page in one file was saved with, as an unstored text. */
  private readTextInPage(): TakenText | undefined {
    try {
      const found = takeTextInPage();
      const unstored = { id: "", version: 0, changed: 0, name: undefined, base: "", release: undefined };
      return found && { ...unstored, ...found };
    } catch {
      this.setting.showDamage("damagedFile");
      return undefined;
    }
  }

  /** This tab's text in the form that a page in one file starts with, without the undo history. */
  textToSave(): string | undefined {
    const { history: _, ...kept } = this.whole;
    return textIn(kept) === "" ? undefined : textForPage(kept);
  }

  /** Restores this tab's text, unless `isLate()`: the visitor has started to work by then. */
  private async restore(isLate: () => boolean): Promise<void> {
    const inPage = this.readTextInPage();
    try {
      const own = readStored("sessionStorage", idKey);
      const foundDamage = () => this.setting.showDamage("damagedText");
      const taken = await (inPage ?? takeText(await this.openStore(), own, this.firstText, foundDamage));
      if (isLate()) taken?.release?.();
      else if (taken) await this.show(taken);
    } catch (error) {
      this.hasFailedToRead = true;
      this.setting.showFailure(error);
    }
    this.own ??= this.beginText();
    if (this.isChanged) this.noteChange();
  }

  /** The page is shown again from the browser's cache. Another tab may have taken its text in the meantime. */
  private async comeBack(): Promise<void> {
    const { own } = this;
    this.isLeft = false;
    dropTyped(this.leftWords); // the page still has them
    if (!own) return;
    this.own = undefined; // nothing is stored over what the other tab stored
    await this.storing.catch(() => undefined);
    if (this.giveUp(own) || own.version !== own.stored.version) this.isChanged = true;
    const release = await claim(own.id, patienceMs); // a tab that was just closed may still hold it
    const found = release && (await this.find(own.id).catch(() => undefined));
    const stored = typeof found === "object" ? found : undefined;
    const isNewer = stored !== undefined && stored.version > own.version;
    if (release && isNewer && !this.isChanged) return this.show({ ...stored, release });
    if (release && !isNewer) {
      this.own = Object.assign(own, { release });
      if (stored) this.name.value = stored.name;
      if (this.isChanged) this.noteChange();
      return;
    }
    release?.();
    this.own = this.beginText();
    this.noteChange();
  }

  /**
   * Restores the text, and stores it from now on. Resolves when the text is restored or will not be. `typed` are the early words
   * of an earlier page, which the field has.
   */
  async keep(typed?: string): Promise<void> {
    const { field, surface, showFailure } = this.setting;
    dropTyped(typed);
    this.isChanged = surface.typedInField !== undefined;
    field.addEventListener("input", () => this.noteChange());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden") this.leave(false);
    });
    addEventListener("pagehide", () => {
      this.leave(true);
      this.isLeft = true;
      this.own?.release();
    });
    addEventListener("pageshow", ({ persisted }) => void (persisted && this.comeBack()));
    addEventListener("storage", ({ key, newValue }) => {
      if (this.id === undefined || key !== renamePrefix + this.id || newValue === null) return;
      this.setName(parseName(newValue));
      this.isChanged = true;
      this.storeSoon();
    });
    let isLate = false;
    const late = new Promise<void>((resolve) => {
      setTimeout(() => {
        isLate = !this.own;
        if (isLate) showFailure(new DOMException("", "TimeoutError"));
        resolve();
      }, mostMs);
    });
    await Promise.race([this.restore(() => isLate), late]);
  }
}
