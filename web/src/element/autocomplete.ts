// <gpt2-autocomplete>: proposes how the text of a field of the page continues.
import type { GenerateCall, LoadOptions } from "../client/index.js";
import { loadAttributes, readCall, readLoadOptions } from "./attributes.js";
import { emit } from "./events.js";
import { firstWord } from "./first-word.js";
import { GhostText, ghostStyle, type Field } from "./ghost-text.js";
import { Base, make, style, unseen } from "./html-element.js";
import { LazyModel } from "./lazy-model.js";

/** Of a long text, its end: what is before it hardly changes what follows. */
const mostLetters = 2000;

/**
 * Proposes, in a field of yours, how the text could go on, after a pause in typing: Tab takes it, Ctrl (on a Mac also
 * Alt) and the right arrow a word of it, Esc dismisses it; a finger takes it by touching it. While it proposes nothing, no key is touched. The model is
 * loaded when the field first gets the focus; elements that load alike share one.
 *
 * @tagname gpt2-autocomplete
 *
 * @attr {string} for - The id of a `<textarea>` or `<input>` in the same document or shadow tree
 * @attr {string} model - Address of the model's folder, relative to the page
 * @attr {number} delay - Pause in typing after which it proposes, in milliseconds; 400
 * @attr {number} max-new-tokens - Length of what it proposes at most; 12
 * @attr {number} temperature - 0, the default, takes the most probable token
 * @attr {number} top-k - Keep the k most probable tokens; 40
 * @attr {number} top-p - Keep the fewest tokens with this much probability; 0.95
 * @attr {number} min-p - Keep tokens with this share of the top token's probability; 0
 * @attr {number} repetition-penalty - Above 1 makes tokens that were seen less likely; 1
 * @attr {number} seed - The same seed gives the same text
 * @attr {string} stop - End before this text; by default the end of the line
 * @attr {number} threads - Threads to compute with
 * @attr {string} variant - Build of the engine
 * @attr {string} kv - Format of the KV cache
 * @attr {string} base-url - Folder of worker and engine
 * @attr {boolean} disabled - Proposes nothing
 * @attr {string} hint - What screen readers are told after what is proposed; "Tab takes it, Escape dismisses it."
 *
 * @fires {CustomEvent<LoadProgress>} gpt2-progress - While the model is loaded
 * @fires {CustomEvent<Token>} gpt2-token - For each token of what it proposes
 * @fires {CustomEvent<Gpt2Done>} gpt2-done - It proposes a text
 * @fires {CustomEvent<Gpt2Accept>} gpt2-accept - The user took it, or a word of it
 * @fires {CustomEvent<Gpt2Failure>} gpt2-error - The model could not be loaded, or failed; logged unless it is prevented
 *
 * @csspart ghost - What is proposed
 *
 * @cssprop [--gpt2-ghost] - Colour of what is proposed; by default the field's, paler
 */
export class Gpt2Autocomplete extends Base {
  static readonly observedAttributes = [...loadAttributes, "for", "disabled"];

  /** What no attribute can say of how to write. It goes before the attributes. */
  options: GenerateCall = (this as { options?: GenerateCall }).options ?? {}; // set before it was defined
  /** What no attribute can say of how to load: `headers`, `fetch`, ... It goes before the attributes. */
  loadOptions: LoadOptions = (this as { loadOptions?: LoadOptions }).loadOptions ?? {};

  private readonly root = this.attachShadow({ mode: "open" });
  private readonly ghost = new GhostText(this.root, () => this.accept(this.suggestion));
  private readonly spoken = make("div", { class: "unseen", "aria-live": "polite" });
  private readonly lazy = new LazyModel(
    () => ({
      url: this.getAttribute("model") ?? "",
      options: { ...readLoadOptions(this), ...this.loadOptions },
    }),
    (progress) => void emit(this, "gpt2-progress", progress),
  );
  /** The field that has the focus, while it has it. */
  private field: Field | undefined;
  private whileFocused: AbortController | undefined;
  private scope: Document | ShadowRoot | undefined;
  private suggestion = "";
  private running: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isComposing = false;

  constructor() {
    super();
    style(this.root, ghostStyle + unseen);
    this.root.append(this.spoken);
  }

  connectedCallback(): void {
    this.lazy.keep();
    // Whatever field has the id when it gets the focus: it may come later, and be replaced.
    this.scope = this.getRootNode() as Document | ShadowRoot;
    this.scope.addEventListener("focusin", this.onFocus);
    this.attach(this.scope.activeElement);
  }

  disconnectedCallback(): void {
    this.scope?.removeEventListener("focusin", this.onFocus);
    this.scope = undefined;
    this.detach();
    this.lazy.releaseSoon();
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (before === value || !this.scope) return;
    if (loadAttributes.includes(name)) this.lazy.release();
    this.detach();
    this.attach(this.scope.activeElement);
  }

  private readonly onFocus = (event: Event) => this.attach(event.target);

  private attach(target: EventTarget | null): void {
    const isField = target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement;
    if (!isField || target === this.field || target.id !== this.getAttribute("for")) return;
    this.detach();
    if (this.hasAttribute("disabled")) return;
    this.field = target;
    const { signal } = (this.whileFocused = new AbortController());
    const on = (type: string, run: (event: Event) => void) => target.addEventListener(type, run, { signal });
    on("input", () => this.onInput());
    on("keydown", (event) => this.onKey(event as KeyboardEvent));
    on("blur", () => this.detach());
    on("compositionstart", () => {
      this.isComposing = true;
      this.dismiss();
    });
    on("compositionend", () => {
      this.isComposing = false;
      this.suggestSoon();
    });
    // The caret went elsewhere.
    document.addEventListener("selectionchange", () => this.suggestion && !this.isAtEnd() && this.dismiss(), {
      signal,
    });
    this.lazy.load().catch((error: unknown) => this.fail(error));
  }

  private detach(): void {
    this.dismiss();
    this.whileFocused?.abort();
    this.field = undefined;
    this.isComposing = false;
  }

  /** Where it draws, it draws after the text: the caret has to be there, and nothing selected. */
  private isAtEnd(): boolean {
    const { field } = this;
    return (
      field !== undefined &&
      field.selectionStart === field.selectionEnd &&
      field.selectionEnd === field.value.length
    );
  }

  private onInput(): void {
    const { shownFor, suggestion, field } = this;
    if (!field || this.isComposing) return;
    // Who types what is proposed keeps the rest of it.
    const typed = field.value.startsWith(shownFor) ? field.value.slice(shownFor.length) : "";
    if (suggestion && typed && suggestion.startsWith(typed) && this.isAtEnd()) {
      this.show(suggestion.slice(typed.length), false);
      if (this.suggestion) return;
    }
    this.dismiss();
    this.suggestSoon();
  }
  /** The field's text that `suggestion` goes on from. */
  private shownFor = "";

  private onKey(event: KeyboardEvent): void {
    if (!this.suggestion || event.isComposing || this.isComposing) return;
    const { key, ctrlKey, altKey, metaKey, shiftKey } = event;
    const isPlain = !ctrlKey && !altKey && !metaKey && !shiftKey;
    const isWord = key === "ArrowRight" && ctrlKey !== altKey && !metaKey && !shiftKey;
    if (key === "Tab" && isPlain) this.accept(this.suggestion);
    else if (isWord) this.accept(firstWord(this.suggestion));
    else if (key === "Escape" && isPlain) this.dismiss();
    else return;
    event.preventDefault();
    event.stopPropagation(); // a dialog around it is not to close, too
  }

  private accept(text: string): void {
    const { field } = this;
    if (!field) return;
    // As typed, so that the browser can undo it, and listeners are called. onInput draws the rest.
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else makes an edit that can be undone
    if (!document.execCommand("insertText", false, text)) {
      field.setRangeText(text, field.value.length, field.value.length, "end");
      field.dispatchEvent(
        new InputEvent("input", { bubbles: true, composed: true, inputType: "insertText", data: text }),
      );
    }
    emit(this, "gpt2-accept", { text });
  }

  private show(text: string, isNew: boolean): void {
    const { field } = this;
    if (!field || text === "") return this.dismiss();
    this.suggestion = text;
    this.shownFor = field.value;
    this.ghost.show(field, text);
    if (isNew) {
      const hint = this.getAttribute("hint") ?? "Tab takes it, Escape dismisses it.";
      this.spoken.textContent = `Suggestion: ${text.trim()}. ${hint}`;
    }
  }

  /** Takes back what is proposed, and what was about to be. */
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
    this.timer = setTimeout(() => void this.suggest(), Number(this.getAttribute("delay") ?? 400));
  }

  private async suggest(): Promise<void> {
    const { field } = this;
    if (!field || field.disabled || field.readOnly || !this.isAtEnd() || field.value.trim() === "") return;
    const { value } = field;
    // GPT-2's words begin with their space: one that was typed already is written again, and left out.
    const space = / ?$/.exec(value)?.[0] ?? "";
    const prompt = value.slice(0, value.length - space.length).slice(-mostLetters);
    const { signal } = (this.running = new AbortController());
    const defaults: GenerateCall = { maxNewTokens: 12, temperature: 0, stop: "\n" };
    try {
      const model = await this.lazy.load();
      signal.throwIfAborted();
      let text = "";
      const given = Object.entries({ ...readCall(this), ...this.options }).filter(
        ([, option]) => option != null,
      );
      const call: GenerateCall = { ...defaults, ...Object.fromEntries(given), signal };
      let summary = null;
      const onSummary: GenerateCall["onSummary"] = (end) => void (summary = end);
      for await (const token of model.generate(prompt, { ...call, onSummary })) {
        text += token.text;
        emit(this, "gpt2-token", token);
      }
      if (!text.startsWith(space) || !this.isAtEnd() || field.value !== value) return;
      this.show(text.slice(space.length).trimEnd(), true);
      emit(this, "gpt2-done", { text: this.suggestion, summary });
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
  }

  private fail(error: unknown): void {
    if (!this.isConnected) return;
    this.lazy.forget(error);
    if (emit(this, "gpt2-error", { error })) console.error(error);
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "gpt2-autocomplete": Gpt2Autocomplete;
  }
}
