// <gpt2-writer>: a field whose text the model continues.
import type { GenerateCall, GenerateSummary, LoadOptions, LoadProgress } from "../client/index.js";
import {
  addProperties,
  callAttributes,
  loadAttributes,
  propertyOf,
  readCall,
  readLoadOptions,
  setAttribute,
  type AttributeProperties,
} from "./attributes.js";
import { emit } from "./events.js";
import { FormControl } from "./form-control.js";
import { adoptProperties, make, style } from "./html-element.js";
import { LazyModel } from "./lazy-model.js";
import { StatusLine } from "./status-line.js";
import { ElementWords, type Words } from "./words.js";
import { writerStyle } from "./writer-style.js";

/** Attributes that only this element has. */
const own = ["prompt", "label", "placeholder", "rows", "loading", "disabled", "readonly", "required"];
const attributes = [...loadAttributes, ...callAttributes, ...own, "name", "form"];
/** Properties that may be set before the element is defined. */
const early = [...attributes.map(propertyOf), "defaultValue", "value", "readOnly", "words"];

/**
 * A field in which GPT-2 writes on from where you stop. In a form it is a control of its own: its value is the whole
 * text. The model is loaded when the element is first seen or used; those that are loaded alike share one. What a
 * model's generation_config.json says of how to write comes before the defaults of the attributes.
 *
 * @tagname gpt2-writer
 *
 * @attr {string} model - Address of the model's folder, relative to the page
 * @attr {string} prompt - The text at first, and after its form is reset
 * @attr {number} max-new-tokens - Tokens to write at most; 64
 * @attr {number} temperature - 0 takes the most probable token; 0.8
 * @attr {number} top-k - Keep the k most probable tokens; 40
 * @attr {number} top-p - Keep the fewest tokens with this much probability; 0.95
 * @attr {number} min-p - Keep tokens with this share of the top token's probability; 0
 * @attr {number} typical-p - Keep the tokens whose surprise is closest to the entropy, up to this much probability; 1
 * @attr {number} no-repeat-ngram-size - Never write the same sequence of this many tokens twice; 0 allows it
 * @attr {number} repetition-penalty - Above 1 makes tokens that were seen less likely; 1
 * @attr {number} seed - The same seed gives the same text
 * @attr {string} stop - End before this text
 * @attr {"lazy" | "use" | "eager"} loading - When the model is loaded: once the element is seen ("lazy", the default), once it is used, or at once
 * @attr {number} threads - Threads to compute with
 * @attr {string} variant - Build of the engine
 * @attr {string} kv - Format of the KV cache
 * @attr {string} base-url - Folder of worker and engine
 * @attr {string} label - Name of the field for screen readers, where no `<label>` names the element
 * @attr {string} placeholder - What the field shows while it is empty
 * @attr {number} rows - Height in lines of text; 6
 * @attr {string} name - Of its value in a form
 * @attr {boolean} disabled - Neither edits nor writes, and is not sent with its form
 * @attr {boolean} readonly - Neither the user nor the model changes the text
 * @attr {boolean} required - Its form is not sent while it is empty
 * @attr {boolean} autofocus - The field gets the focus when the page is loaded
 * @attr {string} lang - Language of its words, as of any element around it; "en" and "de" are built in
 *
 * @fires {CustomEvent<LoadProgress>} gpt2-progress - While the model is loaded
 * @fires {CustomEvent<Token>} gpt2-token - For each token that was written
 * @fires {CustomEvent<Gpt2Done>} gpt2-done - The text is finished, or was stopped
 * @fires {CustomEvent<Gpt2Failure>} gpt2-error - The model could not be loaded, or failed; the element says so, too; logged unless it is prevented
 * @fires {InputEvent} input - The user or the model changed the text
 * @fires {Event} change - The user changed the text and left the field, or the model has written
 *
 * @csspart text - The field
 * @csspart footer - What is below it
 * @csspart button - Write, or Stop
 * @csspart status - What is going on, in words
 * @csspart progress - How far the model is loaded
 *
 * @cssprop [--gpt2-accent=#1f5fbf] - Colour of the button, of what has the focus and of progress
 * @cssprop [--gpt2-on-accent=#fff] - Colour of the button's text
 * @cssprop [--gpt2-ink=inherit] - Colour of the text
 * @cssprop [--gpt2-surface=transparent] - Background of the field
 * @cssprop [--gpt2-line] - Colour of the field's border
 * @cssprop [--gpt2-radius=0.5rem] - Of the corners
 */
export class Gpt2Writer extends FormControl {
  static readonly observedAttributes = [...loadAttributes, ...own];
  static {
    addProperties(this.prototype, attributes);
  }

  /** Generation options that no attribute has: several `stop` texts, `ignoreEos`, ... They override the attributes. */
  options: GenerateCall = (this as { options?: GenerateCall }).options ?? {}; // set before it was defined
  /** Load options that no attribute has: `headers`, `fetch`, ... They override the attributes. */
  loadOptions: LoadOptions = (this as { loadOptions?: LoadOptions }).loadOptions ?? {};

  protected readonly text = make("textarea", { part: "text", rows: "6" });
  private readonly button = make("button", { part: "button", type: "button" });
  private readonly written = make("div", { class: "unseen", "aria-live": "polite" });
  private readonly root = this.attachShadow({ mode: "open", delegatesFocus: true });
  private readonly ownWords = new ElementWords(this, () => this.showWords());
  private readonly status = new StatusLine(this.ownWords);
  private readonly lazy = new LazyModel(
    () => ({
      url: this.model,
      options: { prompt: this.value, ...readLoadOptions(this), ...this.loadOptions },
    }),
    (progress) => this.showProgress(progress),
  );
  private seen: IntersectionObserver | undefined;
  /** The element is in a page, with all its initial attributes. */
  private isPlaced = false;
  /** From the call of `write` to its end. */
  private running: AbortController | undefined;
  /** The model is loaded and writes. */
  private isGenerating = false;
  /** The user or the model has changed the text since the prompt. */
  private isChanged = false;
  /** All callers of one load get the same error, which is reported once. */
  private reported: unknown;

  constructor() {
    super();
    style(this.root, writerStyle);
    const footer = make("div", { part: "footer", class: "footer" }, this.button, this.status.element);
    this.root.append(this.text, footer, this.written);
    this.button.addEventListener("click", () => (this.running ? this.stop() : void this.write()));
    this.text.addEventListener("input", () => this.setChanged());
    this.text.addEventListener("change", () => this.tellChange());
    this.text.addEventListener("focus", () => this.nameField());
  }

  /** The address of the model; the attribute `model`. */
  get model(): string {
    return this.getAttribute("model") ?? "";
  }
  set model(url: string) {
    setAttribute(this, "model", url);
  }
  /** The initial text; the attribute `prompt`. */
  get prompt(): string {
    return this.getAttribute("prompt") ?? "";
  }
  set prompt(text: string) {
    setAttribute(this, "prompt", text);
  }
  /** Neither the user nor the model can change the text. */
  get readOnly(): boolean {
    return this.hasAttribute("readonly");
  }
  set readOnly(isReadOnly: boolean) {
    setAttribute(this, "readonly", isReadOnly);
  }
  /** Words of this element alone, in place of those of its language. */
  get words(): Partial<Words> {
    return this.ownWords.overrides;
  }
  set words(words: Partial<Words>) {
    this.ownWords.overrides = words;
  }
  /** The whole text. Setting another text stops the writing. */
  get value(): string {
    return this.text.value;
  }
  set value(text: string) {
    this.replaceText(text);
    this.setChanged();
  }
  /** As in `<textarea>`: the value after the form is reset. */
  get defaultValue(): string {
    return this.prompt;
  }
  set defaultValue(text: string) {
    this.prompt = text;
  }
  protected get missingMessage(): string {
    return this.ownWords.get("required");
  }

  /** Writes on. Resolves when the text is finished, was stopped, or has failed. */
  async write(): Promise<void> {
    if (this.running || this.disabled || this.readOnly) return;
    const { signal } = (this.running = new AbortController());
    const prompt = this.value;
    let text = "";
    let summary: GenerateSummary | null = null;
    let tellEnd: () => void;
    this.reported = undefined;
    this.written.textContent = "";
    this.showRunning();
    try {
      const stopped = new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
      const model = await Promise.race([this.lazy.load(), stopped]);
      this.isGenerating = true;
      this.status.say(() => this.ownWords.get("writing"));
      const call = { ...readCall(this), ...this.options, signal };
      const onSummary = (end: GenerateSummary) => {
        summary = end;
        this.options.onSummary?.(end);
      };
      for await (const token of model.generate(prompt, { ...call, onSummary })) {
        signal.throwIfAborted();
        if (token.index === 0) text += this.add(token.text);
        emit(this, "gpt2-token", token);
      }
      tellEnd = () => this.finish(text, summary);
    } catch (error) {
      tellEnd = () => (signal.aborted ? this.finish(text, null) : this.fail(error));
    }
    this.running = undefined;
    this.isGenerating = false;
    this.showRunning();
    tellEnd(); // last, because a listener may call write again
  }

  /** Ends the writing. What has been written stays. */
  stop(): void {
    this.running?.abort();
  }

  connectedCallback(): void {
    adoptProperties(this, early);
    this.isPlaced = true;
    this.lazy.keep();
    this.ownWords.watch();
    this.loadWhenWanted();
    this.focusFirst();
  }

  disconnectedCallback(): void {
    this.isPlaced = false;
    this.seen?.disconnect();
    this.ownWords.unwatch();
    setTimeout(() => this.isConnected || this.stop()); // an element that was only moved keeps writing
    this.lazy.releaseSoon();
  }

  /** `moveBefore` calls this instead of the two callbacks above. The element keeps writing. */
  connectedMoveCallback(): void {
    this.ownWords.watch();
  }

  /** The element was moved to another document, which has none of its styles. */
  adoptedCallback(): void {
    style(this.root, writerStyle);
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (before === value) return;
    if (name === "prompt" && !this.isChanged) this.replaceText(this.prompt);
    if (name === "rows") this.text.rows = Number(value) || 6;
    if (name === "placeholder") this.text.placeholder = value ?? "";
    if (name === "label") this.nameField();
    if (name === "readonly") {
      if (this.readOnly) this.stop();
      this.showRunning();
    }
    if (loadAttributes.includes(name)) {
      if (this.isGenerating) this.stop();
      this.lazy.replace();
      this.status.say(() => "");
    }
    if (this.isPlaced && (name === "loading" || loadAttributes.includes(name))) this.loadWhenWanted();
    this.showValue();
  }

  formResetCallback(): void {
    this.stop();
    this.isChanged = false;
    this.replaceText(this.prompt);
    this.showValue();
  }

  formDisabledCallback(isDisabled: boolean): void {
    this.text.disabled = isDisabled;
    if (isDisabled) this.stop();
    this.showRunning();
  }

  private loadWhenWanted(): void {
    const loading = this.getAttribute("loading") ?? "lazy";
    this.seen?.disconnect();
    if (this.model === "" || loading === "use") return;
    const load = () =>
      void this.lazy.load().catch((error: unknown) => {
        if (this.isConnected && this.model !== "") this.fail(error);
      });
    if (loading === "eager") return load();
    this.seen = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      this.seen?.disconnect();
      load();
    });
    this.seen.observe(this);
  }

  /** Appends `text` to the field, as if it were typed, and returns it. */
  private add(text: string): string {
    const { scrollTop, scrollHeight, clientHeight } = this.text;
    const isAtEnd = scrollTop + clientHeight > scrollHeight - 4;
    this.text.value += text;
    if (isAtEnd) this.text.scrollTop = this.text.scrollHeight;
    const how = { bubbles: true, composed: true, inputType: "insertText", data: text };
    this.text.dispatchEvent(new InputEvent("input", how));
    return text;
  }

  private replaceText(text: string): void {
    const before = this.text.value;
    this.text.value = text;
    if (this.text.value !== before) this.stop();
  }

  private finish(text: string, summary: GenerateSummary | null): void {
    this.status.say(() => (summary ? "" : this.ownWords.get("stopped")));
    this.written.textContent = text; // screen readers do not announce changes of a field
    if (text !== "") this.tellChange();
    emit(this, "gpt2-done", { text, summary });
  }

  private fail(error: unknown): void {
    if (error === this.reported) return;
    this.reported = error;
    this.lazy.forget(error);
    this.status.fail(error);
    if (emit(this, "gpt2-error", { error })) console.error(error);
  }

  private showProgress(progress: LoadProgress): void {
    emit(this, "gpt2-progress", progress);
    this.status.showProgress(progress);
    if (progress.stage === "ready" && !this.running) this.status.say(() => "");
  }

  private showRunning(): void {
    const isRunning = this.running !== undefined;
    this.button.textContent = this.ownWords.get(isRunning ? "stop" : "write");
    this.button.disabled = this.text.disabled || this.readOnly;
    this.text.readOnly = isRunning || this.readOnly;
    this.text.setAttribute("aria-busy", String(isRunning));
  }

  private showWords(): void {
    this.showRunning();
    this.status.refresh();
    this.nameField();
    this.showValue();
  }

  /** A label of the element does not label the field inside it. */
  private nameField(): void {
    const labels = Array.from(this.labels, (label) => label.textContent?.trim() ?? "");
    const given = this.getAttribute("label") ?? labels.join(" ");
    this.text.setAttribute("aria-label", given || this.ownWords.get("field"));
  }

  private tellChange(): void {
    this.dispatchEvent(new Event("change", { bubbles: true }));
  }

  private setChanged(): void {
    this.isChanged = true;
    this.showValue();
  }
}

/** The properties that `addProperties` defines. */
export interface Gpt2Writer extends AttributeProperties<"label" | "placeholder" | "rows" | "loading"> {}

declare global {
  interface HTMLElementTagNameMap {
    "gpt2-writer": Gpt2Writer;
  }
}
