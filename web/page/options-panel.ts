// The Options panel: the fields, what the user set in them, and why a value is refused.
import type { GenerateOptions } from "../src/client/index.js";
import { numberOptions, refusalOf } from "./option-list.js";

/** A field with its caption, its help, and the sentence that says why its value is refused. */
class Field {
  readonly element = document.createElement("div");
  private readonly refusal = document.createElement("small");

  readonly name: string;
  readonly input: HTMLInputElement;
  private readonly check: () => string | undefined;

  constructor(
    name: string,
    label: string,
    help: string,
    input: HTMLInputElement,
    check: () => string | undefined = () => undefined,
  ) {
    this.name = name;
    this.input = input;
    this.check = check;

    this.element.className = "control";
    const caption = document.createElement("label");
    caption.textContent = label;
    caption.htmlFor = input.id = `option-${name}`;
    const hint = document.createElement("small");
    hint.textContent = help;
    hint.id = `help-${name}`;
    this.refusal.id = `refusal-${name}`;
    this.refusal.className = "refusal";
    input.setAttribute("aria-describedby", `${this.refusal.id} ${hint.id}`);
    input.addEventListener("input", () => this.refuse(this.isRefused ? this.check() : undefined));
    this.element.append(caption, input, this.refusal, hint);
    this.refuse(undefined);
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
}

function makeInput(type: string): HTMLInputElement {
  const input = document.createElement("input");
  input.type = type;
  return input;
}

export class OptionsPanel {
  private readonly numbers = numberOptions.map((option) => {
    const input = makeInput("number");
    input.min = String(option.min);
    input.max = String(option.max);
    input.step = String(option.step);
    input.value = option.initial === null ? "" : String(option.initial);
    input.placeholder = option.initial === null ? "random" : String(option.initial);
    const field = new Field(option.name, option.label, option.help, input, () => refusalOf(option, input));
    return { option, field };
  });
  private readonly ignoreEos = makeInput("checkbox");
  private readonly stop = makeInput("text");
  private readonly fields: Field[];

  private readonly panel: HTMLDetailsElement;

  constructor(panel: HTMLDetailsElement, controls: HTMLElement) {
    this.panel = panel;

    this.stop.placeholder = "none";
    const stop = new Field("stop", "Stop at", "End before this text; \\n is a new line", this.stop);
    stop.element.classList.add("wide");
    this.fields = [
      ...this.numbers.map(({ field }) => field),
      new Field("ignoreEos", "Ignore end of text", "Continue where the model would stop", this.ignoreEos),
      stop,
    ];
    controls.append(...this.fields.map(({ element }) => element));
  }

  /** What the user set; undefined where a value is refused, which the panel then shows and explains. */
  read(): GenerateOptions | undefined {
    for (const field of this.fields) field.checkNow();
    if (this.showRefused()) return undefined;
    const options: GenerateOptions = { ignoreEos: this.ignoreEos.checked };
    for (const { option, field } of this.numbers) {
      const value = field.input.value === "" ? option.initial : field.input.valueAsNumber;
      if (value !== null) options[option.name] = value;
    }
    if (this.stop.value !== "") options.stop = [this.stop.value.replaceAll("\\n", "\n")];
    return options;
  }

  /** Opens the panel at the first value that is refused; false if there is none. */
  private showRefused(): boolean {
    const refused = this.fields.find((field) => field.isRefused);
    if (!refused) return false;
    this.panel.open = true;
    refused.input.focus();
    return true;
  }
}
