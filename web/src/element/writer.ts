// <gpt2-writer>: a field whose text the model continues.
import type { GenerateCall, GenerateSummary, LoadOptions, LoadProgress } from "../client/index.js";
import { followingController, unlessAborted } from "../shared/unless-aborted.js";
import {
  addProperties,
  callAttributes,
  loadAttributes,
  propertyOf,
  readCall,
  readLoadOptions,
  setAttribute,
  type AttributeProperties,
  type AttributeValue,
} from "./attributes.js";
import { emit } from "./events.js";
import { copyAttribute, describeField, fieldAttributes } from "./field-attributes.js";
import { FormControl } from "./form-control.js";
import { adoptProperties, make, style } from "./html-element.js";
import { LazyModel } from "./lazy-model.js";
import { StatusLine } from "./status-line.js";
import { TextHistory } from "./text-history.js";
import { ElementWords, type Words } from "./words.js";
import { writerStyle } from "./writer-style.js";

/** Attributes that only this element has. */
const own = ["prompt", "label", "placeholder", "rows", "loading", "disabled", "readonly", "required"];
const attributes = [...loadAttributes, ...callAttributes, ...own, "name", "form"];
/** Properties that may be set before the element is defined. */
const early = [...attributes.map(propertyOf), "defaultValue", "value", "readOnly", "words"];

/**
 * A text field that GPT-2 continues. In a form it is one control, whose value is the whole text. The model loads when the
 * element first becomes visible or is used. Elements with the same load options share one model. The settings of a
 * model's generation_config.json replace the defaults of the attributes. Further attributes set numeric options of a
 * generation (docs/reference/api.md), such as `max-new-tokens`.
 *
 * @tagname gpt2-writer
 *
 * @attr {string} model - URL of the model's folder, relative to the page
 * @attr {string} prompt - The initial text, which a reset of the form restores
 * @attr {string} stop - End the text before this string
 * @attr {"lazy" | "use" | "eager"} loading - When the model loads: once the element is visible ("lazy", the default), on its first use ("use"), or immediately ("eager")
 * @attr {number} threads - Number of threads; by default the fastest number on this device
 * @attr {string} variant - Build of the engine; by default the fastest that the browser supports
 * @attr {string} kv - Format of the KV cache, "q8" or "f32"; by default "f32" for float weights and "q8" for others
 * @attr {string} base-url - Folder that holds the worker and the engine; by default the module's own
 * @attr {string} label - Name of the field for screen readers, if no `<label>` names the element
 * @attr {string} placeholder - Text that an empty field shows
 * @attr {number} rows - Height of the field in lines of text; default 6
 * @attr {string} name - Name of the element's value in a form
 * @attr {boolean} disabled - The text cannot change, and the form does not send it
 * @attr {boolean} readonly - Neither the user nor the model can change the text
 * @attr {boolean} required - The form is not sent while the text is empty
 * @attr {boolean} autofocus - The field gets the focus when the page loads
 * @attr {string} lang - Language of the element's words, which it inherits from elements around it; "en" and "de" are built in
 *
 * @fires {CustomEvent<LoadProgress>} gpt2-progress - The model is loading
 * @fires {CustomEvent<Token>} gpt2-token - A token was written
 * @fires {CustomEvent<Gpt2Done>} gpt2-done - The text is finished, or the writing was stopped
 * @fires {CustomEvent<Gpt2Failure>} gpt2-error - The model could not be loaded, or failed. The element shows the error, and logs it unless the event is prevented
 * @fires {InputEvent} input - The user or the model changed the text
 * @fires {Event} change - The user changed the text and left the field, or the model ended its writing
 *
 * @csspart text - The text field
 * @csspart footer - The row below the field
 * @csspart button - The button Write or Stop
 * @csspart status - The status, as text
 * @csspart progress - The progress bar of the load
 *
 * @cssprop [--gpt2-accent=#1f5fbf] - Colour of the button, the focus ring and the progress bar
 * @cssprop [--gpt2-on-accent=#fff] - Colour of the button's text
 * @cssprop [--gpt2-ink=inherit] - Colour of the text
 * @cssprop [--gpt2-surface=transparent] - Background of the field
 * @cssprop [--gpt2-line] - Colour of the field's border; by default the text's, paler
 * @cssprop [--gpt2-radius=0.5rem] - Radius of the corners
 */
export class Gpt2Writer extends FormControl {
  static readonly observedAttributes = [...loadAttributes, ...own, ...fieldAttributes];
  static {
    addProperties(this.prototype, attributes);
  }

  /** Generation options that no attribute has: several `stop` texts, `ignoreEos`, ... They override the attributes. */
  options: GenerateCall = (this as { options?: GenerateCall }).options ?? {}; // set before it was defined
  /** Load options that no attribute has: `headers`, `fetch`, ... They override the attributes. A change applies to the next load. */
  loadOptions: LoadOptions = (this as { loadOptions?: LoadOptions }).loadOptions ?? {};

  protected readonly text = make("textarea", { part: "text", rows: "6" });
  private readonly button = make("button", { part: "button", type: "button" });
  private readonly written = make("div", { class: "unseen", "aria-live": "polite" });
  private readonly root = this.attachShadow({ mode: "open", delegatesFocus: true });
  private readonly history = new TextHistory(this.root, this.text);
  private readonly ownWords = new ElementWords(this, () => this.showWords());
  private readonly status = new StatusLine(this.ownWords);
  private readonly lazy = new LazyModel(
    () => ({
      url: this.model,
      options: { prompt: this.value, ...readLoadOptions(this), ...this.loadOptions },
    }),
    (progress) => this.showProgress(progress),
    () => this.status.endProgress(),
  );
  private seen: IntersectionObserver | undefined;
  /** An eager load that has not started. */
  private eager: ReturnType<typeof setTimeout> | undefined;
  /** The element is in a page, with all its initial attributes. */
  private isPlaced = false;
  /** From the start of a run to its end. Aborted once the run was stopped. */
  private running: AbortController | undefined;
  /** Resolves when the last run has ended. */
  private ended: Promise<void> | undefined;
  /** How often the writing was stopped. */
  private stops = 0;
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
    this.button.addEventListener("mousedown", (event) => event.preventDefault()); // the text keeps the focus
    this.button.addEventListener("click", () => (this.running ? this.stop() : void this.write()));
    this.text.addEventListener("input", () => this.setChanged());
    this.text.addEventListener("change", () => this.fireChange());
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
  /** Words of this element alone, which override those of its language. */
  get words(): Partial<Words> {
    return this.ownWords.overrides;
  }
  set words(words: Partial<Words> | null | undefined) {
    this.ownWords.overrides = words ?? {};
  }
  /** The whole text. Setting another text stops the writing. */
  get value(): string {
    return this.text.value;
  }
  set value(text: string | null | undefined) {
    this.replaceText(text ?? "");
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

  /** Continues the text. Resolves when the text is finished, was stopped, or has failed. */
  async write(): Promise<void> {
    const { stops } = this;
    while (this.running?.signal.aborted) await this.ended; // a stopped run needs a moment to end
    if (this.running || this.stops !== stops || this.disabled || this.readOnly) return;
    await (this.ended = this.run());
  }

  private async run(): Promise<void> {
    const { controller, letGo } = followingController({ ...this.options }.signal);
    const { signal } = (this.running = controller);
    const prompt = this.value;
    let text = "";
    let summary: GenerateSummary | null = null;
    let reportEnd: () => void;
    this.reported = undefined;
    this.written.textContent = "";
    this.showRunning();
    clearTimeout(this.eager);
    const loading = this.lazy.load();
    try {
      const model = await unlessAborted(loading, signal);
      this.isGenerating = true;
      this.history.setOneStep(true);
      this.status.say(() => this.ownWords.get("writing"));
      const call = { ...readCall(this), ...this.options, signal };
      // A text that has become as long as the model's max_length could never be continued.
      if (model.info.defaults.maxLength) call.maxNewTokens ??= 64;
      const onSummary = (end: GenerateSummary) => {
        summary = end;
        return call.onSummary?.(end);
      };
      for await (const token of model.generate(prompt, { ...call, onSummary })) {
        signal.throwIfAborted();
        if (token.index === 0) text += this.add(token.text);
        emit(this, "gpt2-token", token);
      }
      reportEnd = () => this.finish(text, summary);
    } catch (error) {
      if (signal.aborted) {
        loading.catch(this.failToLoad);
        reportEnd = () => this.finish(text, null);
      } else {
        reportEnd = () => {
          this.handOver(text);
          this.fail(error);
        };
      }
    }
    letGo();
    this.running = undefined;
    this.isGenerating = false;
    this.history.setOneStep(false);
    this.showRunning();
    reportEnd(); // last, because a listener may call write again
  }

  /** Ends the writing. The text written so far stays. Setting it sets the attribute `stop`. */
  // eslint-disable-next-line @typescript-eslint/related-getter-setter-pairs -- a method and an attribute share the name
  get stop(): () => void {
    return () => {
      this.stops += 1;
      this.running?.abort();
    };
  }
  set stop(before: AttributeValue) {
    setAttribute(this, "stop", before);
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
    clearTimeout(this.eager);
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
    this.lazy.endWith(this);
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (before === value) return;
    if (name === "prompt" && !this.isChanged) this.replaceText(this.prompt);
    if (name === "rows") this.text.rows = Number(value) || 6;
    if (name === "placeholder") this.text.placeholder = value ?? "";
    copyAttribute(this, name, this.text);
    if (name === "label" || fieldAttributes.includes(name)) this.nameField();
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
    clearTimeout(this.eager);
    this.seen?.disconnect();
    if (this.model === "" || loading === "use") return;
    const load = () => void this.lazy.load().catch(this.failToLoad);
    // Later, because a script may set `loadOptions` right after the element was defined.
    if (loading === "eager") {
      this.eager = setTimeout(load);
      return;
    }
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
    if (this.text.value === before) return;
    this.history.clear();
    this.stop();
  }

  private finish(text: string, summary: GenerateSummary | null): void {
    this.status.say(() => (summary ? "" : this.ownWords.get("stopped")));
    this.handOver(text);
    emit(this, "gpt2-done", { text, summary });
  }

  /** Announces the text that was written. */
  private handOver(text: string): void {
    this.written.textContent = text; // screen readers do not announce changes of a field
    if (text !== "") this.fireChange();
  }

  /** Reports a failed load that no run waits for. */
  private readonly failToLoad = (error: unknown) => {
    if (this.isConnected && this.model !== "") this.fail(error);
  };

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
    describeField(this, this.text, given || this.ownWords.get("field"));
  }

  private fireChange(): void {
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
