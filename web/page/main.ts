// The page: loads the demo model, and writes on from what the user types.
import { Gpt2Error, loadModel, type GenerateSummary, type Model, type Variant } from "../src/client/index.js";
import { makeControls } from "./controls.js";
import { elements as ui } from "./elements.js";
import { formatBytes, formatCount, formatMs, formatRate } from "./format.js";
import { ensureIsolation } from "./isolation.js";

const openings = ["Once upon a time", "Tom and his dog", "The sea was", "One day, a little girl named Lily"];
const finishSentences = {
  length: "Reached the number of tokens asked for.",
  eos: "The model ended the text.",
  stop: "Reached the stop text.",
};

// ?model=FOLDER shows another model; ?variant= and ?threads= force what is otherwise detected.
const query = new URLSearchParams(location.search);
const readOptions = makeControls(ui.controls);
let model: Model | undefined;
let loading: AbortController | undefined;
let generating: AbortController | undefined;

function showError(error: unknown, retry?: () => void): void {
  ui.errorText.textContent =
    error instanceof Gpt2Error || error instanceof Error ? error.message : String(error);
  ui.error.hidden = false;
  ui.errorRetry.hidden = retry === undefined;
  ui.errorRetry.onclick = retry ?? null;
}

function hideError(): void {
  ui.error.hidden = true;
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

function updateButtons(): void {
  const busy = generating !== undefined;
  ui.generate.disabled = !model || busy;
  ui.stop.disabled = !busy;
  ui.continue.disabled = !model || busy || ui.output.textContent === "";
  ui.copy.disabled = ui.output.textContent === "";
  ui.output.classList.toggle("busy", busy);
  ui.output.setAttribute("aria-busy", String(busy));
}

function showModel({ info }: Model): void {
  const cores = info.threads === 1 ? "1 thread" : `${info.threads} threads`;
  ui.engine.textContent = `${info.variant}, ${cores}`;
  ui.model.textContent = `${formatCount(info.parameters)} parameters, ${info.weights}`;
  ui.memory.textContent = formatBytes(info.memoryBytes);
  ui.notice.textContent = info.notice ?? "";
  ui.notice.hidden = info.notice === null;
}

async function load(): Promise<void> {
  hideError();
  loading = new AbortController();
  ui.loading.hidden = false;
  ui.loadingProgress.removeAttribute("value");
  try {
    const threads = query.get("threads");
    model = await loadModel(query.get("model") ?? "models/demo/", {
      signal: loading.signal,
      threads: threads === null ? undefined : Number(threads),
      variant: (query.get("variant") ?? undefined) as Variant | undefined, // checked by loadModel
      onProgress: ({ stage, loadedBytes, totalBytes }) => {
        ui.loadingStage.textContent = stage === "weights" ? "Loading the model" : "Starting the engine";
        if (totalBytes === 0) return;
        ui.loadingProgress.value = loadedBytes / totalBytes;
        ui.loadingBytes.textContent = `${formatBytes(loadedBytes)} of ${formatBytes(totalBytes)}`;
      },
    });
    showModel(model);
  } catch (error) {
    const shown = isAbort(error) ? new Error("Loading was cancelled.") : error;
    showError(shown, () => void load());
  } finally {
    loading = undefined;
    ui.loading.hidden = true;
    updateButtons();
  }
}

function showSummary(summary: GenerateSummary): void {
  const { timings } = summary;
  ui.speed.textContent = timings.decodedTokens > 0 ? formatRate(timings.decodedTokensPerSecond) : "–";
  ui.firstToken.textContent = formatMs(timings.firstTokenMs);
  const dropped =
    summary.droppedTokens > 0
      ? ` The first ${summary.droppedTokens} tokens no longer fitted the context.`
      : "";
  ui.finish.textContent = `${finishSentences[summary.finishReason]} Seed ${summary.seed}.${dropped}`;
}

async function generate(prompt: string): Promise<void> {
  if (!model || generating) return;
  hideError();
  generating = new AbortController();
  const start = document.createElement("span");
  start.className = "prompt";
  start.textContent = prompt;
  ui.output.replaceChildren(start);
  ui.finish.textContent = "";
  ui.speed.textContent = ui.firstToken.textContent = "–";
  updateButtons();
  let tokens = 0;
  let firstAt = 0;
  try {
    const stream = model.generate(prompt, {
      ...readOptions(),
      signal: generating.signal,
      onSummary: showSummary,
      onPrompt: ({ done, total }) =>
        (ui.finish.textContent = `Reading the prompt: ${done} of ${total} tokens`),
    });
    for await (const token of stream) {
      ui.output.append(token.text);
      tokens += 1;
      if (tokens === 1) {
        firstAt = performance.now();
        ui.finish.textContent = "";
      } else {
        ui.speed.textContent = formatRate(((tokens - 1) * 1000) / (performance.now() - firstAt));
      }
    }
  } catch (error) {
    if (isAbort(error)) ui.finish.textContent = `Stopped after ${tokens} tokens.`;
    else showError(error);
  } finally {
    generating = undefined;
    updateButtons();
  }
}

function addOpenings(): void {
  for (const text of openings) {
    const chip = document.createElement("button");
    chip.type = "button";
    chip.className = "plain";
    chip.textContent = `${text}…`;
    chip.onclick = () => {
      ui.prompt.value = text;
      void generate(text);
    };
    ui.openings.append(chip);
  }
}

ui.form.addEventListener("submit", (event) => {
  event.preventDefault();
  void generate(ui.prompt.value);
});
ui.stop.onclick = () => generating?.abort();
ui.loadingCancel.onclick = () => loading?.abort();
ui.continue.onclick = () => void generate(ui.output.textContent ?? "");
ui.copy.onclick = () => {
  navigator.clipboard
    .writeText(ui.output.textContent ?? "")
    .then(() => (ui.finish.textContent = "Copied."))
    .catch(showError);
};
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") generating?.abort();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void generate(ui.prompt.value);
});

addOpenings();
updateButtons();
if (!(await ensureIsolation())) await load();
