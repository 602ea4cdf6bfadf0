// The Options panel: the fields, what the user set in them, and why a value is refused.
import type { GenerateOptions, GenerationDefaults } from "../../../src/client/index.js";
import { initialOf, numberOptions, refusalOf, type NumberOption, type Preset } from "./option-list.js";
import { phrase } from "../../language/editor.js";

/** A field with its caption, its help, and the sentence that says why its value is refused. */
class Field {
  readonly element = document.createElement("div");
  private readonly caption = document.createElement("label");
  private readonly hint = document.createElement("small");
  private readonly refusal = document.createElement("small");

  readonly name: NumberOption["name"] | "ignoreEos" | "stop";
  readonly input: HTMLInputElement;
  private readonly check: () => string | undefined;

  constructor(
    name: NumberOption["name"] | "ignoreEos" | "stop",
    input: HTMLInputElement,
    check: () => string | undefined = () => undefined,
  ) {
    this.name = name;
    this.input = input;
    this.check = check;

    this.element.className = "control";
    this.caption.htmlFor = input.id = `option-${name}`;
    this.hint.id = `help-${name}`;
    this.refusal.id = `refusal-${name}`;
    this.refusal.className = "refusal";
    input.setAttribute("aria-describedby", `${this.refusal.id} ${this.hint.id}`);
    input.addEventListener("input", () => this.refuse(this.isRefused ? this.check() : undefined));
    input.setAttribute("form", "form"); // Enter in it writes
    this.element.append(this.caption, input, this.refusal, this.hint);
    this.refuse(undefined);
  }

  /** In the page's language, once that is there. */
  label(): void {
    this.caption.textContent = phrase(`option.${this.name}`);
    this.hint.textContent = phrase(`option.${this.name}.help`);
    if (this.isRefused) this.checkNow();
  }

  get isRefused(): boolean {
    return !this.refusal.hidden;
  }

  /** Marks the field and says why, or takes that back. */
  refuse(why: string | undefined): void {
    // Said even when nothing is wrong: browsers call a value between two steps invalid.
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

function makeInput(type: string): HTMLInputElement {
  const input = document.createElement("input");
  input.type = type;
  input.autocomplete = "off"; // the page restores it
  return input;
}

/** The field of a number, which shows what the number is where the user says nothing. */
class NumberField extends Field {
  private initial = "";
  private defaults: Readonly<Partial<GenerationDefaults>> = {};
  /** Whether it was put in: it is set then, though it be what there was before the user. */
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
    this.slider.ariaLabel = phrase("slider", { option: phrase(`option.${this.name}`) });
    this.showInitial(this.defaults);
  }

  /** Moves the number, and is moved by it. */
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

  /** Puts `value` in, as its user does. */
  set(value: string): void {
    this.input.value = value;
    this.input.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }

  /** As its user does; undefined: what there was before the user. */
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

  /** Takes the place of what was there, but not of what the user put there. */
  showInitial(defaults: Readonly<Partial<GenerationDefaults>>): void {
    this.defaults = defaults;
    const initial = initialOf(this.option, defaults);
    const isUntouched = this.isInitial;
    this.initial = initial === null ? "" : String(initial);
    if (isUntouched) this.input.value = this.initial;
    this.moveSlider();
    this.input.placeholder = this.initial || phrase("random");
  }

  /** What the user set. */
  get own(): number | undefined {
    return this.input.value === "" || this.isInitial ? undefined : this.input.valueAsNumber;
  }

  /** What the page asks for; undefined: what the model and the engine have. */
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

  /** `open` shows the panel, where a value in it is refused. */
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

  /** Shows what the model's maker would have it write with. */
  showDefaults(defaults: GenerationDefaults): void {
    for (const field of this.numbers) field.showInitial(defaults);
  }

  /** Sets the numbers of `preset`, and all others that it is about as they were at first. */
  use({ numbers }: Preset): void {
    for (const field of this.numbers) {
      const { name } = field.option;
      if (name === "maxNewTokens" || name === "seed") continue;
      field.put(numbers[name]);
    }
  }

  /** The preset that is set; undefined: none of `all` is. */
  presetOf(all: readonly Preset[]): Preset | undefined {
    return all.find(({ numbers }) =>
      this.numbers.every(
        ({ option: { name }, own }) => name === "maxNewTokens" || name === "seed" || own === numbers[name],
      ),
    );
  }

  /** Sets all that `options` name, and the rest as it was at first; values that are refused are shown, too. */
  show(options: GenerateOptions): void {
    for (const field of this.numbers) field.put(options[field.option.name]);
    this.ignoreEos.checked = options.ignoreEos === true;
    this.stop.value = [options.stop ?? []].flat().slice(0, 1).join("").replaceAll("\n", "\\n");
  }

  /** What is set; undefined where a value is refused, which the panel then shows and explains. */
  read(): GenerateOptions | undefined {
    for (const field of this.fields) field.checkNow();
    return this.showRefused() ? undefined : this.collect("value");
  }

  /** What is set, or of that what the user set; undefined where a value would be refused. Shows nothing. */
  peek(which: "value" | "own" = "value"): GenerateOptions | undefined {
    return this.fields.every((field) => field.isFine) ? this.collect(which) : undefined;
  }

  private collect(which: "value" | "own"): GenerateOptions {
    const options: GenerateOptions = { ignoreEos: this.ignoreEos.checked };
    for (const field of this.numbers) {
      const number = field[which];
      if (number !== undefined) options[field.option.name] = number;
    }
    if (this.stop.value !== "") options.stop = [this.stop.value.replaceAll("\\n", "\n")];
    return options;
  }

  /** Opens the panel at the first value that is refused; false if there is none. */
  private showRefused(): boolean {
    const refused = this.fields.find((field) => field.isRefused);
    if (!refused) return false;
    this.open();
    refused.input.focus();
    return true;
  }
}
