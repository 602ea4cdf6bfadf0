// The text of this tab: restored when the page is opened, and stored as it changes. Each tab has its own text.
import { signal, type Signal } from "@preact/signals-core";
import { differenceOf } from "../document/difference.js";
import { parseKept } from "../document/parse-kept.js";
import type { Surface } from "../document/surface.js";
import { Attempts } from "./attempts.js";
import type { DeviceModel } from "../state/page-state.js";
import { claim } from "./claims.js";
import { writeLastChange } from "./last-change.js";
import { storeSoon } from "./store-soon.js";
import { path, readStored, writeStored } from "../state/storage.js";
import { takeTextInPage, textForPage } from "./text-in-page.js";
import { TextStore, type StoredVersion } from "./store.js";
import { needText, patienceMs, readText, takeText, type FoundText, type TakenText } from "./take.js";
import { keepTyped } from "./typed.js";

interface OwnText {
  readonly id: string;
  /** Version of the last attempt to store it; 0: none. */
  version: number;
  /** The version that is known to be stored. */
  stored: { version: number; text: string };
  /** When it was last changed. */
  changed: number;
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
  /** Reports that the text in a page in one file cannot be read. */
  showDamage: () => void;
}

const idKey = `gpt2-text-id ${path}`;
export const prefix = `gpt2-text ${path} `;
/** The name by which a text is claimed. */
export const nameOf = (id: string): string => prefix + id;

export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (each) => each.toString(16)).join("-");

/** A change of this many UTF-16 code units is stored at once. */
const manyUnits = 50_000;
/** The longest time that the editor waits for the store. */
const mostMs = 4000;

export class Tab {
  private readonly setting: TabSetting;
  /** The text that every page starts with. */
  private readonly firstText: string;
  private store: TextStore | undefined;
  /** undefined until the stored text is read: until then nothing may be stored. */
  private own: OwnText | undefined;
  private isChanged = false;
  /** Whether options are being restored, which does not count as a change of the text. */
  private isShowing = false;
  private isBeingStored = false;
  /** Settles with the last attempt to store. */
  private storing: Promise<void> = Promise.resolve();
  /** Whether this page was left. It may be shown again. */
  private isLeft = false;
  private hasFailedToRead = false;
  /** The model of this device that the text was stored with, until another one is chosen. */
  readonly wanted: Signal<DeviceModel | undefined> = signal<DeviceModel | undefined>(undefined);
  /** The name of the text in the library, if it has one. */
  readonly name: Signal<string | undefined> = signal<string | undefined>(undefined);
  private readonly attempts: Attempts;
  private readonly storeSoon = storeSoon(() => {
    if (!this.isBeingStored) this.storeNow(); // otherwise it is stored afterwards
  });

  constructor(setting: TabSetting) {
    this.setting = setting;
    this.firstText = setting.field.defaultValue;
    const { showFailure, showStored } = setting;
    this.attempts = new Attempts({
      // At once if the store is open, because the page may be about to close.
      put: async (id, next) => (this.store ?? (await this.openStore())).put(id, next),
      putShown: (id) => {
        if (id !== this.own?.id) return false;
        this.isChanged = true;
        this.storeSoon();
        return true;
      },
      claim: (id) => claim(nameOf(id), 0),
      versions: async (id) => (await this.openStore()).versions(id),
      showFailure,
      showStored: () => void this.showStored(showStored),
    });
  }

  /** Shows that all texts are stored. If texts could not be read, only once they can be. */
  private async showStored(show: () => void): Promise<void> {
    try {
      if (this.hasFailedToRead) await (await this.openStore()).ids();
      this.hasFailedToRead = false;
      show();
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
    const begun: OwnText = { id, version: 0, stored, changed: 0, release: () => undefined };
    void claim(nameOf(id), 0).then((release) => (begun.release = release ?? begun.release));
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

  /** Stores the text and returns it, unless it equals the text that every page starts with and `always` is not set. */
  private storeNow(always = false): string | undefined {
    const { own, setting } = this;
    if (!own || (!always && !this.isChanged && own.version === 0)) return undefined;
    const kept = setting.surface.keptWithHistory;
    const content = { ...kept, ...setting.beside.read() };
    const next = { version: (own.version += 1), changed: own.changed, content };
    this.isChanged = false;
    this.isBeingStored = true;
    const whole = kept.draft ?? kept.text;
    const stored = () => {
      own.stored = { version: next.version, text: whole };
      writeLastChange(nameOf(own.id), undefined);
    };
    this.storing = this.attempts.put({ id: own.id, next, base: () => own.stored.version, stored });
    this.storing
      .catch(() => undefined) // `attempts` shows the failure and tries again
      .finally(() => {
        this.isBeingStored = false;
        if (this.isChanged) this.storeSoon();
      });
    return whole;
  }

  /** The id of this tab's text; undefined until it is known. */
  get id(): string | undefined {
    return this.own?.id;
  }

  /** The current text. */
  get text(): string {
    return this.setting.surface.kept.text;
  }

  /** The texts that are not stored; this tab's if none is known. */
  get unstoredTexts(): string[] {
    const { waiting } = this.attempts;
    const aside = waiting.filter(({ id }) => id !== this.id).map(({ next }) => this.textIn(next));
    return aside.length > 0 && aside.length === waiting.length ? aside : [this.text, ...aside];
  }

  /** A text is deleted: it is not stored again. */
  forget(id: string): void {
    this.attempts.giveUp(id);
  }

  /** Finds the text `id` in this tab or the store, with the data stored beside it; undefined if it cannot be read. */
  async find(id: string): Promise<FoundText | undefined> {
    const { own, setting } = this;
    const names = { prefix, firstText: this.firstText };
    if (own?.id !== id) return readText(await this.openStore(), id, names);
    const content = { ...setting.surface.keptWithHistory, ...setting.beside.read() };
    return {
      kept: content,
      beside: content,
      stored: { version: own.version, changed: own.changed, content },
    };
  }

  /** Stores the text, even if it is unchanged; rejects if that fails. */
  async storeWhole(): Promise<void> {
    this.storeNow(true);
    await this.storing;
    if (this.isChanged) await this.storeWhole();
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
    const release = await claim(nameOf(id), patienceMs);
    if (!release) return false;
    try {
      const found = await needText(this, id);
      await this.storeRest();
      this.own?.release();
      await this.show({ ...found, id, release });
      return true;
    } catch (error) {
      release();
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
    const release = () => own.release(); // read late, because a new text may not have its claim yet
    this.storing.then(release, release); // a tab that opened it earlier would miss this version
    this.own = this.beginText();
  }

  /** Saves changes that the database may not store in time. */
  private storeLastChange({ id, stored: { version, text } }: OwnText, whole: string): void {
    const change = differenceOf(text, whole) ?? { from: 0, to: 0, insert: "" };
    const { surface, beside } = this.setting;
    writeLastChange(nameOf(id), { version, change, caret: surface.kept.caret, beside: beside.read() });
  }

  /** Stores the text at once, because the page may be about to close. */
  private leave(isClosed: boolean): void {
    if (this.isLeft) return;
    const { own } = this;
    const whole = this.storeNow();
    const isStored = own !== undefined && whole !== undefined;
    if (isStored) this.storeLastChange(own, whole);
    keepTyped(isStored ? undefined : this.unstored, isClosed);
  }

  /** Text that is not in the store: it was typed before the stored text was read. Until then, nothing is stored. */
  private get unstored(): string | undefined {
    const { surface } = this.setting;
    return surface.typedInField ?? (!this.own && this.isChanged ? surface.kept.text : undefined);
  }

  /** The text of a stored version. */
  private textIn({ content }: StoredVersion): string {
    const kept = parseKept(content);
    return kept?.draft ?? kept?.text ?? this.firstText;
  }

  private showBeside(stored: unknown): void {
    this.isShowing = true;
    this.setting.beside.show(stored);
    this.isShowing = false;
  }

  private async show({ id, kept, beside, stored, release }: TakenText): Promise<void> {
    const { version, changed } = stored;
    this.own =
      id === undefined
        ? this.beginText()
        : { id, version, changed, release, stored: { version, text: this.textIn(stored) } };
    writeStored("sessionStorage", idKey, this.own.id);
    if (id !== undefined) void this.readName(id);
    this.showBeside(beside);
    await this.setting.surface.restore(kept);
    if (id === undefined || kept.draft !== undefined) this.noteChange(); // not stored yet
  }

  /** Reads the name, which any tab may have changed. */
  private async readName(id: string): Promise<void> {
    const stored = this.openStore().then((store) => store.name(id));
    const name = await stored.catch(() => undefined); // the list of texts reports why
    if (id === this.id) this.name.value = name;
  }

  /** The text that a page in one file was saved with, as an unstored text. */
  private readTextInPage(): TakenText | undefined {
    try {
      const found = takeTextInPage();
      const stored = { version: 0, changed: 0, content: undefined };
      return found && { ...found, id: undefined, stored, release: () => undefined };
    } catch {
      this.setting.showDamage();
      return undefined;
    }
  }

  /** This tab's text in the form that a page in one file starts with, without the undo history. */
  textToSave(): string | undefined {
    const { surface, beside } = this.setting;
    const { history: _, ...kept } = surface.keptWithHistory;
    return (kept.draft ?? kept.text) === "" ? undefined : textForPage({ ...kept, ...beside.read() });
  }

  /** Restores this tab's text, unless `isLate()`: the visitor has started to work by then. */
  private async restore(isLate: () => boolean): Promise<void> {
    const inPage = this.readTextInPage();
    try {
      const names = { prefix, firstText: this.firstText };
      const taken = await (inPage ??
        takeText(await this.openStore(), readStored("sessionStorage", idKey), names));
      if (isLate()) taken?.release();
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
    if (!own) return;
    this.own = undefined; // nothing is stored over what the other tab stored
    if (this.attempts.giveUp(own.id)) this.isChanged = true;
    const release = await claim(nameOf(own.id), patienceMs); // a tab that was just closed may still hold it
    const newer = release && (await this.findNewer(own).catch(() => undefined));
    if (newer && !this.isChanged) return this.show({ ...newer, id: own.id, release });
    if (release && !newer) {
      this.own = Object.assign(own, { release });
      if (this.isChanged) this.noteChange();
      return;
    }
    release?.();
    this.own = this.beginText();
    this.noteChange();
  }

  /** What another tab has stored of this text meanwhile; undefined if it has not. */
  private async findNewer({ id, version }: OwnText): Promise<FoundText | undefined> {
    const found = await readText(await this.openStore(), id, { prefix, firstText: this.firstText });
    return found && found.stored.version > version ? found : undefined;
  }

  /** Restores the text, and stores it from now on. Resolves when the text is restored or will not be. */
  async keep(): Promise<void> {
    const { field, surface, showFailure } = this.setting;
    keepTyped(); // the page has put it into the field
    this.isChanged = surface.typedInField !== undefined;
    field.addEventListener("input", () => this.noteChange());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden") this.leave(false);
      else if (this.own) void this.readName(this.own.id);
    });
    addEventListener("pagehide", () => {
      this.leave(true);
      this.isLeft = true;
      this.own?.release();
    });
    addEventListener("pageshow", ({ persisted }) => void (persisted && this.comeBack()));
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
