// One text at a time: from the press of a button to the last token, a stop or a failure.
import { WorkerError, type GenerateOptions, type GenerateSummary, type Token } from "../src/client/index.js";
import { unlessAborted } from "../src/shared/unless-aborted.js";
import { setEnabled } from "./buttons.js";
import type { Editor } from "./editor/editor.js";
import { currentEditor, keptText, needEditor } from "./editor/surface.js";
import { elements as ui } from "./elements.js";
import { formatMs, formatRate } from "./format.js";
import { FrameBatch } from "./frame-batch.js";
import { forgetModel, hasModel, needModel, showModel } from "./loading.js";
import { hideError, isAbort, messageOf, say, showError } from "./messages.js";
import { options as panel } from "./options.js";
import { finishSpeech, speak } from "./speech.js";

const finishSentences = {
  length: "Reached the number of tokens asked for.",
  eos: "The model ended the text.",
  stop: "Reached the stop text.",
};

/** Where the model writes. */
export interface Place {
  from: number;
  /** What is there until here gives way to what it writes. */
  to: number;
}

/** Under way: what stops it, and what draws the tokens that wait for a frame. */
interface Writing {
  controller: AbortController;
  batch?: FrameBatch;
}

let writing: Writing | undefined;

export const isWriting = () => writing !== undefined;

/** What has come so far stays. */
export function stopWriting(): void {
  writing?.batch?.flush();
  writing?.controller.abort();
}

export function updateButtons(): void {
  const editor = currentEditor();
  const isBusy = writing !== undefined;
  const run = editor?.run;
  const hasText = editor ? editor.length > 0 : keptText().text !== "";
  const starters = [ui.generate, ...ui.openings.querySelectorAll("button")];
  for (const button of starters) setEnabled(button, !isBusy);
  setEnabled(ui.stop, isBusy);
  setEnabled(ui.continue, !isBusy && hasText);
  setEnabled(ui.regenerate, !isBusy && run != null && run.from < run.to);
  setEnabled(ui.copy, hasText);
  setEnabled(ui.undo, editor?.canUndo ?? false);
  setEnabled(ui.redo, editor?.canRedo ?? false);
  editor?.showBusy(isBusy);
}

function showSummary({ timings, finishReason, seed, droppedTokens }: GenerateSummary): void {
  ui.speed.textContent = timings.decodedTokens > 0 ? formatRate(timings.decodedTokensPerSecond) : "";
  ui.firstToken.textContent = formatMs(timings.firstTokenMs);
  const dropped = droppedTokens > 0 ? ` The first ${droppedTokens} tokens no longer fitted the context.` : "";
  say(`${finishSentences[finishReason]} Seed ${seed}.${dropped}`);
}

/** Says what ended a text after `tokens`. */
export function showFailure(error: unknown, tokens: number): void {
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

/** Whatever is there stays until the first token. */
async function writeWith(
  editor: Editor,
  { from, to }: Place,
  options: GenerateOptions,
  current: Writing,
): Promise<void> {
  const { signal } = current.controller;
  let tokens = 0;
  let firstAt = 0;
  let pending: Token[] = [];
  const batch = (current.batch = new FrameBatch(() => {
    if (!editor.append(pending)) current.controller.abort(); // the visitor has gone back behind it
    speak(pending.map(({ text }) => text).join(""));
    pending = [];
    if (tokens > 1) ui.speed.textContent = formatRate(((tokens - 1) * 1000) / (performance.now() - firstAt));
  }));
  editor.open(from, to);
  try {
    say(hasModel() ? "" : "Writing begins as soon as the model is loaded.");
    const model = await unlessAborted(needModel(), signal);
    if (!model) return say("");
    const stream = model.generate(editor.textBefore(from), {
      ...options,
      signal,
      onSummary: (summary) => {
        batch.flush();
        showSummary(summary);
      },
      onPrompt: ({ done, total }) => say(`Reading the text: ${done} of ${total} tokens`),
    });
    for await (const token of stream) {
      if (tokens === 0) {
        firstAt = performance.now();
        ui.speed.textContent = "";
        say("");
      }
      tokens += 1;
      pending.push(token);
      batch.request();
    }
  } catch (error) {
    batch.flush();
    showFailure(error, tokens);
  } finally {
    editor.end();
    finishSpeech();
  }
}

async function editorOrFailure(): Promise<Editor | undefined> {
  try {
    return await needEditor();
  } catch (error) {
    const repair = { label: "Load the page again", run: () => location.reload() };
    showError(`The editor could not be loaded: ${messageOf(error)}. The text stays.`, repair);
    return undefined;
  }
}

/** Writes at `placeIn` of the editor, loading the model first where there is none. */
export async function write(placeIn: (editor: Editor) => Place): Promise<void> {
  if (writing) return say("Still writing: stop it first, with Esc or the Stop button.");
  const options = panel.read();
  if (!options) return;
  hideError(ui.generate);
  const current: Writing = (writing = { controller: new AbortController() });
  updateButtons();
  const editor = await editorOrFailure();
  if (editor) await writeWith(editor, placeIn(editor), options, current);
  writing = undefined;
  showModel();
  updateButtons();
}

/** What is set of how tokens are chosen, for those who ask beside the writing; undefined while it goes on, or where it is refused. */
export function sampling(): GenerateOptions | undefined {
  if (writing) {
    say("Still writing: stop it first, with Esc or the Stop button.");
    return undefined;
  }
  const options = panel.read();
  if (!options) return undefined;
  const { temperature, topK, topP, minP, repetitionPenalty, seed } = options;
  const wanted = Object.entries({ temperature, topK, topP, minP, repetitionPenalty, seed });
  return Object.fromEntries(wanted.filter(([, value]) => value !== undefined));
}

/** Where the caret is. */
export const atCaret = ({ caret }: Editor): Place => ({ from: caret, to: caret });

export const atEnd = ({ length }: Editor): Place => ({ from: length, to: length });

/** In the place of what was written last. */
export const again = ({ run, caret }: Editor): Place => run ?? { from: caret, to: caret };
