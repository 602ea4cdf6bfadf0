// The Options panel: its fields, the values that the user set, and why a value is refused.
import type { GenerateOptions, GenerationDefaults } from "../../../src/client/index.js";
import {
  initialOf,
  numberOptions,
  refusalOf,
  wordsOf,
  type NumberOption,
  type OptionName,
  type Preset,
} from "./option-list.js";
import { make } from "../../dom/make.js";
import { phrase } from "../../language/editor.js";

/** A field with its caption, its help text, and the reason if its value is refused. */
class Field {
  readonly element = make("div", { className: "control" });
  private readonly caption = make("label");
  private readonly hint = make("small");
  private readonly refusal = make("small", { className: "refusal" });

  readonly name: OptionName;
  readonly input: HTMLInputElement;
  private readonly check: () => string | undefined;

  constructor(name: OptionName, input: HTMLInputElement, check: () => string | undefined = () => undefined) {
    this.name = name;
    this.input = input;
    this.check = check;

    this.caption.htmlFor = input.id = `option-${name}`;
    this.hint.id = `help-${name}`;
    this.refusal.id = `refusal-${name}`;
    input.setAttribute("aria-describedby", `${this.refusal.id} ${this.hint.id}`);
    input.addEventListener("input", () => this.refuse(this.isRefused ? this.check() : undefined));
    input.setAttribute("form", "form"); // Enter in the field submits the form, so the model writes
    this.element.append(this.caption, input, this.refusal, this.hint);
    this.refuse(undefined);
  }

  /** Sets the caption and help in the page's language. */
  label(): void {
    const { caption, help } = wordsOf(this.name);
    this.caption.textContent = caption;
    this.hint.textContent = help;
    if (this.isRefused) this.checkNow();
  }

  get isRefused(): boolean {
    return !this.refusal.hidden;
  }

  /** Marks the field as invalid and shows why, or removes the mark. */
  refuse(why: string | undefined): void {
    // Set even if the value is valid: browsers call a value between two steps invalid.
    this.input.setAttribute("aria-invalid", String(why !== undefined));
    this.refusal.textContent = why ?? "";
    this.refusal.hidden = why === undefined;
  }

  checkNow(): void {
    this.refuse(this.check());
  }

  get isFine(): boolean {
    return this.check() === undefined;
  }
}

/** The page itself restores the value. */
const makeInput = (type: string) => make("input", { type, autocomplete: "off" });

/** A numeric field. If the user sets no value, it shows the default. */
class NumberField extends Field {
  private initial = "";
  private defaults: Readonly<Partial<GenerationDefaults>> = {};
  /** Whether the user entered the value; it then counts as set even if it equals the default. */
  private isGiven = false;
  private readonly slider = makeInput("range");
  readonly option: NumberOption;

  constructor(option: NumberOption) {
    const input = makeInput("number");
    super(option.name, input, () =>
      this.isInitial && !input.validity.badInput ? undefined : refusalOf(option, input),
    );
    this.option = option;
    input.addEventListener("input", () => (this.isGiven = false));
    if (option.sliderTo !== undefined) this.addSlider(option, option.sliderTo);
    input.min = String(option.min);
    input.max = String(option.max);
    input.step = String(option.step);
  }

  override label(): void {
    super.label();
    this.slider.ariaLabel = phrase("slider", { option: wordsOf(this.name).caption });
    this.showInitial(this.defaults);
  }

  /** Adds a slider: the slider and the field update each other. */
  private addSlider({ min, step }: NumberOption, max: number): void {
    const slider = this.slider;
    slider.min = String(min);
    slider.max = String(max);
    slider.step = String(step);
    slider.addEventListener("input", (event) => {
      event.stopPropagation();
      this.set(slider.value);
    });
    this.input.addEventListener("input", () => this.moveSlider());
    this.element.append(slider);
  }

  /** Enters `value` as if the user had typed it. */
  set(value: string): void {
    this.input.value = value;
    this.input.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }

  /** Enters `value` as if the user had typed it; undefined restores the default. */
  put(value: number | undefined): void {
    this.set(value === undefined ? this.initial : String(value));
    this.isGiven = value !== undefined;
  }

  private moveSlider(): void {
    this.slider.value = this.input.value || this.initial;
  }

  private get isInitial(): boolean {
    return !this.isGiven && this.input.value === this.initial;
  }

  /** Shows the model's default, but does not replace a value that the user set. */
  showInitial(defaults: Readonly<Partial<GenerationDefaults>>): void {
    this.defaults = defaults;
    const initial = initialOf(this.option, defaults);
    const isUntouched = this.isInitial;
    this.initial = initial === null ? "" : String(initial);
    if (isUntouched) this.input.value = this.initial;
    this.moveSlider();
    this.input.placeholder = this.initial || phrase("random");
  }

  /** The value that the user set. */
  get own(): number | undefined {
    return this.input.value === "" || this.isInitial ? undefined : this.input.valueAsNumber;
  }

  /** The value for a request; undefined leaves it to the model and the engine. */
  get value(): number | undefined {
    return this.own ?? (this.option.name === "maxNewTokens" ? Number(this.initial) : undefined);
  }
}

export class OptionsPanel {
  private readonly numbers = numberOptions.map((option) => new NumberField(option));
  private readonly ignoreEos = makeInput("checkbox");
  private readonly stop = makeInput("text");
  private readonly fields: Field[];

  private readonly open: () => void;

  /** `open` opens the panel when a value in it is refused. */
  constructor(open: () => void, controls: HTMLElement) {
    this.open = open;

    const stop = new Field("stop", this.stop);
    stop.element.classList.add("wide");
    this.fields = [...this.numbers, new Field("ignoreEos", this.ignoreEos), stop];
    controls.append(...this.fields.map(({ element }) => element));
  }

  label(): void {
    for (const field of this.fields) field.label();
    this.stop.placeholder = phrase("none");
  }

  /** Shows the defaults of the model's author. */
  showDefaults(defaults: GenerationDefaults): void {
    for (const field of this.numbers) field.showInitial(defaults);
  }

  /** Sets the numbers of `preset`, and resets the other options that presets cover. */
  use({ numbers }: Preset): void {
    for (const field of this.numbers) {
      const { name } = field.option;
      if (name === "maxNewTokens" || name === "seed") continue;
      field.put(numbers[name]);
    }
  }

  /** The preset in `all` that matches the current values; undefined if none does. */
  presetOf(all: readonly Preset[]): Preset | undefined {
    return all.find(({ numbers }) =>
      this.numbers.every(
        ({ option: { name }, own }) => name === "maxNewTokens" || name === "seed" || own === numbers[name],
      ),
    );
  }

  /** Sets all that `options` contains and resets the rest. Invalid values are shown, too. */
  show(options: GenerateOptions): void {
    for (const field of this.numbers) field.put(options[field.option.name]);
    this.ignoreEos.checked = options.ignoreEos === true;
    this.stop.value = [options.stop ?? []].flat().slice(0, 1).join("").replaceAll("\n", "\\n");
  }

  /** The current settings; undefined if a value is refused. The panel then opens and explains why. */
  read(): GenerateOptions | undefined {
    for (const field of this.fields) field.checkNow();
    return this.showRefused() ? undefined : this.collect("value");
  }

  /** The current settings; undefined if a value would be refused. Never opens the panel. */
  peek(): GenerateOptions | undefined {
    return this.fields.every((field) => field.isFine) ? this.collect("value") : undefined;
  }

  /** What the user set, without values that would be refused. */
  get own(): GenerateOptions {
    return this.collect("own");
  }

  private collect(which: "value" | "own"): GenerateOptions {
    const options: GenerateOptions = { ignoreEos: this.ignoreEos.checked };
    for (const field of this.numbers) {
      const number = field.isFine ? field[which] : undefined;
      if (number !== undefined) options[field.option.name] = number;
    }
    if (this.stop.value !== "") options.stop = [this.stop.value.replaceAll("\\n", "\n")];
    return options;
  }

  /** Opens the panel at the first refused value; returns false if there is none. */
  private showRefused(): boolean {
    const refused = this.fields.find((field) => field.isRefused);
    if (!refused) return false;
    this.open();
    refused.input.focus();
    return true;
  }
}
