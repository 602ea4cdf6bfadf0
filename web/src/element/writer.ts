// <gpt2-writer>: a field in which the model writes on.
import type { GenerateCall, GenerateSummary, LoadOptions, LoadProgress } from "../client/index.js";
import { formatPace } from "../shared/format-bytes.js";
import { loadAttributes, readCall, readLoadOptions } from "./attributes.js";
import { emit } from "./events.js";
import { adoptProperties, Base, make, style } from "./html-element.js";
import { LazyModel } from "./lazy-model.js";
import { writerStyle } from "./writer-style.js";

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);

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
 * @attr {number} repetition-penalty - Above 1 makes tokens that were seen less likely; 1
 * @attr {number} seed - The same seed gives the same text
 * @attr {string} stop - End before this text
 * @attr {"lazy" | "use" | "eager"} loading - When the model is loaded: once the element is seen ("lazy", the default), once it is used, or at once
 * @attr {number} threads - Threads to compute with
 * @attr {string} variant - Build of the engine
 * @attr {string} kv - Format of the KV cache
 * @attr {string} base-url - Folder of worker and engine
 * @attr {string} label - Name of the field for screen readers, where no `<label>` names the element
 * @attr {number} rows - Height in lines of text; 6
 * @attr {string} name - Of its value in a form
 * @attr {boolean} disabled - Neither edits nor writes, and is not sent with its form
 * @attr {boolean} required - Its form is not sent while it is empty
 *
 * @fires {CustomEvent<LoadProgress>} gpt2-progress - While the model is loaded
 * @fires {CustomEvent<Token>} gpt2-token - For each token that was written
 * @fires {CustomEvent<Gpt2Done>} gpt2-done - The text is finished, or was stopped
 * @fires {CustomEvent<Gpt2Failure>} gpt2-error - The model could not be loaded, or failed; the element says so, too
 * @fires {InputEvent} input - The user changed the text
 * @fires {Event} change - The user changed the text and left the field
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
export class Gpt2Writer extends Base {
  static readonly formAssociated = true;
  static readonly observedAttributes = [...loadAttributes, "prompt", "label", "rows", "disabled", "required"];

  /** Generation options that no attribute has: several `stop` texts, `ignoreEos`, ... They override the attributes. */
  options: GenerateCall = (this as { options?: GenerateCall }).options ?? {}; // set before it was defined
  /** Load options that no attribute has: `headers`, `fetch`, ... They override the attributes. */
  loadOptions: LoadOptions = (this as { loadOptions?: LoadOptions }).loadOptions ?? {};

  private readonly internals = this.attachInternals();
  private readonly text = make("textarea", { part: "text", rows: "6" });
  private readonly button = make("button", { part: "button", type: "button" }, "Write");
  private readonly status = make("span", { part: "status", class: "status", role: "status" });
  /** Not read out: it changes many times a second. */
  private readonly pace = make("span", { class: "pace", "aria-hidden": "true" });
  private readonly bar = make("progress", { part: "progress", max: "1", "aria-label": "Loading the model" });
  private readonly written = make("div", { class: "unseen", "aria-live": "polite" });
  private readonly lazy = new LazyModel(
    () => ({
      url: this.model,
      options: { prompt: this.value, ...readLoadOptions(this), ...this.loadOptions },
    }),
    (progress) => this.showProgress(progress),
  );
  private seen: IntersectionObserver | undefined;
  /** From the call of `write` to its end. */
  private running: AbortController | undefined;
  /** The model is loaded and writes. */
  private isGenerating = false;
  /** The text is the user's, or the model's, and not only the prompt. */
  private isChanged = false;
  /** The message of setCustomValidity. */
  private customError = "";

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open", delegatesFocus: true });
    style(root, writerStyle);
    const state = make("div", { class: "state" }, this.status, this.pace, this.bar);
    const footer = make("div", { part: "footer", class: "footer" }, this.button, state);
    root.append(this.text, footer, this.written);
    this.button.addEventListener("click", () => (this.running ? this.stop() : void this.write()));
    this.text.addEventListener("input", () => this.setChanged());
    this.text.addEventListener("change", () => this.dispatchEvent(new Event("change", { bubbles: true })));
    this.text.addEventListener("focus", () => this.nameField());
  }

  /** The address of the model; the attribute `model`. */
  get model(): string {
    return this.getAttribute("model") ?? "";
  }
  set model(url: string) {
    this.setAttribute("model", url);
  }
  /** The initial text; the attribute `prompt`. */
  get prompt(): string {
    return this.getAttribute("prompt") ?? "";
  }
  set prompt(text: string) {
    this.setAttribute("prompt", text);
  }
  /** The name of the value in a form. */
  get name(): string {
    return this.getAttribute("name") ?? "";
  }
  set name(name: string) {
    this.setAttribute("name", name);
  }
  /** Whether the element is disabled. */
  get disabled(): boolean {
    return this.matches(":disabled");
  }
  set disabled(isDisabled: boolean) {
    this.toggleAttribute("disabled", isDisabled);
  }
  /** Whether the form needs a value. */
  get required(): boolean {
    return this.hasAttribute("required");
  }
  set required(isRequired: boolean) {
    this.toggleAttribute("required", isRequired);
  }
  /** The whole text. Setting another text stops the writing. */
  get value(): string {
    return this.text.value;
  }
  set value(text: string) {
    const before = this.text.value;
    this.text.value = text;
    if (this.text.value !== before) this.stop();
    this.setChanged();
  }
  /** As in `<textarea>`: the value after the form is reset. */
  get defaultValue(): string {
    return this.prompt;
  }
  set defaultValue(text: string) {
    this.prompt = text;
  }
  /** "gpt2-writer", as other controls have a type. */
  get type(): string {
    return this.localName;
  }
  /** The form that the element belongs to; null if there is none. */
  get form(): HTMLFormElement | null {
    return this.internals.form;
  }
  /** The labels of the element. */
  get labels(): NodeList {
    return this.internals.labels;
  }
  /** Whether the value is valid, and why not. */
  get validity(): ValidityState {
    return this.internals.validity;
  }
  /** The message that the browser shows for an invalid value. */
  get validationMessage(): string {
    return this.internals.validationMessage;
  }
  /** Whether the element takes part in validation. */
  get willValidate(): boolean {
    return this.internals.willValidate;
  }
  /** Makes the element invalid, for the reason `message`; "" ends that. */
  setCustomValidity(message: string): void {
    this.customError = message;
    this.setValue();
  }
  /** Whether the value is valid; fires `invalid` if it is not. */
  checkValidity(): boolean {
    return this.internals.checkValidity();
  }
  /** As checkValidity, and shows the message to the user. */
  reportValidity(): boolean {
    return this.internals.reportValidity();
  }

  /** Writes on. Resolves when the text is finished, was stopped, or has failed. */
  async write(): Promise<void> {
    if (this.running || this.disabled) return;
    const { signal } = (this.running = new AbortController());
    const prompt = this.value;
    let text = "";
    let summary: GenerateSummary | null = null;
    this.showRunning(true);
    try {
      const stopped = new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
      const model = await Promise.race([this.lazy.load(), stopped]);
      this.isGenerating = true;
      this.say("Writing…");
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
      this.finish(text, summary);
    } catch (error) {
      if (signal.aborted) this.finish(text, null);
      else this.fail(error);
    } finally {
      this.running = undefined;
      this.isGenerating = false;
      this.showRunning(false);
    }
  }

  /** Ends the writing. What has been written stays. */
  stop(): void {
    this.running?.abort();
  }

  connectedCallback(): void {
    adoptProperties(this, ["model", "prompt", "defaultValue", "name", "value", "disabled", "required"]);
    this.lazy.keep();
    this.nameField();
    this.setValue();
    this.loadWhenWanted();
  }

  disconnectedCallback(): void {
    this.seen?.disconnect();
    setTimeout(() => this.isConnected || this.stop()); // an element that is only moved writes on
    this.lazy.releaseSoon();
  }

  /** `moveBefore` calls this instead of the two callbacks above. The element keeps writing. */
  connectedMoveCallback(): void {}

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (before === value) return;
    if (name === "prompt" && !this.isChanged) this.text.value = this.prompt;
    if (name === "rows") this.text.rows = Number(value) || 6;
    if (name === "label") this.nameField();
    if (loadAttributes.includes(name) && before !== null) {
      if (this.isGenerating) this.stop();
      this.lazy.replace();
      this.say("");
      if (this.isConnected) this.loadWhenWanted();
    } else if (name === "model" && this.isConnected) this.loadWhenWanted();
    this.setValue();
  }

  formResetCallback(): void {
    this.stop();
    this.isChanged = false;
    this.text.value = this.prompt;
    this.setValue();
  }

  formDisabledCallback(isDisabled: boolean): void {
    this.text.disabled = isDisabled;
    this.button.disabled = isDisabled;
    if (isDisabled) this.stop();
  }

  formStateRestoreCallback(state: string): void {
    this.value = state;
  }

  private loadWhenWanted(): void {
    const loading = this.getAttribute("loading") ?? "lazy";
    this.seen?.disconnect();
    if (this.model === "" || loading === "use") return;
    const load = () => void this.lazy.load().catch((error: unknown) => this.isConnected && this.fail(error));
    if (loading === "eager") return load();
    this.seen = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      this.seen?.disconnect();
      load();
    });
    this.seen.observe(this);
  }

  /** Appends `text` to the field, and returns it. */
  private add(text: string): string {
    const { scrollTop, scrollHeight, clientHeight } = this.text;
    const isAtEnd = scrollTop + clientHeight > scrollHeight - 4;
    this.text.value += text;
    if (isAtEnd) this.text.scrollTop = this.text.scrollHeight;
    this.setChanged();
    return text;
  }

  private finish(text: string, summary: GenerateSummary | null): void {
    this.say(summary ? "" : "Stopped.");
    this.written.textContent = text; // a field's changes are not read out
    emit(this, "gpt2-done", { text, summary });
  }

  private fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.bar.classList.remove("busy");
    this.pace.textContent = "";
    this.lazy.forget(error);
    this.say(`It did not work: ${message}`);
    emit(this, "gpt2-error", { error });
  }

  private showProgress(progress: LoadProgress): void {
    const { stage, loadedBytes, totalBytes, bytesPerSecond, secondsLeft } = progress;
    emit(this, "gpt2-progress", progress);
    this.pace.textContent = stage === "ready" ? "" : formatPace(bytesPerSecond, secondsLeft);
    this.bar.classList.toggle("busy", stage !== "ready");
    if (totalBytes > 0) this.bar.value = loadedBytes / totalBytes;
    else this.bar.removeAttribute("value");
    if (stage === "ready") return this.running ? undefined : this.say("");
    // Said once: the bar shows the rest.
    this.say(totalBytes > 0 ? `Loading the model, ${megabytes(totalBytes)} MB` : "Loading the model");
  }

  private showRunning(isRunning: boolean): void {
    this.button.textContent = isRunning ? "Stop" : "Write";
    this.text.readOnly = isRunning;
    this.text.setAttribute("aria-busy", String(isRunning));
    if (isRunning) this.written.textContent = "";
  }

  private say(text: string): void {
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  /** A label of the element names no field inside it. */
  private nameField(): void {
    const labels = Array.from(this.labels, (label) => label.textContent?.trim() ?? "");
    this.text.setAttribute(
      "aria-label",
      this.getAttribute("label") ?? (labels.join(" ") || "Text to write on from"),
    );
  }

  private setChanged(): void {
    this.isChanged = true;
    this.setValue();
  }

  private setValue(): void {
    const { internals, text, required, customError, value } = this;
    internals.setFormValue(value);
    text.required = required;
    const valueMissing = required && value === "";
    // The browser has the sentence in the user's language.
    const missing = valueMissing ? text.validationMessage || "Please fill in this field." : "";
    internals.setValidity({ valueMissing, customError: customError !== "" }, customError || missing, text);
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "gpt2-writer": Gpt2Writer;
  }
}
