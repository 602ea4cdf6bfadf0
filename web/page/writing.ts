// One text at a time: from the press of a button to the last token, a stop or a failure.
import { WorkerError, type GenerateOptions, type GenerateSummary } from "../src/client/index.js";
import { unlessAborted } from "../src/shared/unless-aborted.js";
import { setEnabled } from "./buttons.js";
import { elements as ui } from "./elements.js";
import { formatMs, formatRate } from "./format.js";
import { forgetModel, hasModel, needModel, showModel } from "./loading.js";
import { hideError, isAbort, messageOf, say, showError } from "./messages.js";
import { options as panel } from "./options.js";
import { FrameBatch, OutputView } from "./output.js";

const finishSentences = {
  length: "Reached the number of tokens asked for.",
  eos: "The model ended the text.",
  stop: "Reached the stop text.",
};

export const output = new OutputView(ui.output);
let controller: AbortController | undefined;

export function stopWriting(): void {
  controller?.abort();
}

export function updateButtons(): void {
  const isBusy = controller !== undefined;
  const starters = [ui.generate, ...ui.openings.querySelectorAll("button")];
  for (const button of starters) setEnabled(button, !isBusy);
  setEnabled(ui.stop, isBusy);
  setEnabled(ui.continue, !isBusy && output.text !== "");
  setEnabled(ui.copy, output.text !== "");
  output.showBusy(isBusy);
}

function showSummary({ timings, finishReason, seed, droppedTokens }: GenerateSummary): void {
  ui.speed.textContent = timings.decodedTokens > 0 ? formatRate(timings.decodedTokensPerSecond) : "–";
  ui.firstToken.textContent = formatMs(timings.firstTokenMs);
  const dropped = droppedTokens > 0 ? ` The first ${droppedTokens} tokens no longer fitted the context.` : "";
  say(`${finishSentences[finishReason]} Seed ${seed}.${dropped}`);
}

function showFailure(error: unknown, tokens: number): void {
  if (isAbort(error)) {
    say(
      tokens === 0
        ? "Stopped before the first token."
        : `Stopped after ${tokens} ${tokens === 1 ? "token" : "tokens"}.`,
    );
    return;
  }
  say("");
  if (error instanceof WorkerError) {
    forgetModel();
    const repair = { label: "Load the model again", run: () => void needModel() };
    showError(`The model has stopped working: ${messageOf(error)}. The text stays.`, repair);
    return;
  }
  showError(`The text could not be written: ${messageOf(error)}.`);
}

/** The old text stays until the new one begins. */
async function writeWith(prompt: string, options: GenerateOptions, signal: AbortSignal): Promise<void> {
  let tokens = 0;
  let firstAt = 0;
  let pending = "";
  let hasBegun = false;
  const begin = () => {
    if (hasBegun) return;
    hasBegun = true;
    output.begin(prompt);
    say("");
    ui.speed.textContent = ui.firstToken.textContent = "–";
    updateButtons();
  };
  const batch = new FrameBatch(() => {
    output.append(pending);
    pending = "";
    if (tokens > 1) ui.speed.textContent = formatRate(((tokens - 1) * 1000) / (performance.now() - firstAt));
  });
  try {
    say(hasModel() ? "" : "Writing begins as soon as the model is loaded.");
    const model = await unlessAborted(needModel(), signal);
    if (!model) return say("");
    const stream = model.generate(prompt, {
      ...options,
      signal,
      onSummary: (summary) => {
        begin();
        batch.flush();
        showSummary(summary);
      },
      onPrompt: ({ done, total }) => {
        begin();
        say(`Reading the prompt: ${done} of ${total} tokens`);
      },
    });
    for await (const token of stream) {
      begin();
      if (tokens === 0) {
        firstAt = performance.now();
        say("");
      }
      tokens += 1;
      pending += token.text;
      batch.request();
    }
  } catch (error) {
    batch.flush();
    showFailure(error, tokens);
  }
}

/** Writes on after `prompt`, loading the model first where there is none. */
export async function write(prompt: string): Promise<void> {
  if (controller) return say("Still writing: stop it first, with Esc or the Stop button.");
  const options = panel.read();
  if (!options) return;
  hideError(ui.generate);
  controller = new AbortController();
  updateButtons();
  await writeWith(prompt, options, controller.signal);
  controller = undefined;
  showModel();
  updateButtons();
}
