// <gpt2-autocomplete>: suggests how the text of a field continues.
import type { GenerateCall, LoadOptions, Model } from "../client/index.js";
import { followingController } from "../shared/unless-aborted.js";
import {
  addProperties,
  callAttributes,
  loadAttributes,
  numberIn,
  propertyOf,
  readCall,
  readLoadOptions,
  type AttributeProperties,
} from "./attributes.js";
import { continuationOf, truncate } from "./continuation.js";
import { emit } from "./events.js";
import { firstWord } from "./first-word.js";
import { GhostText, ghostStyle } from "./ghost-text.js";
import { adoptProperties, Base, make, style, visuallyHidden } from "./html-element.js";
import { LazyModel } from "./lazy-model.js";
import { ControlField, type SuggestionField } from "./suggestion-field.js";
import { ElementWords, fill, type Words } from "./words.js";

/** Whether `element` accepts text. */
const isEditable = (element: Element): boolean =>
  ["input", "textarea"].includes(element.localName) ||
  (element as Partial<HTMLElement>).isContentEditable === true;

/** Matches elements that the browser draws above all others. `:is` allows selectors that a browser does not know. */
const topLayer = ":is(:modal, :popover-open, :fullscreen)";

const isElement = (target: EventTarget | null): target is Element =>
  (target as Partial<Node> | null)?.nodeType === Node.ELEMENT_NODE;

const attributes = [...loadAttributes, ...callAttributes, "for", "delay", "disabled", "hint"];
/** Properties that may be set before the element is defined. */
const early = [...attributes.map(propertyOf), "words"];

/** A composition that the keyboard will replace: in Chinese or Japanese, or after the thin space between syllables on iOS. */
const toBeReplaced = /[\u2006\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef][\p{sc=Latn}'’]*$/u;

/** The element that suggests in each field: the first one, if two elements name the same field. */
const suggesting = new WeakMap<Element, Gpt2Autocomplete>();

/**
 * Suggests how the text in a field of yours continues, after a pause in typing. Tab takes the suggestion. Ctrl (on a Mac also
 * Alt) and the right arrow take one word of it. Esc, or any change to the text before it, dismisses it.
 *
 * On a touch screen, a tap takes the suggestion. Without a suggestion, every key works as usual. Password fields, and fields
 * whose `autocomplete` names a secret, get none. The model loads when the field first gets the focus. Elements with the same
 * load options share one model.
 *
 * @tagname gpt2-autocomplete
 *
 * @attr {string} for - Id of a `<textarea>`, or of an `<input>` of type text, search, tel or url, in the same document or shadow tree
 * @attr {string} model - URL of the model's folder, relative to the page
 * @attr {number} delay - Pause in typing before a suggestion, in milliseconds; default 400
 * @attr {number} max-new-tokens - Maximum number of tokens of a suggestion; default 12
 * @attr {number} temperature - Randomness: default 0, which takes the most probable token
 * @attr {string} stop - End the suggestion before this string; by default at the end of the line
 * @attr {number} threads - Number of threads; by default the fastest number on this device
 * @attr {string} variant - Build of the engine; by default the fastest that the browser supports
 * @attr {string} kv - Format of the KV cache, "q8" or "f32"; by default "f32" for float weights and "q8" for others
 * @attr {string} base-url - Folder that holds the worker and the engine; by default the module's own
 * @attr {boolean} disabled - The element suggests nothing
 * @attr {string} hint - What screen readers say after the suggestion; default "Tab takes it, Escape dismisses it."
 * @attr {string} lang - Language of the element's words, which it inherits from elements around it; "en" and "de" are built in
 *
 * @fires {CustomEvent<LoadProgress>} gpt2-progress - The model is loading
 * @fires {CustomEvent<Token>} gpt2-token - A token of a suggestion was written
 * @fires {CustomEvent<Gpt2Done>} gpt2-done - A suggestion is shown
 * @fires {CustomEvent<Gpt2Accept>} gpt2-accept - The user took the suggestion, or a word of it; `text` is the inserted text
 * @fires {CustomEvent<Gpt2Failure>} gpt2-error - The model could not be loaded, or failed. The element logs the error unless the event is prevented
 *
 * @csspart ghost - The suggestion
 *
 * @cssprop [--gpt2-ghost] - Colour of the suggestion; by default the field's, paler
 */
export class Gpt2Autocomplete extends Base {
  static readonly observedAttributes = [...loadAttributes, "for", "disabled"];
  static {
    addProperties(this.prototype, attributes);
  }

  /** Generation options that no attribute has. They override the attributes. */
  options: GenerateCall = (this as { options?: GenerateCall }).options ?? {}; // set before it was defined
  /** Load options that no attribute has: `headers`, `fetch`, ... They override the attributes. A change applies to the next load. */
  loadOptions: LoadOptions = (this as { loadOptions?: LoadOptions }).loadOptions ?? {};
  /** An editor to suggest in, instead of the field that `for` names. Set it before the editor gets the focus. */
  field: SuggestionField | undefined = (this as { field?: SuggestionField }).field;

  private readonly root = this.attachShadow({ mode: "open" });
  private readonly ghost = new GhostText(this.root, () => void this.accept(this.suggestion));
  private readonly ownWords = new ElementWords(this);
  private readonly spoken = make("div", { class: "unseen", "aria-live": "polite" });
  private readonly lazy = new LazyModel(
    () => ({
      url: this.getAttribute("model") ?? "",
      options: { ...readLoadOptions(this), ...this.loadOptions },
    }),
    (progress) => void emit(this, "gpt2-progress", progress),
  );
  /** The field, while it has the focus. */
  private active: SuggestionField | undefined;
  private whileFocused: AbortController | undefined;
  private scope: Document | ShadowRoot | undefined;
  private suggestion = "";
  /** The text before the caret that `suggestion` continues. */
  private shownFor = "";
  private running: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isComposing = false;
  private isEndingWord = false;
  /** The load failed since the field got the focus. The next focus tries again. */
  private hasFailed = false;
  /** Warnings that were already logged. */
  private readonly warned = new Set<string>();

  constructor() {
    super();
    style(this.root, ghostStyle + visuallyHidden);
    this.root.append(this.spoken);
  }

  /** Words of this element alone, which override those of its language. */
  get words(): Partial<Words> {
    return this.ownWords.overrides;
  }
  set words(words: Partial<Words> | null | undefined) {
    this.ownWords.overrides = words ?? {};
  }

  connectedCallback(): void {
    adoptProperties(this, early);
    this.lazy.keep();
    // The field is looked up when it gets the focus: it may be added later, or replaced.
    this.scope = this.getRootNode() as Document | ShadowRoot;
    this.scope.addEventListener("focusin", this.onFocus);
    if (this.wasPlaced) return this.attachToFocused();
    this.wasPlaced = true;
    setTimeout(() => this.attachToFocused()); // a script may set properties right after the element was defined
  }

  disconnectedCallback(): void {
    this.scope?.removeEventListener("focusin", this.onFocus);
    this.scope = undefined;
    this.detach();
    this.lazy.releaseSoon();
  }

  /** `moveBefore` calls this instead of the two callbacks above. A suggestion stays where it is. */
  connectedMoveCallback(): void {
    if (this.getRootNode() === this.scope) return;
    this.disconnectedCallback();
    this.connectedCallback();
  }

  /** The element was moved to another document, which has none of its styles. */
  adoptedCallback(): void {
    style(this.root, ghostStyle + visuallyHidden);
    this.lazy.endWith(this);
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (before === value || !this.scope) return;
    if (loadAttributes.includes(name)) this.lazy.replace();
    this.detach();
    this.attachToFocused();
  }

  /** Whether the element has been in a page. */
  private wasPlaced = false;
  private readonly onFocus = (event: Event) => this.attach(event.target);

  /** The field that `target` is or is in; undefined if it is not this element's field. */
  private fieldAt(target: Element): SuggestionField | undefined {
    const { field } = this;
    if (field) {
      const { element = null, textBefore, insert, caret } = field as Partial<SuggestionField>; // JavaScript may set anything
      if (isElement(element) && [textBefore, insert, caret].every((each) => typeof each === "function"))
        return element.contains(target) ? field : undefined;
      this.warnOnce('expected the property "field" to have element, textBefore, insert and caret');
      return undefined;
    }
    const id = this.getAttribute("for");
    if (target.id !== id && !isEditable(target)) return undefined;
    const named = id === null ? null : (this.scope?.getElementById(id) ?? null);
    const problem = named ? ControlField.problemOf(named) : undefined;
    if (id === null)
      this.warnOnce('expected the attribute "for" with the id of a field, or the property "field"');
    else if (!named) this.warnOnce(`"for" is "${id}", but no element has this id`);
    else if (problem)
      this.warnOnce(`there are no suggestions in <${named.localName} id="${id}">: ${problem}`);
    return named === target ? ControlField.of(named) : undefined;
  }

  /** The visitor may have paused before this element came or changed. */
  private attachToFocused(): void {
    this.attach(this.scope?.activeElement ?? null);
    if (this.active && !this.suggestion) this.suggestSoon();
  }

  private warnOnce(problem: string): void {
    if (this.warned.has(problem)) return;
    this.warned.add(problem);
    console.warn(`gpt2-autocomplete: ${problem}`);
  }

  private attach(target: EventTarget | null): void {
    if (!isElement(target) || this.active?.element.contains(target)) return;
    const field = this.fieldAt(target);
    if (!field) return;
    this.detach();
    if (this.hasAttribute("disabled")) return;
    const layer = field.element.closest(topLayer);
    if (layer && !layer.contains(this))
      return this.warnOnce(
        "an open dialog or popover around the field covers its suggestions: put <gpt2-autocomplete> into it, too",
      );
    if (suggesting.has(field.element))
      return this.warnOnce("another <gpt2-autocomplete> suggests in the same field: remove one of them");
    suggesting.set(field.element, this);
    this.active = field;
    this.listen(field);
    this.hasFailed = false;
    void this.load();
  }

  /** The model; undefined if it cannot be loaded, which is reported once per focus. */
  private async load(): Promise<Model | undefined> {
    if (this.hasFailed) return undefined;
    try {
      return await this.lazy.load();
    } catch (error) {
      this.failToLoad(error);
      return undefined;
    }
  }

  private failToLoad(error: unknown): void {
    if (this.hasFailed) return;
    this.hasFailed = true;
    this.fail(error);
  }

  private listen(field: SuggestionField): void {
    const { signal } = (this.whileFocused = new AbortController());
    // An editor listens for keys on its own element, so Tab must be handled in the capture phase.
    const capture = !(field instanceof ControlField);
    const on = (type: string, run: (event: Event) => void) =>
      field.element.addEventListener(type, run, { signal, capture });
    on("input", () => this.onInput());
    on("keydown", (event) => this.onKey(event as KeyboardEvent));
    on("focusout", ({ relatedTarget }: FocusEventInit) => {
      if (!this.isEndingWord && !field.element.contains(relatedTarget as Node | null)) this.detach();
    });
    // A keyboard also marks a word that it leaves as it is. That keeps the suggestion.
    on("compositionstart", () => (this.isComposing = true));
    on("compositionend", () => {
      this.isComposing = false;
      if (!this.suggestion || !this.isCurrent()) this.suggestSoon();
    });
  }

  private detach(): void {
    this.dismiss();
    this.whileFocused?.abort();
    if (this.active) suggesting.delete(this.active.element);
    this.active = undefined;
    this.isComposing = false;
  }

  /** The text before the caret. Editors in the page show a space at the end of a line as U+00A0, which models hardly know. */
  private textBefore(): string | undefined {
    return this.active?.textBefore()?.replaceAll("\u00a0", " ");
  }

  private onInput(): void {
    const { shownFor, suggestion, active } = this;
    if (!active) return;
    const before = this.textBefore() ?? "";
    if (suggestion && before === shownFor) return;
    // Typing what is suggested keeps the rest of it.
    const typed = before.startsWith(shownFor) ? before.slice(shownFor.length) : "";
    if (suggestion && typed && suggestion.startsWith(typed)) {
      this.show(suggestion.slice(typed.length), false);
      if (this.suggestion) return;
    }
    this.dismiss();
    // Keyboards on touch screens compose each word as it is meant. Other input methods show what they will replace.
    const isMeant = matchMedia("(pointer: coarse)").matches && !toBeReplaced.test(before);
    if (!this.isComposing || isMeant) this.suggestSoon();
  }

  private onKey(event: KeyboardEvent): void {
    if (!this.suggestion || event.isComposing || this.isComposing || !this.ghost.isVisible) return;
    const { key, ctrlKey, altKey, metaKey, shiftKey } = event;
    const isPlain = !ctrlKey && !altKey && !metaKey && !shiftKey;
    const isWord = key === "ArrowRight" && ctrlKey !== altKey && !metaKey && !shiftKey;
    let isTaken = false;
    if (key === "Tab" && isPlain) isTaken = this.accept(this.suggestion);
    else if (isWord) isTaken = this.accept(firstWord(this.suggestion));
    else if (key === "Escape" && isPlain) {
      this.dismiss();
      isTaken = true;
    }
    if (!isTaken) return;
    event.preventDefault();
    event.stopPropagation(); // Escape must not also close a dialog around it
  }

  /** Inserts `text`, if the text before the caret has not changed. Returns whether it inserted something. */
  private accept(text: string): boolean {
    const { active } = this;
    if (!active || text === "" || !this.isCurrent()) {
      this.dismiss();
      return false;
    }
    if (this.isComposing) this.endWord(active.element);
    const inserted = active.insert(text);
    if (inserted === "") this.dismiss();
    else emit(this, "gpt2-accept", { text: inserted }); // onInput draws the rest
    return inserted !== "";
  }

  /** Ends a composition. Otherwise the keyboard would later replace its word where that no longer is. */
  private endWord(field: HTMLElement): void {
    this.isEndingWord = true;
    field.blur();
    field.focus();
    this.isEndingWord = false;
  }

  private isCurrent(): boolean {
    return this.textBefore() === this.shownFor;
  }

  private show(text: string, isNew: boolean): void {
    const { active, ownWords } = this;
    const before = this.textBefore();
    const fitting = truncate(text, active?.room?.() ?? Infinity);
    if (!active || before === undefined || fitting === "") return this.dismiss();
    const wasShown = this.suggestion !== "";
    this.suggestion = fitting;
    this.shownFor = before;
    this.ghost.show(active, fitting);
    if (!this.ghost.isVisible) return this.dismiss();
    if (!wasShown) this.watch();
    if (!isNew) return;
    const hint = this.getAttribute("hint") ?? ownWords.get("hint");
    const spoken = fitting.trim().replace(/\.$/, ""); // the sentence around it has a full stop
    this.spoken.textContent = fill(ownWords.get("suggestion"), { text: spoken, hint });
  }

  /**
   * Dismisses the suggestion once the text or the caret has changed, and follows the field: scripts change, move and
   * remove it without an event.
   */
  private watch(): void {
    if (!this.suggestion) return;
    if (!this.active?.element.isConnected) return this.detach();
    if (!this.isCurrent()) return this.dismiss();
    this.ghost.follow();
    requestAnimationFrame(() => this.watch());
  }

  /** Removes the suggestion, and cancels the next one. */
  private dismiss(): void {
    clearTimeout(this.timer);
    this.running?.abort();
    this.running = undefined;
    this.suggestion = "";
    this.ghost.hide();
    this.spoken.textContent = "";
  }

  private suggestSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.suggest(), numberIn(this, "delay") ?? 400);
  }

  private async suggest(): Promise<void> {
    const before = this.textBefore();
    if (before === undefined || before.trim() === "" || this.active?.room?.() === 0) return;
    const { controller, letGo } = followingController({ ...this.options }.signal);
    const { signal } = (this.running = controller);
    try {
      const model = await this.load();
      if (!model) return;
      signal.throwIfAborted();
      const call = { ...readCall(this), ...this.options, signal };
      const { text, summary } = await continuationOf(model, before, call, (token) =>
        emit(this, "gpt2-token", token),
      );
      if (this.textBefore() !== before) return;
      this.show(text, true);
      if (this.suggestion) emit(this, "gpt2-done", { text: this.suggestion, summary });
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    } finally {
      letGo();
    }
  }

  private fail(error: unknown): void {
    if (!this.isConnected) return;
    this.lazy.forget(error);
    if (emit(this, "gpt2-error", { error })) console.error(error);
  }
}

/** The properties that `addProperties` defines. */
export interface Gpt2Autocomplete extends AttributeProperties<
  "model" | "for" | "delay" | "disabled" | "hint" | "stop"
> {}

declare global {
  interface HTMLElementTagNameMap {
    "gpt2-autocomplete": Gpt2Autocomplete;
  }
}
