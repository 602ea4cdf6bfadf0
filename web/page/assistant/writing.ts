// Writes one text at a time: from the press of a button to the last token, a stop or a failure.
import {
  WorkerError,
  type Change,
  type GenerateCall,
  type GenerateOptions,
  type GenerateSummary,
  type Model,
  type Token,
} from "../../src/client/index.js";
import { unlessAborted } from "../../src/shared/unless-aborted.js";
import type { Editor } from "../document/editor.js";
import type { Surface } from "../document/surface.js";
import { FrameBatch } from "../dom/frame-batch.js";
import { formatLeft } from "../language/format.js";
import { phrase } from "../language/start.js";
import { isAbort } from "../state/errors.js";
import type { ContextFields } from "../state/context-fields.js";
import type { ChosenModel, PageState } from "../state/page-state.js";
import { withSpecialTokens } from "./special-tokens.js";

/** Where the model writes. */
export interface WritePlace {
  from: number;
  /** The model's text replaces everything up to here. */
  to: number;
  /** Whether it is one undo step with the paragraph that was just begun there. */
  joins?: boolean;
}

/** What was written, and everything needed to repeat it. */
export interface WrittenText {
  model: ChosenModel;
  prompt: string;
  /** The fields that the model read besides the text. */
  fields: ContextFields | undefined;
  /** Including the seed. */
  options: GenerateOptions;
  /** The parts of the model that were switched off. */
  change: readonly Change[];
  text: string;
  /** Not counting those that only heal the prompt. */
  tokens: number;
  /** Whether it ended by itself, without a stop or a failure. */
  hasEnded: boolean;
}

/** What writing needs from the page. */
export interface WritingSetting {
  state: PageState;
  surface: Surface;
  /** Returns the model, which is loaded first if necessary. */
  needModel: () => Promise<Model | undefined>;
  /** Called when the model's worker has died. */
  forgetModel: () => void;
  /** The current options; undefined if a value is refused, which the page then explains. */
  readOptions: () => GenerateOptions | undefined;
  /** `add` announces new text, `finish` the rest at the end; `hush` drops what is not announced yet. */
  voice: { add: (text: string) => void; finish: () => void; hush: () => void };
}

/** The current run. */
interface Current {
  controller: AbortController;
  /** Draws the tokens that wait for the next frame. */
  flush: () => void;
}

/** How a run ended, in words; `count` is the number of its tokens. */
const summaryOf =
  ({ finishReason, droppedTokens }: GenerateSummary, count: number) =>
  (): string => {
    const said = [phrase(`finish.${finishReason}`, { count })];
    if (droppedTokens > 0) said.push(phrase("dropped", { count: droppedTokens }));
    return said.join(" ");
  };

/** Small enough to show and enter again. */
const anySeed = () => crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;

export class Writing {
  private readonly setting: WritingSetting;
  private last: WrittenText | undefined;
  /** The seed of the last run before the page was reloaded. */
  private keptSeed: number | undefined;

  /** Continues a text. The code that comes with the editor also passes the fields to the model. */
  continueText = (model: Model, text: string, call: GenerateCall): AsyncIterable<Token> =>
    model.generate(text, call);

  /** Called when the model ends the text at once, before it writes anything at `place`. */
  onNothingWritten: (place: WritePlace) => void = () => {};

  constructor(setting: WritingSetting) {
    this.setting = setting;
  }

  /** The last run, if any. */
  get lastWritten(): WrittenText | undefined {
    return this.last;
  }

  get lastSeed(): number | undefined {
    return this.last?.options.seed ?? this.keptSeed;
  }

  /** Another text is shown: `seed` wrote its last run; undefined if there is none or it is unknown. */
  restoreSeed(seed: number | undefined): void {
    this.last = undefined;
    this.keptSeed = seed;
  }

  /** Stops the model and keeps the text so far. Resolves when the run has ended and another may begin. */
  readonly stop = async (): Promise<void> => {
    const activity = this.setting.state.activity.peek();
    if (activity.kind === "writing") await activity.stop();
  };

  /** Whether a run is active; if so, tells the visitor to stop it first. */
  private saysBusy(): boolean {
    const { state } = this.setting;
    const isBusy = state.activity.peek().kind === "writing";
    if (isBusy) state.say(() => phrase("busy"));
    return isBusy;
  }

  /** What writing waits for, and how long; "" if the model is loaded. */
  private waitSentence(): string {
    const { loaded, coming } = this.setting.state;
    if (loaded.value) return "";
    const seconds = coming.value.latest?.secondsLeft;
    return seconds ? phrase("awaitsModelFor", { time: formatLeft(seconds) }) : phrase("awaitsModel");
  }

  /** `bytesPerToken`: bytes of weights that the model reads for each token. */
  private showTimings({ timings }: GenerateSummary, bytesPerToken: number): void {
    const { state } = this.setting;
    const rate = timings.decodedTokens > 0 ? timings.decodedTokensPerSecond : undefined;
    state.tokensPerSecond.value = rate;
    if (rate) state.weightsPerSecond.value = rate * bytesPerToken;
    state.firstTokenMs.value = timings.firstTokenMs;
  }

  /** Reports why a run ended before it began. Errors that do not end the model are passed to `tell`. */
  showFailure(error: unknown, tell = (why: string) => phrase("notWritten", { why })): void {
    const { state, needModel, forgetModel } = this.setting;
    if (isAbort(error)) return state.say(() => phrase("stopped", { count: 0 }));
    state.say();
    if (error instanceof WorkerError) {
      forgetModel();
      const repair = { label: () => phrase("loadModelAgain"), run: () => void needModel() };
      state.showError((why) => phrase("died", { why }), error, repair);
      return;
    }
    state.showError(tell, error);
  }

  /** The existing text stays until the first token. */
  private async writeWith(
    editor: Editor,
    { from, to, joins }: WritePlace,
    options: GenerateOptions,
    current: Current,
  ): Promise<WrittenText | undefined> {
    const { state, needModel, voice } = this.setting;
    const { signal } = current.controller;
    let prompt = "";
    const all: Token[] = [];
    let model: Model | undefined;
    let chosen = state.chosen.peek();
    let fields: ContextFields | undefined;
    let change: readonly Change[] = [];
    let hasEnded = false;
    let isEnd = false as boolean;
    /** Said after the last change of the text, because it describes the text. */
    let said: (() => string) | undefined;
    let firstAt = 0;
    let pending: Token[] = [];
    const batch = new FrameBatch(() => {
      if (!editor.append(pending)) current.controller.abort(); // the visitor has undone the run
      voice.add(pending.map(({ text }) => text).join(""));
      pending = [];
      if (all.length > 1)
        state.tokensPerSecond.value = ((all.length - 1) * 1000) / (performance.now() - firstAt);
    });
    current.flush = () => batch.flush();
    if (from < to) voice.hush(); // the replaced text is no longer read aloud
    editor.open(from, to, joins);
    try {
      model = await unlessAborted(needModel(), signal);
      if (!model) {
        state.say();
        return undefined;
      }
      chosen = state.chosen.peek();
      change = state.change.peek(); // another model has ended those of the last one
      prompt = editor.textBefore(editor.run?.from ?? from); // the visitor may type while the model loads
      const { hasTokenizer, weightBytes } = model.info;
      const call: GenerateCall = {
        ...withSpecialTokens,
        heal: hasTokenizer, // completes the word if the caret is in one
        ...options,
        change,
        signal,
        onSummary: (summary) => {
          batch.flush();
          voice.finish();
          this.showTimings(summary, weightBytes / (options.n ?? 1));
          isEnd = summary.finishReason === "eos" && all.every((token) => token.text === "");
          said = summaryOf(summary, all.filter(({ healed }) => healed !== "all").length);
        },
        onPrompt: ({ done, total }) => state.say(() => phrase("reading", { done, total })),
      };
      fields = state.fields.peek();
      const stream = this.continueText(model, prompt, call);
      for await (const token of stream) {
        if (all.length === 0) {
          firstAt = performance.now();
          state.tokensPerSecond.value = undefined;
          state.say();
        }
        all.push(token);
        pending.push(token);
        batch.request();
      }
      hasEnded = true;
    } catch (error) {
      batch.flush();
      if (isAbort(error)) voice.hush();
      else voice.finish();
      if (isAbort(error) && all.length > 0) said = () => phrase("stopped", { count: all.length });
      else this.showFailure(error);
    } finally {
      editor.end();
      if (said) state.sayOfText(said);
      if (isEnd) this.onNothingWritten({ from, to });
    }
    const text = all.map((token) => token.text).join("");
    if (!model || text === "") return undefined;
    const healing = all.filter(({ healed }) => healed === "all").length;
    // Tokens of a stopped text are counted up to the last one with text: the tokens after it waited for the rest of a
    // character.
    const counted = hasEnded ? all.length : all.map((token) => token.text !== "").lastIndexOf(true) + 1;
    return { model: chosen, prompt, fields, options, change, text, tokens: counted - healing, hasEnded };
  }

  /** The editor; undefined if it cannot be fetched, which the page then reports. */
  async editorOrFailure(): Promise<Editor | undefined> {
    try {
      return await this.setting.surface.need();
    } catch (error) {
      const repair = { label: () => phrase("loadPageAgain"), run: () => location.reload() };
      this.setting.state.showError((why) => phrase("noEditor", { why }), error, repair);
      return undefined;
    }
  }

  /**
   * Writes at `placeIn` of the editor; loads the model first if necessary. `given` options replace those that are set.
   * Returns what was written, if anything was.
   */
  async write(
    placeIn: (editor: Editor) => WritePlace,
    given?: GenerateOptions,
  ): Promise<WrittenText | undefined> {
    const { state, readOptions, voice } = this.setting;
    if (this.saysBusy()) return undefined;
    state.hideError();
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const current: Current = { controller: new AbortController(), flush: () => {} };
    const stop = async () => {
      current.flush();
      voice.hush();
      current.controller.abort();
      await ended;
    };
    state.activity.value = { kind: "writing", stop };
    state.say(() => this.waitSentence());
    try {
      const editor = await this.editorOrFailure(); // the options are fetched with it
      const options = editor && (given ?? readOptions());
      if (!options) {
        state.say();
        return undefined;
      }
      const seeded = { ...options, seed: options.seed ?? anySeed() };
      const written = await this.writeWith(editor, placeIn(editor), seeded, current);
      this.last = written ?? this.last;
      return written;
    } finally {
      state.activity.value = { kind: "idle" };
      end();
    }
  }

  /** The options for a request beside the writing; undefined if the model writes, or a value is refused. */
  readonly optionsBeside = (): GenerateOptions | undefined =>
    this.saysBusy() ? undefined : this.setting.readOptions();
}

/** At the caret. */
export const atCaret = ({ caret }: Editor): WritePlace => ({ from: caret, to: caret });

export const atEnd = ({ length }: Editor): WritePlace => ({ from: length, to: length });

/** In place of the last run. */
export const overLastRun = ({ run, caret }: Editor): WritePlace => run ?? { from: caret, to: caret };
