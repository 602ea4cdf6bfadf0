// The sampling controls: names, ranges and defaults, and what the user set them to.
import type { GenerateOptions } from "../src/client/index.js";

type NumberName = "maxNewTokens" | "temperature" | "topK" | "topP" | "minP" | "repetitionPenalty" | "seed";

interface NumberControl {
  name: NumberName;
  label: string;
  help: string;
  min: number;
  max: number;
  step: number;
  /** null: empty, which leaves the choice to the engine. */
  initial: number | null;
}

const numbers: readonly NumberControl[] = [
  {
    name: "maxNewTokens",
    label: "Tokens",
    help: "How many to write at most",
    min: 1,
    max: 4096,
    step: 1,
    initial: 200,
  },
  {
    name: "temperature",
    label: "Temperature",
    help: "0 is the likeliest text, higher is wilder",
    min: 0,
    max: 5,
    step: 0.05,
    initial: 0.8,
  },
  {
    name: "topK",
    label: "Top k",
    help: "Choose among the k likeliest tokens; 0 for all",
    min: 0,
    max: 100000,
    step: 1,
    initial: 40,
  },
  {
    name: "topP",
    label: "Top p",
    help: "…among the fewest with this much probability",
    min: 0,
    max: 1,
    step: 0.01,
    initial: 0.95,
  },
  {
    name: "minP",
    label: "Min p",
    help: "…among those with this share of the best's probability",
    min: 0,
    max: 1,
    step: 0.01,
    initial: 0,
  },
  {
    name: "repetitionPenalty",
    label: "Repetition penalty",
    help: "Above 1 avoids what was said",
    min: 0.1,
    max: 10,
    step: 0.01,
    initial: 1,
  },
  {
    name: "seed",
    label: "Seed",
    help: "The same seed gives the same text; empty for a new one each time",
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    step: 1,
    initial: null,
  },
];

function makeControl(
  name: string,
  label: string,
  help: string,
  input: HTMLInputElement,
  wide = false,
): HTMLElement {
  const control = document.createElement("div");
  control.className = wide ? "control wide" : "control";
  const caption = document.createElement("label");
  caption.textContent = label;
  caption.htmlFor = input.id = `option-${name}`;
  const hint = document.createElement("small");
  hint.textContent = help;
  hint.id = `help-${name}`;
  input.setAttribute("aria-describedby", hint.id);
  control.append(caption, input, hint);
  return control;
}

function makeInput(type: string): HTMLInputElement {
  const input = document.createElement("input");
  input.type = type;
  return input;
}

/** Builds the controls in `parent` and returns a function that reads them. */
export function makeControls(parent: HTMLElement): () => GenerateOptions {
  const inputs = numbers.map((control) => {
    const input = makeInput("number");
    input.min = String(control.min);
    input.max = String(control.max);
    input.step = String(control.step);
    input.value = control.initial === null ? "" : String(control.initial);
    if (control.initial === null) input.placeholder = "random";
    parent.append(makeControl(control.name, control.label, control.help, input));
    return { name: control.name, input };
  });
  const ignoreEos = makeInput("checkbox");
  parent.append(makeControl("ignoreEos", "Ignore end of text", "Go on when the model would stop", ignoreEos));
  const stop = makeInput("text");
  stop.placeholder = "none";
  parent.append(makeControl("stop", "Stop at", "End before this text; \\n is a new line", stop, true));

  return () => {
    const options: GenerateOptions = { ignoreEos: ignoreEos.checked };
    for (const { name, input } of inputs) {
      // Out-of-range values go to the engine, which says what is wrong with them.
      if (input.value !== "") options[name] = input.valueAsNumber;
    }
    if (stop.value !== "") options.stop = [stop.value.replaceAll("\\n", "\n")];
    return options;
  };
}
