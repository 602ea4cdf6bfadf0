// One text at a time: from the press of a button to the last token, a stop or a failure.
import {
  WorkerError,
  type GenerateOptions,
  type GenerateSummary,
  type Model,
  type Token,
} from "../../src/client/index.js";
import { numberOptionNames } from "../../src/shared/number-options.js";
import { unlessAborted } from "../../src/shared/unless-aborted.js";
import { setEnabled } from "../dom/buttons.js";
import type { ChosenModel } from "../models/chosen-model.js";
import type { Editor } from "../document/editor.js";
import { currentEditor, keptText, needEditor } from "../document/surface.js";
import { elements as ui } from "../dom/elements.js";
import { formatMs } from "../language/format.js";
import { FrameBatch } from "../dom/frame-batch.js";
import { chosenModel, forgetModel, hasModel, needModel, showModel } from "../models/loading.js";
import { aloud } from "../state/aloud.js";
import { hideError, say, showError } from "../state/messages.js";
import { isAbort, messageOf } from "../state/errors.js";
import { options as panel } from "../parts/options/options.js";
import { showSpeed } from "../state/speed.js";
import { phrase } from "../language/start.js";
import { put } from "../language/told.js";

/** Where the model writes. */
export interface Place {
  from: number;
  /** What is there until here gives way to what it writes. */
  to: number;
}

/** Under way: what stops it, what tells that it has ended, and what draws the tokens that wait for a frame. */
interface Writing {
  controller: AbortController;
  ended: Promise<void>;
  batch?: FrameBatch;
}

/** What was written, and all it took. */
export interface WrittenText {
  model: ChosenModel;
  prompt: string;
  /** With the seed. */
  options: GenerateOptions;
  text: string;
  /** Without those that only write the end of the prompt again, as they are healed. */
  tokens: number;
  /** Whether it was neither stopped nor failed. */
  hasEnded: boolean;
}

let writing: Writing | undefined;
let last: WrittenText | undefined;

/** What was written last, if anything was. */
export const lastWritten = () => last;

/** Of what was written last before the page was loaded once more. */
let keptSeed: number | undefined;
export const lastSeed = () => last?.options.seed ?? keptSeed;
export const restoreSeed = (seed: number | undefined) => (keptSeed = seed);

export const isWriting = () => writing !== undefined;

const watching: (() => void)[] = [];

/** Calls `listener` whenever a text begins or ends. */
export function onWriting(listener: () => void): void {
  watching.push(listener);
}

/** What has come so far stays. Resolves when nothing more comes, and another text may begin. */
export async function stopWriting(): Promise<void> {
  writing?.batch?.flush();
  if (writing) aloud((speech) => speech.hush());
  writing?.controller.abort();
  await writing?.ended;
}

/** Whether one is written, which is then said to those who want another. */
function saysBusy(): boolean {
  if (writing) say(() => phrase("busy"));
  return writing !== undefined;
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
  setEnabled(ui.share, !isBusy && hasText);
  setEnabled(ui.undo, editor?.canUndo ?? false);
  setEnabled(ui.redo, editor?.canRedo ?? false);
  editor?.showBusy(isBusy);
  if (isBusy || hasText) return;
  say(); // what was said of a text holds no longer
  showSpeed(undefined);
}

function showSummary({ timings, finishReason, seed, droppedTokens }: GenerateSummary): void {
  showSpeed(timings.decodedTokens > 0 ? timings.decodedTokensPerSecond : undefined);
  put(ui.firstToken, () => formatMs(timings.firstTokenMs));
  say(() => {
    const said = [phrase(`finish.${finishReason}`), seedSaid(seed)];
    if (droppedTokens > 0) said.push(phrase("dropped", { count: droppedTokens }));
    return said.join(" ");
  });
}

const seedSaid = (seed: number | undefined) => phrase("seed", { seed: String(seed) });

/** Says what ended a text before it began; an error that is not the model's end is told by `tell`. */
export function showFailure(error: unknown, tell = (why: string) => phrase("notWritten", { why })): void {
  if (isAbort(error)) return say(() => phrase("stoppedAtOnce"));
  say();
  if (error instanceof WorkerError) {
    forgetModel();
    const repair = { label: () => phrase("loadModelAgain"), run: () => void needModel() };
    showError(() => phrase("died", { why: messageOf(error) }), repair);
    return;
  }
  showError(() => tell(messageOf(error)));
}

/** Whatever is there stays until the first token. */
async function writeWith(
  editor: Editor,
  { from, to }: Place,
  options: GenerateOptions,
  current: Writing,
): Promise<WrittenText | undefined> {
  const { signal } = current.controller;
  let prompt = "";
  const all: Token[] = [];
  let model: Model | undefined;
  let chosen = chosenModel();
  let hasEnded = false;
  let firstAt = 0;
  let pending: Token[] = [];
  const batch = (current.batch = new FrameBatch(() => {
    if (!editor.append(pending)) current.controller.abort(); // the visitor has gone back behind it
    const text = pending.map((token) => token.text).join("");
    aloud((speech) => speech.add(text));
    pending = [];
    if (all.length > 1) showSpeed(((all.length - 1) * 1000) / (performance.now() - firstAt));
  }));
  editor.open(from, to);
  try {
    say(() => (hasModel() ? "" : phrase("awaitsModel")));
    model = await unlessAborted(needModel(), signal);
    if (!model) {
      say();
      return undefined;
    }
    chosen = chosenModel();
    prompt = editor.textBefore(editor.run?.from ?? from); // one types on while the model loads
    const stream = model.generate(prompt, {
      heal: model.info.hasTokenizer, // in the middle of a word, that word
      ...options,
      signal,
      onSummary: (summary) => {
        batch.flush();
        aloud((speech) => speech.finish());
        showSummary(summary);
      },
      onPrompt: ({ done, total }) => say(() => phrase("reading", { done, total })),
    });
    for await (const token of stream) {
      if (all.length === 0) {
        firstAt = performance.now();
        showSpeed(undefined);
        say();
      }
      all.push(token);
      pending.push(token);
      batch.request();
    }
    hasEnded = true;
  } catch (error) {
    batch.flush();
    aloud((speech) => (isAbort(error) ? speech.hush() : speech.finish()));
    const isStopped = isAbort(error) && all.length > 0;
    if (isStopped) say(() => `${phrase("stopped", { count: all.length })} ${seedSaid(options.seed)}`);
    else showFailure(error);
  } finally {
    editor.end();
  }
  const text = all.map((token) => token.text).join("");
  if (!model || text === "") return undefined;
  const healing = all.filter(({ healed }) => healed === "all").length;
  // Those of a text that was stopped have one each, but for the last, which waited for the next.
  const counted = hasEnded ? all.length : all.map((token) => token.text !== "").lastIndexOf(true) + 1;
  return { model: chosen, prompt, options, text, tokens: counted - healing, hasEnded };
}

/** The editor; undefined where it could not be fetched, which the page then says. */
export async function editorOrFailure(): Promise<Editor | undefined> {
  try {
    return await needEditor();
  } catch (error) {
    const repair = { label: () => phrase("loadPageAgain"), run: () => location.reload() };
    showError(() => phrase("noEditor", { why: messageOf(error) }), repair);
    return undefined;
  }
}

/** One that can be told, and asked for again. */
const anySeed = () => crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;

/**
 * Writes at `placeIn` of the editor, loading the model first where there is none; with `given` options in place of
 * those that are set. Gives what was written, if anything was.
 */
export async function write(
  placeIn: (editor: Editor) => Place,
  given?: GenerateOptions,
): Promise<WrittenText | undefined> {
  if (saysBusy()) return undefined;
  const options = given ?? panel.read();
  if (!options) return undefined;
  hideError(ui.generate);
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const current: Writing = (writing = { controller: new AbortController(), ended });
  updateButtons();
  for (const tell of watching) tell();
  try {
    const editor = await editorOrFailure();
    const seeded = { ...options, seed: options.seed ?? anySeed() };
    const written = editor && (await writeWith(editor, placeIn(editor), seeded, current));
    last = written ?? last;
    return written;
  } finally {
    writing = undefined;
    showModel();
    updateButtons();
    end();
    for (const tell of watching) tell();
  }
}

/** What is set of how tokens are chosen, for those who ask beside the writing; undefined while it goes on, or where it is refused. */
export function sampling(): GenerateOptions | undefined {
  if (saysBusy()) return undefined;
  const options = panel.read();
  if (!options) return undefined;
  const names = numberOptionNames.filter((name) => name !== "maxNewTokens" && options[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, options[name]]));
}

/** Where the caret is. */
export const atCaret = ({ caret }: Editor): Place => ({ from: caret, to: caret });

export const atEnd = ({ length }: Editor): Place => ({ from: length, to: length });

/** In the place of what was written last. */
export const again = ({ run, caret }: Editor): Place => run ?? { from: caret, to: caret };
